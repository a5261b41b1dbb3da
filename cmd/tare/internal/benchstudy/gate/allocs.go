package gate

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// judgeExactCounts decides rows of counts by [stats.CompareCounts], without an interval: the rows of
// allocations if allocs is set, and the rows that have no ratios because the count of a side is zero. It
// leaves a row undecided if the counts of both sides overlap; then the row is compared with the margin.
// family contains a member, a row of the report and its question, for each benchmark and metric.
func judgeExactCounts(family []member, allocs bool) {
	for _, m := range family {
		r := m.row
		metric, _ := tare.MetricNamed(r.Metric)
		isExact := metric.Name == "allocs" && allocs
		hasNoRatio := metric.IsCount() && len(m.Effects) == 0
		isDecided := r.Outcome != "" || r.why != ""
		hasLimit := m.Median // the head's value is compared with a limit, not with base
		if !isExact && !hasNoRatio || hasLimit || isDecided {
			continue
		}
		base, head := m.index.PerRound(metric, r.workload, BaseID), m.index.PerRound(metric, r.workload, HeadID)
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
