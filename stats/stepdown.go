package stats

// This file computes the intervals of several comparisons, such that the probability of any error
// is limited. It does for intervals what Holm's procedure does for p-values.

// Span is the interval of one comparison in a family.
type Span struct {
	Low, High float64
	Level     float64 // confidence level
	OK        bool    // there are enough rounds for an interval
}

// Holds reports whether x is in the interval.
func (s Span) Holds(x float64) bool { return s.Low <= x && x <= s.High }

// StepDown returns the intervals of a family of n comparisons. The probability that any of them is
// wrong is at most alpha. All begin with an equal share of alpha. A decided comparison keeps its
// interval. The open ones divide alpha among themselves again, until no more are decided.
//
// interval computes the interval of comparison i at an error level. isOpen reports whether an
// interval leaves comparison i undecided.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6
// (1979) 65–70; for looks: W. Maurer, F. Bretz, "Multiple testing in group sequential trials using
// graphical approaches", Stat. Biopharm. Res. 5 (2013) 311–320.
func StepDown(n int, alpha float64, interval func(i int, alpha float64) Span, isOpen func(i int, s Span) bool) []Span {
	out := make([]Span, n)
	open := make([]int, n)
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		level := alpha / float64(len(open))
		var stillOpen []int
		for _, i := range open {
			out[i] = interval(i, level)
			out[i].Level = 1 - level
			if !out[i].OK || isOpen(i, out[i]) {
				stillOpen = append(stillOpen, i)
			}
		}
		if len(stillOpen) == len(open) {
			break
		}
		open = stillOpen
	}
	return out
}
