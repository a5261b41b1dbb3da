package stats

// Span is an interval as a family of comparisons settled on it.
type Span struct {
	Low, High float64
	Level     float64 // confidence
	OK        bool    // false: too few rounds for one
}

// Holds reports whether x is inside.
func (s Span) Holds(x float64) bool { return s.Low <= x && x <= s.High }

// StepDown returns the intervals of a family of n whose error is controlled
// together at alpha: members that are decided keep the level they had, the
// others share alpha among fewer. interval takes that of member i at a level,
// and isOpen reports whether it leaves i undecided.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure",
// Scand. J. Statist. 6 (1979) 65–70; for looks: W. Maurer, F. Bretz, "Multiple
// testing in group sequential trials using graphical approaches", Stat.
// Biopharm. Res. 5 (2013) 311–320.
func StepDown(n int, alpha float64, interval func(i int, alpha float64) Span, isOpen func(i int, s Span) bool) []Span {
	out := make([]Span, n)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		level := alpha / float64(len(left))
		var open []int
		for _, i := range left {
			out[i] = interval(i, level)
			out[i].Level = 1 - level
			if !out[i].OK || isOpen(i, out[i]) {
				open = append(open, i)
			}
		}
		if len(open) == len(left) {
			break
		}
		left = open
	}
	return out
}
