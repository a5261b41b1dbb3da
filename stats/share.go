package stats

import (
	"math"
	"slices"
)

// Share returns the share θ of part in whole, e.g. 0.3 if 30 % of a difference in time is due to one cause, and
// its interval from lo to hi. Both slices have a value per round, in any unit that can be summed. The estimate
// is the median of (part_i + part_j) / (whole_i + whole_j) over i ≤ j. The interval contains every θ for which
// the two-sided signed-rank test does not reject, at level alpha, that part − θ·whole is symmetric about zero.
//
// In some rounds whole may be small, or its sign may differ from the sign in most rounds. If the sum of
// whole over a pair of rounds has that other sign, the pair has no usable ratio. It could belong to either
// end of the interval, so it is counted at both. ok is false if there are too few rounds, or too many such
// pairs to bound an end.
//
// Source: E. C. Fieller, "Some problems in interval estimation", J. Roy.
// Statist. Soc. B 16 (1954) 175–185 (a ratio's interval by testing a
// difference); the test is that of [Interval], inverted as there.
func Share(part, whole []float64, alpha float64) (share, lo, hi float64, ok bool) {
	n := min(len(part), len(whole))
	sign := 1.0 // of the values in most rounds
	if HodgesLehmann(whole[:n]) < 0 {
		sign = -1
	}
	var ratios []float64
	excluded := 0 // pairs whose sum has the other sign, or is 0
	for i := range n {
		for j := i; j < n; j++ {
			if w := sign * (whole[i]/2 + whole[j]/2); w > 0 {
				ratios = append(ratios, sign*(part[i]/2+part[j]/2)/w)
			} else {
				excluded++
			}
		}
	}
	slices.Sort(ratios)
	// The interval leaves out k of all n(n+1)/2 pairs at each end: fewer than half, so that it contains the median.
	k := min(criticalRank(n, alpha), (n*(n+1)/2-1)/2)
	if k -= excluded; n == 0 || k < 0 || k > (len(ratios)-1)/2 {
		return medianOfSorted(ratios), math.Inf(-1), math.Inf(1), false
	}
	return medianOfSorted(ratios), ratios[k], ratios[len(ratios)-1-k], true
}
