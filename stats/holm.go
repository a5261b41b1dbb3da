package stats

import (
	"cmp"
	"math"
	"slices"
)

// This file adjusts p-values of several comparisons. With 20 comparisons at 5 % each,
// about one would be significant by chance.

// Alpha is the error rate of verdicts, for all comparisons of a family and all looks together.
// Looks are interim analyses, after which a study may stop.
const Alpha = 0.05

// Holm returns the p-values of a family, adjusted for its size. If every hypothesis with an
// adjusted value of at most α is rejected, the probability of any false rejection is at most α.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6
// (1979) 65–70.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	largest := 0.0 // so far: adjusted values do not decrease
	for rank, i := range sortedIndexes(p) {
		largest = math.Max(largest, math.Min(1, float64(len(p)-rank)*p[i]))
		out[i] = largest
	}
	return out
}

// HolmLooks reports which comparisons of a family are significant in a study with up to looks
// interim analyses. p has their two-sided p-values at the current one. It is Holm's step-down
// procedure with the levels of [LookLevel]. The smallest of m p-values is compared with
// LookLevel(alpha/m, looks), the next with LookLevel(alpha/(m−1), looks), and so on, up to the
// first value above its level.
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

func sortedIndexes(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}
