package stats

import (
	"math"
	"slices"
)

// This file estimates which part of a difference is due to one cause. For example, a log is 82 % of
// the difference between two servers.

// Share returns the share θ of part in whole and its interval, e.g. 0.3 if 30 % of a difference is
// due to one cause. Both slices have a value per round. The estimate is the median of (part_i +
// part_j) / (whole_i + whole_j) over i ≤ j. The interval contains every θ for which part − θ·whole
// passes the signed-rank test at level alpha.
//
// Over a pair of rounds, whole may have another sign than in most rounds. Such a pair could belong
// to either end of the interval, so it is counted at both. ok is false with too few rounds or too
// many such pairs.
//
// Source: E. C. Fieller, "Some problems in interval estimation", J. Roy. Statist. Soc. B 16 (1954)
// 175–185 (a ratio's interval by testing a difference).
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
	// The interval leaves out k of all n(n+1)/2 pairs at each end. These are fewer than half, so the
	// interval contains the median.
	k := min(criticalRank(n, alpha), (n*(n+1)/2-1)/2)
	if k -= excluded; n == 0 || k < 0 || k > (len(ratios)-1)/2 {
		return medianOfSorted(ratios), math.Inf(-1), math.Inf(1), false
	}
	return medianOfSorted(ratios), ratios[k], ratios[len(ratios)-1-k], true
}
