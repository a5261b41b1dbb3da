package gate

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// judgeExactCounts decides rows of counts without an interval. These are rows in which a side
// counted zero and, if allocs is set, rows of allocations. Rows whose counts overlap remain
// undecided and are compared with the margin later.
func judgeExactCounts(family []member, allocs bool) {
	outcomes := map[int]Outcome{1: Worse, 0: NoWorse, -1: Better} // by the sign of the difference
	for _, m := range family {
		r := m.row
		metric, _ := tare.MetricNamed(r.Metric)
		isExact := metric.Name == "allocs" && allocs
		hasNoRatio := metric.IsCount() && len(m.Effects) == 0
		isDecided := r.Outcome != "" || r.why != ""
		needsNoInterval := isExact || hasNoRatio
		if !needsNoInterval || isDecided || m.hasLimit() {
			continue
		}
		base, head := m.index.PerRound(metric, r.workload, BaseID), m.index.PerRound(metric, r.workload, HeadID)
		sign, exact, ok := stats.CompareCounts(base, head)
		r.Rounds = max(r.Rounds, min(len(base), len(head)))
		if !ok {
			continue
		}
		r.Exact, r.Outcome = exact, outcomes[sign]
	}
}
