package stats

import "math"

// This file finds the runs at which a series of measurements changes its level, such as the nightly
// runs of a benchmark.

// Run is the estimate of a quantity in one run of a study, with its standard error within the run.
type Run struct{ Mean, Error float64 }

const minPairs = 6

// BetweenRuns estimates the variance of estimates from run to run, in addition to their standard
// errors. It comes from the median of squared differences of neighbours, so a few steps hardly
// affect it. ok is false for fewer than six pairs of neighbours.
//
// Source, for differences of neighbours: J. von Neumann and others, "The mean square successive
// difference", Ann. Math. Statist. 12 (1941) 153–162.
func BetweenRuns(series ...[]Run) (variance float64, ok bool) {
	const medianOfSquare = 0.4549364 // median of χ² with one degree of freedom, over its mean of 1
	var squares, within []float64
	for _, runs := range series {
		for i := 1; i < len(runs); i++ {
			a, b := runs[i-1], runs[i]
			squares = append(squares, (b.Mean-a.Mean)*(b.Mean-a.Mean))
			within = append(within, a.Error*a.Error+b.Error*b.Error)
		}
	}
	if len(squares) < minPairs {
		return 0, false
	}
	// The expectation of a squared difference is the sum of the variances within both runs and twice
	// the variance between runs.
	return max(0, (Median(squares)/medianOfSquare-Median(within))/2), true
}

// Predict returns the interval in which the mean of the runs next is expected if nothing changes.
// Its middle is the weighted mean of runs. Of next it uses only the standard errors. variance is
// the variance between runs, and level the error level. Means are assumed to be normal.
//
// Source: J. P. T. Higgins, S. G. Thompson, D. J. Spiegelhalter, "A re-evaluation of random-effects
// meta-analysis", J. R. Statist. Soc. A 172 (2009) 137–159.
func Predict(runs []Run, variance float64, level float64, next ...Run) (low, high float64) {
	const minVariance = 1e-24 // keeps the weights finite if nothing varies
	var sum, weights float64
	for _, r := range runs {
		w := 1 / max(minVariance, r.Error*r.Error+variance)
		sum, weights = sum+w*r.Mean, weights+w
	}
	nextVariance := 0.0 // of the mean of next
	for _, r := range next {
		nextVariance += (r.Error*r.Error + variance) / float64(len(next)*len(next))
	}
	halfWidth := normalQuantile(level/2) * math.Sqrt(1/weights+nextVariance)
	return sum/weights - halfWidth, sum/weights + halfWidth
}

// Steps returns the indexes of the runs at which a series changes its level. The mean of one to
// three runs from there on is then outside the interval of [Predict]. Without a change, at most
// 0.06 % of the runs are reported. Without errors and variance, any change is a step.
func Steps(runs []Run, variance float64) []int {
	const level, maxNext = 0.0002, 3 // three tests per run: 0.06 %
	var steps []int
	last := 0 // index of the last step
	for i := 1; i < len(runs); i++ {
		for k := 1; k <= maxNext && i-k+1 > last; k++ {
			next := runs[i-k+1 : i+1]
			mean := 0.0
			for _, r := range next {
				mean += r.Mean / float64(k)
			}
			if low, high := Predict(runs[last:i-k+1], variance, level, next...); mean < low || mean > high {
				last = i - k + 1
				steps = append(steps, last)
				break
			}
		}
	}
	return steps
}

// StandardError returns the standard error of an estimate from the half-width of its interval at
// level.
func StandardError(halfWidth, level float64) float64 { return halfWidth / normalQuantile(level/2) }
