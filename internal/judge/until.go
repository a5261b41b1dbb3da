package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Settled counts the differences on the primary metric that are found or smaller
// than effect, and those that are neither. What is void does not count.
func Settled(d evidence.Evidence, comparisons []tare.Comparison, findings []tare.Finding, effect float64) (settled, open int) {
	b := &rulingData{d: d.Indexed(), comparisons: comparisons, findings: findings}
	for _, c := range comparisons {
		if c.Metric != d.Primary() || c.Contender == c.Against || c.Contender == tare.ControlID {
			continue
		}
		if who, ok := d.Contender(c.Contender); !ok || who.Role != tare.RoleContender && who.Role != tare.RoleApart {
			continue
		}
		if _, void := b.findVoid(c.Contender, c.Workload, c.Metric, true); void {
			continue
		}
		if c.Differs(tare.NoiseFloor(comparisons, c.Workload, c.Metric)) != tare.Significant && !c.Below(effect) {
			open++
		} else {
			settled++
		}
	}
	return settled, open
}
