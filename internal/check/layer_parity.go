package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// This check finds contenders that have other layers, such as logging middleware, than the
// baseline. For example, a server with a logger is compared with one without.

const maxLayerCalls = 0.01 // tolerated difference, in calls of middleware per request

func layerParity() Check {
	return Check{
		ID:       "layer-parity",
		Severity: tare.Warn,
		Summary: "The layers around an operation should be the same: middleware, interceptors. The layers that a contender declares are compared with those of the baseline, and if servers count the calls of their layers, so are the calls per request. " +
			"The check warns if the names differ, or if the calls differ by more than 0.01 " + byRounds + ". It skips servers that were not built for the study, because they declare nothing. " + exceptApart,
		Why: "A REST server with a logger and a recovery was compared with a gRPC server that had no interceptors, and \"the difference is purely the transport layer\". " +
			"Each layer is work that one side had to do and the other had not.",
		Advice: "give every contender the same layers, or compare each framework without any",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			base, ok := in.Contender(in.Study.Baseline)
			for _, c := range in.comparableContenders() {
				areDeclared := ok && isBuiltInRun(c) && isBuiltInRun(base)
				if c.ID == in.Study.Baseline || !areDeclared {
					continue
				}
				if difference := describeLayers(c.Layers, base.Layers); difference != "" {
					out = append(out, tare.Finding{Contender: c.ID, Message: fmt.Sprintf("against %s it %s", base.ID, difference)})
				}
			}
			if !in.Final {
				return out
			}
			return append(out, in.findAgainstBaseline(in.Study.Workloads, readKey(tare.KeyLayers), func(_ tare.Contender, _ tare.Workload, e, base extent) string {
				if !e.isOutside(base, maxLayerCalls) {
					return ""
				}
				return fmt.Sprintf("%.3g layers are called for a request, and %.3g in %s", e.mid, base.mid, in.Study.Baseline)
			})...)
		},
	}
}

// isBuiltInRun reports whether tare built c. Only then are the declared layers known.
func isBuiltInRun(c tare.Contender) bool { return c.Launch == "" || c.Launch == tare.LaunchProgram }

// describeLayers returns e.g. "has log and lacks recover", or "" if both have the same layers.
func describeLayers(layers, base []string) string {
	var predicates []string
	for _, side := range []struct {
		verb     string
		has, not []string
	}{
		{verb: "has", has: layers, not: base},
		{verb: "lacks", has: base, not: layers},
	} {
		var only []string
		for _, l := range side.has {
			if !slices.Contains(side.not, l) && !slices.Contains(only, l) {
				only = append(only, l)
			}
		}
		if len(only) > 0 {
			slices.Sort(only)
			predicates = append(predicates, side.verb+" "+strings.Join(only, ", "))
		}
	}
	return strings.Join(predicates, " and ")
}
