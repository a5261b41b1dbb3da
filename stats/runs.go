package stats

import "math"

// Run is the result of one run of a study for a quantity: an estimate and its standard error within
// the run.
type Run struct{ Mean, Error float64 }

// minPairs is the least number of pairs of neighbouring runs that show how runs differ.
const minPairs = 6

// BetweenRuns estimates the variance that estimates have from run to run, in addition to their
// standard errors, from series of runs with the same variance. Squared differences of neighbours
// are robust against a few steps: half of them are below 0.455 times their expectation, which is
// the median of χ² with one degree of freedom. It returns false if there are too few.
//
// Source, for differences of neighbours: J. von Neumann and others, "The mean
// square successive difference", Ann. Math. Statist. 12 (1941) 153–162.
func BetweenRuns(series ...[]Run) (variance float64, ok bool) {
	const medianOfSquare = 0.4549364
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
	return max(0, (Median(squares)/medianOfSquare-Median(within))/2), true
}

// Predict returns the interval of the mean of k further runs with a standard error each, if nothing
// changes: the weighted mean of the runs so far, give or take what it, the runs to come and the
// variance between runs allow. Means are taken for normal.
//
// Source: J. P. T. Higgins, S. G. Thompson, D. J. Spiegelhalter, "A
// re-evaluation of random-effects meta-analysis", J. R. Statist. Soc. A 172
// (2009) 137–159.
func Predict(runs []Run, variance float64, level float64, next ...Run) (low, high float64) {
	const least = 1e-24 // if nothing varies
	var sum, weights float64
	for _, r := range runs {
		w := 1 / max(least, r.Error*r.Error+variance)
		sum, weights = sum+w*r.Mean, weights+w
	}
	further := 0.0
	for _, r := range next {
		further += (r.Error*r.Error + variance) / float64(len(next)*len(next))
	}
	reach := normalQuantile(level/2) * math.Sqrt(1/weights+further)
	return sum/weights - reach, sum/weights + reach
}

// Steps returns the indexes of the runs at which a series changes its level: the mean of one, two
// or three runs is outside of the prediction by those since the last step. A series without a step
// has one in at most 0.06 % of its runs. Two runs that are equal to the last digit have no error,
// and differ by any change.
func Steps(runs []Run, variance float64) []int {
	const level, most = 0.0002, 3
	var steps []int
	from := 0
	for i := 1; i < len(runs); i++ {
		for k := 1; k <= most && i-k+1 > from; k++ {
			next := runs[i-k+1 : i+1]
			mean := 0.0
			for _, r := range next {
				mean += r.Mean / float64(k)
			}
			if low, high := Predict(runs[from:i-k+1], variance, level, next...); mean < low || mean > high {
				from = i - k + 1
				steps = append(steps, from)
				break
			}
		}
	}
	return steps
}

// StandardError returns the standard error of an estimate whose interval at level has half width
// half.
func StandardError(half, level float64) float64 { return half / normalQuantile(level/2) }
