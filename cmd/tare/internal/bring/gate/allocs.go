package gate

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// exactly rules on counts without an interval, where the evidence allows it
// ([stats.CompareCounts]): on allocations if allocs is set, and on all that have no ratio
// because a side is zero. What overlaps is left to the margin.
func exactly(family []member, allocs bool) {
	for _, m := range family {
		r := m.row
		metric, _ := tare.MetricNamed(r.Metric)
		counts := metric.Name == "allocs" && allocs || metric.IsCount() && len(m.Effects) == 0
		if !counts || m.Median || r.Outcome != "" || r.why != "" {
			continue
		}
		base, head := m.own.PerRound(metric, r.workload, BaseID), m.own.PerRound(metric, r.workload, HeadID)
		sign, exact, ok := stats.CompareCounts(base, head)
		r.Rounds = max(r.Rounds, min(len(base), len(head)))
		if !ok {
			continue
		}
		r.Exact = exact
		switch sign {
		case 1:
			r.Outcome = Worse
		case -1:
			r.Outcome = Better
		default:
			r.Outcome = NoWorse
		}
	}
}
