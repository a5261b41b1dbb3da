package judge

import (
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file estimates how much ratios vary within and between rounds, to plan the number of
// measurements in a round.

// Variances estimates for each workload how much the ratios to the baseline vary, within and between
// rounds. The variance within rounds is that of one slice, a turn of a contender. Both are means over
// all contenders and the control. It omits workloads with too few measurements.
func Variances(d evidence.Evidence) map[string]stats.Variance {
	x := d.Index()
	out := map[string]stats.Variance{}
	for _, s := range d.Plan.Slices {
		var v stats.Variance // sums over contenders
		pairs := 0
		for _, id := range d.Compared() {
			if id == d.Study.Baseline {
				continue
			}
			var blocks [][]float64
			for _, r := range x.Rounds() {
				points, basePoints := pairSlices(x, d.Primary(), evidence.At(r, s.Workload, id), evidence.At(r, s.Workload, d.Study.Baseline))
				blocks = append(blocks, stats.BlockEffects(points, basePoints, s.Block))
			}
			within, between, ok := stats.Components(blocks)
			if !ok {
				continue
			}
			pairs++
			v.Within += within * float64(s.Block) // variance of a slice, from that of a block
			v.Between += between
		}
		if pairs > 0 {
			v.Within, v.Between, v.Rounds = v.Within/float64(pairs), v.Between/float64(pairs), len(x.Rounds())
			out[s.Workload] = v
		}
	}
	return out
}
