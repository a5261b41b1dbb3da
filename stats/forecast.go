package stats

import "math"

// RoundsNeeded forecasts how many rounds in all will let an interval of the
// given level (a look level, see [LookLevel]) clear the nearest of the limits
// with a chance of four in five, if the estimate and the spread of x so far are
// right. ok is false when that is more than most: n is then most, to be read as
// "more than most". Where the interval of x clears every limit already n is
// len(x). At eight rounds the spread is known to a third, the forecast to two
// thirds: it is an order of magnitude, not a promise.
//
// The standard deviation of the Hodges–Lehmann estimate falls as τ/√n, and the
// half-width of an interval is about z·τ/√n, which gives τ (E. L. Lehmann,
// "Nonparametrics: Statistical Methods Based on Ranks", 1975, §4.2). The rest is
// the usual power calculation, n = ((z_(1−level/2) + z_power)·τ/δ)², with δ the
// distance from the estimate to the nearest limit.
func RoundsNeeded(x []float64, level float64, most int, limits ...float64) (n int, ok bool) {
	lo, hi, exists := Interval(x, level)
	if exists && excludesAll(lo, hi, limits) {
		return len(x), true
	}
	tau, known := estimateTau(x)
	if !known {
		return most, false
	}
	estimate, distance := HodgesLehmann(x), math.Inf(1)
	for _, l := range limits {
		distance = math.Min(distance, math.Abs(estimate-l))
	}
	root := (normalQuantile(level/2) + normalQuantile(1-power)) * tau / distance
	need := math.Ceil(root * root)
	if !(need <= float64(most)) { // also when it is not a number
		return most, false
	}
	n = max(int(need), len(x)+1, MinRounds(level))
	return min(n, most), n <= most
}

// power is the chance a forecast aims at.
const power = 0.8

// Detectable returns the effect that is found with probability 0.8 if the half width of an interval
// at level is half: the interval then excludes zero, and the estimate exceeds the half width. An
// effect as large as the half width is found half of the time only. The estimate is assumed to be
// normal.
func Detectable(half, level float64) float64 {
	return half * (1 + normalQuantile(1-power)/normalQuantile(level/2))
}

// excludesAll reports whether the interval contains none of the limits.
func excludesAll(lo, hi float64, limits []float64) bool {
	for _, l := range limits {
		if lo <= l && l <= hi {
			return false
		}
	}
	return true
}

// estimateTau returns τ, the standard deviation of the Hodges–Lehmann estimate times √n, read off
// the 80 % interval: wider ones overstate τ when rounds are few (by a half at eight rounds and 99
// %), narrower ones scatter more.
func estimateTau(x []float64) (tau float64, ok bool) {
	const level = 0.2
	lo, hi, ok := Interval(x, level)
	return (hi - lo) / 2 * math.Sqrt(float64(len(x))) / normalQuantile(level/2), ok
}

// normalQuantile returns the standard normal quantile exceeded with probability p.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }
