package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// estimateShift returns how far the values y are above the values x, with an interval. The estimate
// is the median of all differences y_j − x_i. The interval contains every shift that the exact
// two-sided rank-sum test does not reject at level alpha. ok is false with too few values for it.
//
// Sources: H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is
// stochastically larger than the other", Ann. Math. Statist. 18 (1947) 50–60; J. L. Hodges, E. L.
// Lehmann, "Estimates of location based on rank tests", Ann. Math. Statist. 34 (1963) 598–611.
func estimateShift(x, y []float64, alpha float64) (estimate, lo, hi float64, ok bool) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1), false
	}
	differences := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			differences = append(differences, b-a)
		}
	}
	slices.Sort(differences)
	estimate = stats.Median(differences)
	k := -1 // the largest k with 2·P(U ≤ k) ≤ alpha
	cumulated := 0.0
	for u, p := range rankSumNull(len(x), len(y)) {
		cumulated += p
		if 2*cumulated > alpha {
			break
		}
		k = u
	}
	if k < 0 {
		return estimate, math.Inf(-1), math.Inf(1), false
	}
	k = min(k, (len(differences)-1)/2)
	return estimate, differences[k], differences[len(differences)-1-k], true
}

// rankSumNull returns P(U = u) for u = 0 … m·n if all m+n values come from one distribution. U
// counts the pairs in which the value of the first sample is larger. P(U = u) is a share of all ways
// to choose n of the m+n ranks: of those with a sum that is u above the smallest sum.
func rankSumNull(m, n int) []float64 {
	// ways[k][s] is the number of ways to choose k ranks with a sum s above the smallest one.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, m*n+1)
	}
	ways[0][0] = 1
	for rank := 1; rank <= m+n; rank++ {
		for k := min(rank, n); k >= 1; k-- {
			// As the k-th rank of a choice, rank adds rank−k, because it is k in the smallest sum.
			for s := m * n; s >= rank-k; s-- {
				ways[k][s] += ways[k-1][s-(rank-k)]
			}
		}
	}
	total := 0.0
	for _, w := range ways[n] {
		total += w
	}
	out := ways[n]
	for u := range out {
		out[u] /= total
	}
	return out
}
