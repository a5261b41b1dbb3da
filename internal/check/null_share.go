package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

// minNotedShare is the share of the harness from which there is a note.
const minNotedShare = 0.05

func nullShare() Check {
	return Check{
		ID:       "null-share",
		Severity: tare.Note,
		Summary: "The share of the harness in what is reported, in time and in bytes per operation: the null contender's median over that of the contender it weighs on most. " +
			"Noted from 5 %. The time of servers is left to generator-headroom.",
		Why: "A router benchmark's recorder allocated about 1 kB per request, which was nearly all of the memory reported for every router: " +
			"the ratios said that they hardly differ. Whatever the harness adds pulls every ratio towards 1.",
		Advice: "read ratios on this workload as lower bounds of the difference, or give it more work per operation",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				for _, metric := range []string{"time", "bytes"} {
					if metric == "time" && w.Traffic != nil {
						continue // generator-headroom's
					}
					if f, ok := findNullShare(in, w.ID, metric); ok {
						out = append(out, f)
					}
				}
			}
			return out
		},
	}
}

// findNullShare returns a note about the contender of whose value the harness has the largest share:
// the one with the smallest value. It returns false if the share is too small.
func findNullShare(in Input, workload, metric string) (finding tare.Finding, ok bool) {
	null, cheapest := tare.Value{}, tare.Value{}
	for _, v := range in.Values {
		if v.Workload != workload || v.Metric != metric {
			continue
		}
		switch in.roleOf(v.Contender) {
		case tare.RoleNull:
			null = v
		case tare.RoleBaseline, tare.RoleContender:
			isCheapest := cheapest.Contender == "" || v.Value < cheapest.Value
			if !v.Struck && v.Value > 0 && isCheapest {
				cheapest = v
			}
		}
	}
	areKnown := null.Contender != "" && cheapest.Contender != ""
	if !areKnown || null.Value < minNotedShare*cheapest.Value {
		return tare.Finding{}, false
	}
	return tare.Finding{
		Workload: workload,
		Message: fmt.Sprintf("the harness itself takes %s of the %s %s of %s (%.0f %%)",
			formatNumber(null.Value), formatNumber(cheapest.Value), cheapest.Unit, cheapest.Contender, 100*null.Value/cheapest.Value),
	}, true
}
