package check

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// estimateShift returns an interval for the shift of y above x: the Hodges–Lehmann estimate is the
// median of all differences y_j − x_i, and the interval contains every shift that the exact
// two-sided rank-sum test does not reject at level alpha. ok is false if there are too few values
// for that level.
//
// Sources: H. B. Mann, D. R. Whitney, "On a test of whether one of two random
// variables is stochastically larger than the other", Ann. Math. Statist. 18
// (1947) 50–60; J. L. Hodges, E. L. Lehmann, "Estimates of location based on
// rank tests", Ann. Math. Statist. 34 (1963) 598–611.
func estimateShift(x, y []float64, alpha float64) (estimate, lo, hi float64, ok bool) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), math.Inf(-1), math.Inf(1), false
	}
	d := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			d = append(d, b-a)
		}
	}
	slices.Sort(d)
	estimate = stats.Median(d)
	k := -1 // the largest with 2·P(U ≤ k) ≤ alpha
	below := 0.0
	for u, p := range rankSumNull(len(x), len(y)) {
		if below += p; 2*below > alpha {
			break
		}
		k = u
	}
	if k < 0 {
		return estimate, math.Inf(-1), math.Inf(1), false
	}
	k = min(k, (len(d)-1)/2)
	return estimate, d[k], d[len(d)-1-k], true
}

// rankSumNull returns P(U = u), u = 0 … m·n, for the number U of pairs in which
// the value of the first sample is the larger, when all m+n values come from
// one distribution: the share of ways to choose n of m+n ranks by their sum.
func rankSumNull(m, n int) []float64 {
	// ways[k][s]: choices of k of the ranks so far whose sum, less the
	// smallest possible, is s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, m*n+1)
	}
	ways[0][0] = 1
	for rank := 1; rank <= m+n; rank++ {
		for k := min(rank, n); k >= 1; k-- {
			// The k-th chosen adds rank−k beyond the smallest sum.
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
