package stats

import "math"

// Point is the contribution of one slice to a round effect: its operations and their total cost
// (nanoseconds of wall or CPU time, or any other additive cost).
type Point struct {
	Ops int64
	NS  float64
}

// BlockEffect returns the effect of one round: slices a[i] and b[i] belong together, blocks of
// consecutive slices are summed, each block gives the logarithm of cost per operation of a over
// that of b, and the effect is the Hodges–Lehmann estimate over the blocks. A block should contain
// at least two collection cycles of the allocating side.
//
// Slices remaining after the last complete block join it; with fewer slices than one block
// everything is one block, which is [SumEffect]. If a and b differ in length the rest of the longer
// is ignored. The result is NaN when a block has no operations or no positive cost on either side.
func BlockEffect(a, b []Point, block int) float64 {
	return HodgesLehmann(BlockEffects(a, b, block))
}

// BlockEffects returns the effect of each block, as [BlockEffect] sums them. It
// is a single NaN when a block has no operations or no positive cost.
func BlockEffects(a, b []Point, block int) []float64 {
	n := min(len(a), len(b))
	block = max(1, min(block, n))
	var effects []float64
	for i := 0; i+block <= n; i += block {
		end := i + block
		if n-end < block {
			end = n
		}
		e := SumEffect(a[i:end], b[i:end])
		if math.IsNaN(e) {
			return []float64{e}
		}
		effects = append(effects, e)
	}
	return effects
}

// SumEffect returns the logarithm of the ratio of sums: all cost of a over all
// its operations, over the same of b. NaN when a side has no operations or no
// positive cost.
func SumEffect(a, b []Point) float64 {
	return math.Log(perOp(a)) - math.Log(perOp(b))
}

func perOp(p []Point) float64 {
	var ops int64
	var ns float64
	for _, x := range p {
		ops += x.Ops
		ns += x.NS
	}
	if ops <= 0 || !(ns > 0) {
		return math.NaN()
	}
	return ns / float64(ops)
}
