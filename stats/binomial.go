package stats

import (
	"math"
	"slices"
)

// This file has intervals that assume little: for the median of any values, and for a probability.

// OrderInterval returns an interval at level alpha for the median of independent values. It lies
// between the k-th values from both ends, with the largest k such that 2·P(Bin(n, ½) ≤ k−1) ≤
// alpha. ok is false if there are too few values: fewer than six at 5 %.
//
// Source: W. R. Thompson, "On confidence ranges for the median and other expectation
// distributions", Ann. Math. Statist. 7 (1936) 122–128.
func OrderInterval(x []float64, alpha float64) (lo, hi float64, ok bool) {
	n := len(x)
	k := 0
	for k < (n+1)/2 && 2*binomialCDF(k, n, 0.5) <= alpha*(1+rounding) {
		k++
	}
	if k == 0 {
		return math.Inf(-1), math.Inf(1), false
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return s[k-1], s[n-k], true
}

// rounding is the permitted relative error of a tail probability. Computed with logarithms, a
// probability that equals alpha exactly may be slightly larger.
const rounding = 1e-12

// ClopperPearson returns the exact interval of level alpha for a probability after k successes in n
// tries.
//
// Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in
// the case of the binomial", Biometrika 26 (1934) 404–413.
func ClopperPearson(k, n int, alpha float64) (lo, hi float64) {
	lo, hi = 0, 1
	if k > 0 {
		// With this p, k or more successes have probability alpha/2.
		lo = findRoot(func(p float64) bool { return binomialCDF(n-k, n, 1-p) < alpha/2 })
	}
	if k < n {
		// With this p, k or fewer successes have probability alpha/2.
		hi = findRoot(func(p float64) bool { return binomialCDF(k, n, p) > alpha/2 })
	}
	return lo, hi
}

// findRoot returns, by bisection, the point of [0, 1] below which isBelow returns true.
func findRoot(isBelow func(float64) bool) float64 {
	lo, hi := 0.0, 1.0
	for range 100 {
		mid := lo + (hi-lo)/2
		if isBelow(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// binomialCDF returns P(X ≤ k) for X binomial with n tries of probability p.
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n, p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	logP, logQ := math.Log(p), math.Log1p(-p)
	sum := 0.0
	for i := range k + 1 {
		sum += math.Exp(logChoose(n, i) + float64(i)*logP + float64(n-i)*logQ)
	}
	return math.Min(1, sum)
}

// logChoose returns the logarithm of the binomial coefficient n over k.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
