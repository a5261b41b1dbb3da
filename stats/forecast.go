package stats

import "math"

// power is the probability that a forecast aims at.
const power = 0.8

// RoundsNeeded forecasts the number of rounds after which the interval of x excludes all limits
// with a probability of 0.8. level is the error level of one interim analysis; see [LookLevel]. If
// more than maxRounds are needed, n is maxRounds and ok is false.
//
// Read the forecast as an order of magnitude. After eight rounds it has a relative error of two
// thirds. If the interval excludes every limit already, n is len(x).
//
// The half-width z·τ/√n of an interval gives the standard deviation τ/√n of the estimate (E. L.
// Lehmann, "Nonparametrics: Statistical Methods Based on Ranks", 1975, §4.2). The rest is the usual
// power calculation, n = ((z_(1−level/2) + z_power)·τ/δ)². δ is the distance to the nearest limit.
func RoundsNeeded(x []float64, level float64, maxRounds int, limits ...float64) (n int, ok bool) {
	lo, hi, exists := Interval(x, level)
	if exists && excludesAll(lo, hi, limits) {
		return len(x), true
	}
	tau, ok := estimateTau(x)
	if !ok {
		return maxRounds, false
	}
	estimate, distance := HodgesLehmann(x), math.Inf(1)
	for _, l := range limits {
		distance = math.Min(distance, math.Abs(estimate-l))
	}
	root := (normalQuantile(level/2) + normalQuantile(1-power)) * tau / distance
	needed := math.Ceil(root * root)
	if !(needed <= float64(maxRounds)) { // true for NaN, too
		return maxRounds, false
	}
	n = max(int(needed), len(x)+1, MinRounds(level))
	return min(n, maxRounds), n <= maxRounds
}

// Detectable returns the effect that is found with a probability of 0.8. halfWidth is that of the
// interval at level. An effect is found if the interval excludes zero. An effect as large as
// halfWidth is found with a probability of 0.5.
func Detectable(halfWidth, level float64) float64 {
	return halfWidth * (1 + normalQuantile(1-power)/normalQuantile(level/2))
}

func excludesAll(lo, hi float64, limits []float64) bool {
	for _, l := range limits {
		if lo <= l && l <= hi {
			return false
		}
	}
	return true
}

// estimateTau returns τ, the standard deviation of the Hodges–Lehmann estimate times √n. It uses
// the half-width z·τ/√n of the 80 % interval. With few rounds, intervals at a higher confidence
// overstate τ: by a half at eight rounds and 99 %. Those at a lower one vary more. It returns false
// if there are too few rounds.
func estimateTau(x []float64) (tau float64, ok bool) {
	const level = 0.2
	lo, hi, ok := Interval(x, level)
	return (hi - lo) / 2 * math.Sqrt(float64(len(x))) / normalQuantile(level/2), ok
}

// normalQuantile returns the standard normal quantile exceeded with probability p.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }
