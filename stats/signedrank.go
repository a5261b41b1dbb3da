package stats

import (
	"math"
	"slices"
	"sort"
)

// SignedRankNull returns the exact distribution of Wilcoxon's signed-rank statistic W of n rounds,
// if every sign is a fair coin. Element w is P(W ≤ w), for w = 0 … n(n+1)/2. It takes O(n³) steps,
// 3 ms at n = 180.
//
// The recursion W_n = W_(n−1) + n·B, with B a fair coin, only halves and adds. That gives the same
// floating-point numbers on every machine.
//
// Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945)
// 80–83.
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

// SignedRankCDF returns P(W ≤ w) for the signed-rank statistic of n rounds. Above [MaxRounds] it is
// the normal approximation, which overstates small probabilities: 0.35 % by 3 % of it at 181
// rounds.
func SignedRankCDF(n, w int) float64 {
	switch {
	case w < 0:
		return 0
	case w >= n*(n+1)/2:
		return 1
	case n > MaxRounds:
		return approximateNull(n, w)
	}
	return SignedRankNull(n)[w]
}

func approximateNull(n, w int) float64 {
	m := float64(n)
	mean, sd := m*(m+1)/4, math.Sqrt(m*(m+1)*(2*m+1)/24)
	return math.Erfc((mean-float64(w)-0.5)/sd/math.Sqrt2) / 2
}

// SignedRankP returns the two-sided p-value of the hypothesis that x is symmetric about zero: 2·P(W
// ≤ w). w is the smaller of the numbers of Walsh averages (means of two values of x) ≤ 0 and ≥ 0.
// By Tukey's identity they are the rank sums.
//
// An average of exactly zero counts on both sides. That is conservative, and keeps the duality
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

func signedRank(x []float64) int {
	s := slices.Clone(x)
	slices.Sort(s)
	return min(countNonPositive(s), countNonNegative(s))
}

// countNonPositive counts the pairs i ≤ j of ascending s with s_i + s_j ≤ 0.
func countNonPositive(s []float64) int {
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

// countNonNegative counts the pairs i ≤ j of ascending s with s_i + s_j ≥ 0.
func countNonNegative(s []float64) int {
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

// Interval returns the interval for the pseudo-median θ of x. Its ends are Walsh averages, the
// (k+1)-th from below and from above, with the largest k such that 2·P(W ≤ k) ≤ alpha. It misses θ
// with a probability of at most alpha if x − θ is symmetric about zero. With fewer than
// [MinRounds](alpha) values, ok is false.
//
// Source: D. F. Bauer, "Constructing confidence sets using rank statistics", J. Amer. Statist.
// Assoc. 67 (1972) 687–690.
func Interval(x []float64, alpha float64) (lo, hi float64, ok bool) {
	return walshInterval(criticalRank(len(x), alpha), x)
}

// HalfWidth returns half the width of the interval of x at level alpha, or false if x has too few
// values.
func HalfWidth(x []float64, alpha float64) (float64, bool) {
	lo, hi, ok := Interval(x, alpha)
	if !ok {
		return 0, false
	}
	return (hi - lo) / 2, true
}

// Differs reports whether the interval of x at level alpha excludes zero. counts means that the
// estimate also exceeds the noise, which control shows. x and control are logarithms of ratios, one
// for each round. control comes from two copies of the same program.
func Differs(x, control []float64, alpha float64) (excludes, counts bool) {
	lo, hi, ok := Interval(x, alpha)
	containsZero := lo <= 0 && hi >= 0
	if !ok || containsZero {
		return false, false
	}
	noise, ok := HalfWidth(control, alpha)
	return true, ok && math.Abs(HodgesLehmann(x)) > max(noise, math.Abs(HodgesLehmann(control)))
}

// walshInterval returns the range of the Walsh averages of x without the k outermost ones at either
// end. It returns false if k is negative or x is empty.
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
		return sort.Search(n*(n+1)/2, func(w int) bool { return 2*approximateNull(n, w) > alpha }) - 1
	}
	return criticalOf(SignedRankNull(n), alpha)
}

// criticalOf is criticalRank for a null distribution of [SignedRankNull].
func criticalOf(null []float64, alpha float64) int {
	return sort.Search(len(null), func(w int) bool { return 2*null[w] > alpha }) - 1
}

// MinRounds returns the least number of rounds with a signed-rank interval at level alpha: the
// smallest n with 2^(1−n) ≤ alpha. It returns 0 if alpha is not positive.
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
