package stats

import (
	"math"
	"slices"
	"sort"
)

// SignedRankNull returns the exact distribution of Wilcoxon's signed-rank
// statistic of n rounds when every sign is a fair coin: element w is P(W ≤ w),
// w = 0 … n(n+1)/2. It takes O(n³) steps, 3 ms at n = 180.
//
// Recursion: W_n = W_(n−1) + n·B with B a fair coin. Halving and adding round
// alike on every machine, so the numbers do too.
//
// Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics
// Bulletin 1 (1945) 80–83.
func SignedRankNull(n int) []float64 {
	p := make([]float64, n*(n+1)/2+1)
	p[0] = 1
	for i := 1; i <= n; i++ {
		for w := i * (i + 1) / 2; w >= 0; w-- {
			p[w] /= 2
			if w >= i {
				p[w] += p[w-i] / 2
			}
		}
	}
	for w := 1; w < len(p); w++ {
		p[w] = math.Min(1, p[w]+p[w-1])
	}
	return p
}

// SignedRankCDF returns P(W ≤ w) for the signed-rank statistic of n rounds: the
// exact one up to [MaxRounds], beyond it that of the normal distribution with a
// correction for continuity. The statistic has lighter tails than that, so that
// small probabilities come out too large, by 3 % at 0.35 % and 181 rounds.
func SignedRankCDF(n, w int) float64 {
	switch {
	case w < 0:
		return 0
	case w >= n*(n+1)/2:
		return 1
	case n > MaxRounds:
		return nearNull(n, w)
	}
	return SignedRankNull(n)[w]
}

// nearNull returns P(W ≤ w) of many rounds.
func nearNull(n, w int) float64 {
	m := float64(n)
	mean, sd := m*(m+1)/4, math.Sqrt(m*(m+1)*(2*m+1)/24)
	return math.Erfc((mean-float64(w)-0.5)/sd/math.Sqrt2) / 2
}

// SignedRankP returns the two-sided p-value of "x is symmetric about zero": 2·P(W ≤ w), at most 1,
// with w the smaller of the number of Walsh averages ≤ 0 and the number ≥ 0. Without ties and zeros
// these are the two rank sums (Tukey's identity) and p is exact. An average of exactly zero, from
// zeros and tied magnitudes of opposite sign, counts on both sides. That is conservative (nudge
// tied values apart at random: the statistic then has its exact null and w can only be smaller),
// and it keeps the duality
//
//	SignedRankP(x) ≤ α  exactly when  Interval(x, α) excludes zero.
//
// Source: Wilcoxon (1945), see [SignedRankNull]; the identity and ties: M. Hollander,
// D. A. Wolfe, "Nonparametric Statistical Methods", §3.1–3.3.
func SignedRankP(x []float64) float64 {
	if len(x) == 0 {
		return 1
	}
	return math.Min(1, 2*SignedRankCDF(len(x), signedRank(x)))
}

// signedRank returns the smaller of the numbers of Walsh averages ≤ 0 and ≥ 0.
func signedRank(x []float64) int {
	s := slices.Clone(x)
	slices.Sort(s)
	return min(notAbove(s), notBelow(s))
}

// notAbove counts the pairs i ≤ j of ascending s with s_i + s_j ≤ 0.
func notAbove(s []float64) int {
	count, j := 0, len(s)-1
	for i := 0; i < len(s) && i <= j; {
		if s[i]+s[j] <= 0 {
			count += j - i + 1
			i++
		} else {
			j--
		}
	}
	return count
}

// notBelow counts the pairs i ≤ j of ascending s with s_i + s_j ≥ 0.
func notBelow(s []float64) int {
	count, i := 0, 0
	for j := len(s) - 1; j >= 0 && i <= j; {
		if s[i]+s[j] >= 0 {
			count += j - i + 1
			j--
		} else {
			i++
		}
	}
	return count
}

// Interval returns the interval for the pseudo-median of x that excludes every shift the two-sided
// signed-rank test rejects at level alpha: with k the largest integer with 2·P(W ≤ k) ≤ alpha, the
// (k+1)-th Walsh average from below and from above. ok is false when x has fewer than
// [MinRounds](alpha) values: then nothing can be excluded and the interval is the entire line.
//
// The error is at most alpha when x − θ is symmetric about zero.
//
// Source: D. F. Bauer, "Constructing confidence sets using rank statistics",
// J. Amer. Statist. Assoc. 67 (1972) 687–690.
func Interval(x []float64, alpha float64) (lo, hi float64, ok bool) {
	return walshInterval(criticalRank(len(x), alpha), x)
}

// HalfWidth returns half the width of the interval of x at level alpha, or 0 and false if x has too
// few values for one.
func HalfWidth(x []float64, alpha float64) (float64, bool) {
	lo, hi, ok := Interval(x, alpha)
	if !ok {
		return 0, false
	}
	return (hi - lo) / 2, true
}

// Differs reports whether the interval of x at level alpha excludes zero, and whether the estimate
// then also exceeds the control's half width and the control's own estimate: only such a difference
// counts. Both are logarithms of ratios, one a round.
func Differs(x, control []float64, alpha float64) (excludes, counts bool) {
	lo, hi, ok := Interval(x, alpha)
	if !ok || lo <= 0 && hi >= 0 {
		return false, false
	}
	floor, ok := HalfWidth(control, alpha)
	return true, ok && math.Abs(HodgesLehmann(x)) > max(floor, math.Abs(HodgesLehmann(control)))
}

// walshInterval returns the interval without k Walsh averages at either end.
func walshInterval(k int, x []float64) (lo, hi float64, ok bool) {
	if k < 0 || len(x) == 0 {
		return math.Inf(-1), math.Inf(1), false
	}
	w := walshAverages(x)
	k = min(k, (len(w)-1)/2)
	return w[k], w[len(w)-1-k], true
}

// criticalRank returns the largest k with 2·P(W ≤ k) ≤ alpha for n rounds, or −1 if there is none.
func criticalRank(n int, alpha float64) int {
	if n > MaxRounds {
		return sort.Search(n*(n+1)/2, func(w int) bool { return 2*nearNull(n, w) > alpha }) - 1
	}
	return criticalOf(SignedRankNull(n), alpha)
}

// criticalOf returns the same for a null distribution that is at hand.
func criticalOf(null []float64, alpha float64) int {
	return sort.Search(len(null), func(w int) bool { return 2*null[w] > alpha }) - 1
}

// MinRounds returns the least number of rounds with which a signed-rank interval of level alpha
// exists: the first n with 2^(1−n) ≤ alpha. It is 0 when alpha is not positive: no number of rounds
// will do.
func MinRounds(alpha float64) int {
	if !(alpha > 0) {
		return 0
	}
	n := 1
	for p := 1.0; p > alpha; p /= 2 {
		n++
	}
	return n
}
