package stats

import (
	"math"
	"slices"
)

// Share returns the share of part in whole, both by round in any additive unit: the θ for which
// part − θ·whole scatters about zero. The estimate is the median of (part_i + part_j) / (whole_i +
// whole_j) over i ≤ j, and the interval contains every θ at which the two-sided signed-rank test
// does not reject at level alpha that part − θ·whole is symmetric about zero.
//
// It never divides by whole of a single round, which may be small or on the wrong side: a pair of
// rounds with whole on another side than the rest could belong at either end, and is counted at
// both. ok is false if there are too few rounds, or so many such pairs that an end is not bounded.
//
// Source: E. C. Fieller, "Some problems in interval estimation", J. Roy.
// Statist. Soc. B 16 (1954) 175–185 (a ratio's interval by testing a
// difference); the test is that of [Interval], inverted as there.
func Share(part, whole []float64, alpha float64) (share, lo, hi float64, ok bool) {
	n := min(len(part), len(whole))
	side := 1.0
	if HodgesLehmann(whole[:n]) < 0 {
		side = -1
	}
	var ratios []float64
	astray := 0
	for i := range n {
		for j := i; j < n; j++ {
			if w := side * (whole[i]/2 + whole[j]/2); w > 0 {
				ratios = append(ratios, side*(part[i]/2+part[j]/2)/w)
			} else {
				astray++
			}
		}
	}
	slices.Sort(ratios)
	k := min(criticalRank(n, alpha), (n*(n+1)/2-1)/2)
	if k -= astray; n == 0 || k < 0 || k > (len(ratios)-1)/2 {
		return medianOfSorted(ratios), math.Inf(-1), math.Inf(1), false
	}
	return medianOfSorted(ratios), ratios[k], ratios[len(ratios)-1-k], true
}
