package gate

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// judgeExactCounts decides rows without an interval ([stats.CompareCounts]): those of allocations
// if allocs is set, and all counts without a ratio because a side is zero. Counts that overlap are
// left to the margin.
func judgeExactCounts(family []member, allocs bool) {
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
