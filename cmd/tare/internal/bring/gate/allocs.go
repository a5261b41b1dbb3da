package gate

import (
	"slices"

	"github.com/tarebench/tare"
)

const (
	// half an allocation is where one more begins: figures may carry a share of
	// what was allocated before the loop.
	half = 0.5
	// fewest rounds after which figures that vary can be found different by not
	// overlapping: by chance that happens once in 924 at six.
	fewestApart = 6
)

// exactly rules on allocations without an interval, where the evidence allows
// it: each side does the same in every round, or every round of one side lies
// above every round of the other. What overlaps is left to the margin.
func exactly(family []member) {
	metric, _ := tare.MetricNamed("allocs")
	for _, m := range family {
		r := m.row
		if r.Metric != metric.Name || r.Outcome != "" {
			continue
		}
		base, head := samples(r.result, r.workload, BaseID, metric), samples(r.result, r.workload, HeadID, metric)
		if len(base) == 0 || len(head) == 0 {
			continue
		}
		r.Rounds = max(r.Rounds, min(len(base), len(head)))
		least, most := slices.Min(head)-slices.Max(base), slices.Max(head)-slices.Min(base)
		same := slices.Max(base)-slices.Min(base) < half && slices.Max(head)-slices.Min(head) < half
		if !same && min(len(base), len(head)) < fewestApart {
			continue
		}
		switch {
		case least >= half:
			r.Outcome = Worse
		case most <= -half:
			r.Outcome = Better
		case most < half:
			r.Outcome = NoWorse
		}
		r.Exact = r.Outcome != "" && same
	}
}
