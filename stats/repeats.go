package stats

import (
	"math"
	"slices"
)

const (
	// repeatsPrior is the number of degrees of freedom that the variance of an entire table has in
	// that of a row, which itself has two: a row that repeats as well by luck gets no interval of
	// no width.
	repeatsPrior = 4.0
	// minRepeatSD is the least standard deviation of a count that is assumed, on the
	// logarithmic scale.
	minRepeatSD = 0.0002
	// chiMedian is the median of χ² with two degrees of freedom.
	chiMedian = 2 * math.Ln2
	// wholeWithin is the maximum distance of a count from the integer that it equals.
	wholeWithin = 0.2
)

// Repeats are repeated measurements of two sides, which do not differ but for what
// repeats of one side differ by, such as counts of instructions.
type Repeats struct{ Base, Head []float64 }

// logVariance returns the variance of the logarithm of one value within the sides, and its degrees
// of freedom.
func (r Repeats) logVariance() (v, free float64) {
	for _, side := range [][]float64{r.Base, r.Head} {
		mean := meanLog(side)
		for _, x := range side {
			v += (math.Log(x) - mean) * (math.Log(x) - mean)
		}
		free += float64(len(side) - 1)
	}
	if free <= 0 {
		return 0, 0
	}
	return v / free, free
}

// RepeatVariance returns the variance that a row of a table of repeats usually has, of the
// logarithm of one value. It is the median over rows: some benchmarks vary much more.
func RepeatVariance(rows []Repeats) float64 {
	var all []float64
	for _, r := range rows {
		if v, free := r.logVariance(); free > 0 {
			all = append(all, v)
		}
	}
	usual := 0.0
	if len(all) > 0 {
		usual = Median(all) * 2 / chiMedian
	}
	return max(usual, minRepeatSD*minRepeatSD)
}

// Compare returns the ratio head/base of the geometric means and its interval at level
// alpha. The variance of a row is that of its repeats, moderated by the usual one of its
// table (usual, of RepeatVariance). The interval is no narrower than least to both sides,
// in the unit of the values: what one side is can move by that much between builds.
//
// Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing
// differential expression in microarray experiments", Statistical Applications in
// Genetics and Molecular Biology 3, 2004.
func (r Repeats) Compare(usual, least, alpha float64) (ratio, low, high float64) {
	v, free := r.logVariance()
	v = (repeatsPrior*usual + free*v) / (repeatsPrior + free)
	d := meanLog(r.Head) - meanLog(r.Base)
	se := math.Sqrt(v * (1/float64(len(r.Base)) + 1/float64(len(r.Head))))
	half := max(studentQuantile(1-alpha/2, repeatsPrior+free)*se, math.Log1p(least/min(slices.Min(r.Base), slices.Min(r.Head))))
	return math.Exp(d), math.Exp(d - half), math.Exp(d + half)
}

// Exact returns the integers that both sides equal, if every value of a side is within a fifth of
// the same integer.
func (r Repeats) Exact() (base, head float64, ok bool) {
	whole := func(side []float64) (float64, bool) {
		n := math.Round(side[0])
		return n, !slices.ContainsFunc(side, func(x float64) bool { return math.Abs(x-n) > wholeWithin })
	}
	base, okBase := whole(r.Base)
	head, okHead := whole(r.Head)
	return base, head, okBase && okHead && base > 0 && head > 0
}

func meanLog(values []float64) float64 {
	total := 0.0
	for _, x := range values {
		total += math.Log(x)
	}
	return total / float64(len(values))
}
