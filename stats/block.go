package stats

import "math"

// This file computes the effect of a round: the logarithm of the ratio of two programs that take
// turns. A slice is one timed turn. For example, a takes 110 ns per operation and b 100: the effect
// is 0.095.

// Point is the cost of one slice, a timed run of operations.
type Point struct {
	Ops int64   // number of operations
	NS  float64 // total cost: ns of wall or CPU time, or another cost that can be summed
}

// BlockEffect returns the logarithm of the ratio of a to b in one round. The slice a[i] is paired
// with b[i]. Each block of consecutive slices gives one ratio of costs per operation. The result is
// the Hodges–Lehmann estimate over the blocks. A block should contain at least two garbage
// collection cycles.
//
// Slices after the last complete block belong to that block. If there are fewer slices than one
// block, all are one block. If a and b differ in length, the rest of the longer one is ignored. The
// result is NaN if a block has no operations or no positive cost.
func BlockEffect(a, b []Point, block int) float64 {
	return HodgesLehmann(BlockEffects(a, b, block))
}

// BlockEffects returns the effect of each block of [BlockEffect], or a single NaN.
func BlockEffects(a, b []Point, block int) []float64 {
	n := min(len(a), len(b))
	block = max(1, min(block, n))
	var effects []float64
	for i := 0; i+block <= n; i += block {
		end := i + block
		if n-end < block { // no other block follows
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

// SumEffect returns the logarithm of the ratio of sums: the total cost per operation of a over that
// of b. It is NaN if a side has no operations or no positive cost.
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
