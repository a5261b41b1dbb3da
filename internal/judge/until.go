package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Settled counts the differences from the baseline by the primary metric. Settled ones are
// significant, or proven to be smaller than effect (0.02 for 2 %). Void comparisons do not count.
func Settled(d evidence.Evidence, comparisons []tare.Comparison, findings []tare.Finding, effect float64) (settled, open int) {
	j := &judge{evidence: d.Indexed(), comparisons: comparisons, findings: findings}
	for _, c := range comparisons {
		if c.Metric != d.Primary() || c.Contender == c.Against || c.Contender == tare.ControlID {
			continue
		}
		contender, _ := d.Contender(c.Contender)
		if contender.Role != tare.RoleContender && contender.Role != tare.RoleApart {
			continue
		}
		if _, isVoid := j.findRatioVoid(c.Contender, c.Workload, c.Metric); isVoid {
			continue
		}
		isSignificant := c.Differs(tare.NoiseFloor(comparisons, c.Workload, c.Metric)) == tare.Significant
		if isSignificant || c.Below(effect) {
			settled++
		} else {
			open++
		}
	}
	return settled, open
}
