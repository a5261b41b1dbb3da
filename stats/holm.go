package stats

import (
	"math"
	"slices"
)

// Alpha is the error rate of verdicts: of a family together, over all looks.
const Alpha = 0.05

// Holm returns the p-values adjusted for the size of their family: rejecting if the adjusted value
// is ≤ α keeps the chance of any false rejection ≤ α.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure",
// Scand. J. Statist. 6 (1979) 65–70.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	worst := 0.0
	for rank, i := range sortedIndexes(p) {
		worst = math.Max(worst, math.Min(1, float64(len(p)-rank)*p[i]))
		out[i] = worst
	}
	return out
}

// HolmLooks returns which of a family of comparisons differ after up to looks looks at each: Holm's
// step-down with a level per look from [LookLevel]. p holds the exact two-sided p-values at the
// current look. The smallest is compared with LookLevel(alpha/m), the next with
// LookLevel(alpha/(m−1)) and so on; the first that fails ends it.
func HolmLooks(p []float64, alpha float64, looks int) []bool {
	out := make([]bool, len(p))
	for rank, i := range sortedIndexes(p) {
		if p[i] > LookLevel(alpha/float64(len(p)-rank), looks) {
			break
		}
		out[i] = true
	}
	return out
}

// sortedIndexes returns the indexes of p from its smallest value to its largest.
func sortedIndexes(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	return order
}
