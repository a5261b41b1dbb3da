package evidence

import (
	"maps"
	"slices"

	"github.com/tarebench/tare"
)

// Kept returns the evidence of a saved result, for the questions of a study that may have changed
// since: its claims, decompositions and break-evens. The measurements are the result's. A result
// has no slices; one slice represents those of each contender, workload and round.
func Kept(s tare.Study, r *tare.Result) Evidence {
	s.Workloads, s.Metrics, s.Baseline = r.Workloads, r.Metrics, r.Baseline()
	e := Evidence{
		Study: s, Plan: r.Plan, Contenders: r.Contenders, Rounds: r.RoundsDone,
		Trials: r.Trials, Semantics: r.Semantics, Final: true,
	}
	for _, t := range r.Trials {
		if t.Tau > 1 {
			continue
		}
		for _, workload := range slices.Sorted(maps.Keys(t.Samples)) {
			if s, ok := sliceOf(t, workload); ok {
				e.Slices = append(e.Slices, s)
			}
		}
	}
	// The answers before timing come first; samples of the rounds follow them.
	type asked struct {
		contender, workload string
		probe               bool
	}
	seen := map[asked]bool{}
	for _, c := range r.Conformance {
		if of := (asked{c.Contender, c.Workload, c.Probe}); !seen[of] {
			seen[of] = true
			e.Conformance = append(e.Conformance, c)
		}
	}
	return e.Indexed()
}

// sliceOf returns one slice with all that a trial did on a workload. It returns false if
// the trial timed nothing there.
func sliceOf(t tare.Trial, workload string) (tare.Slice, bool) {
	took := func(name string) float64 {
		m, _ := tare.MetricNamed(name)
		return t.Samples[workload][m.Key] * t.Samples[workload][tare.KeyOps]
	}
	s := tare.Slice{
		Round: t.Round, Tau: t.Tau, Contender: t.Contender, Workload: workload,
		Ops: int64(t.Samples[workload][tare.KeyOps]), WallNS: int64(took("time")), CPUNS: int64(took("cpu")),
	}
	return s, s.Ops > 0 && s.WallNS > 0
}
