package judge

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// Leading returns the contender with the lowest ratio to the baseline so far. It uses the primary
// metric, on the first workload with ratios. It is for progress messages and no verdict. ok is false
// if no contender has a ratio yet.
func Leading(d evidence.Evidence) (lead tare.Comparison, ok bool) {
	x := d.Index()
	for _, w := range d.Study.Workloads {
		for _, id := range d.Having(tare.RoleContender) {
			e := computeEffects(x, d, w.ID, d.Primary(), id, d.Study.Baseline)
			if len(e.Effects) == 0 {
				continue
			}
			ratio := math.Exp(stats.HodgesLehmann(e.Effects))
			if !ok || ratio < lead.Ratio {
				lead, ok = tare.Comparison{Workload: w.ID, Contender: id, Metric: d.Primary(), Against: d.Study.Baseline, Ratio: ratio, Rounds: len(e.Effects)}, true
			}
		}
		if ok {
			return lead, true
		}
	}
	return lead, false
}

// Trailing returns the ids of contenders that are proven worse than at least leaders others, on
// each workload that they were measured on. Their best possible rank is above leaders.
func Trailing(d evidence.Evidence, comparisons []tare.Comparison, leaders int) []string {
	var out []string
	for _, id := range d.Having(tare.RoleContender) {
		comparisonCount, trailsAll := 0, true
		for _, c := range comparisons {
			if c.Contender == id && c.Metric == d.Primary() && c.Against == d.Study.Baseline {
				comparisonCount++
				trailsAll = trailsAll && c.RankLow > leaders
			}
		}
		if comparisonCount > 0 && trailsAll {
			out = append(out, id)
		}
	}
	return out
}
