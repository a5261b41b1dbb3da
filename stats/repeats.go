package stats

import (
	"math"
	"slices"
)

// This file compares counts, such as instructions, that were measured only a few times on each side. A table
// has a row for each benchmark; the rows help each other to estimate how much a repeated count varies.

const (
	// maxUsualFree is the largest weight, in degrees of freedom, of the table's usual variance when it is
	// averaged with the variance of a row: rows differ in their variance, however many rows there are.
	maxUsualFree = 4.0
	// singleSD is the standard deviation of the logarithm of a count that is assumed, with minUsualFree
	// degrees of freedom, if fewer than minRepeated rows were repeated. Counts of most benchmarks vary by less.
	singleSD     = 0.0005
	minUsualFree = 2.0
	minRepeated  = 3
	// minRepeatSD is the least standard deviation of the logarithm of a count that is assumed.
	minRepeatSD = 0.0002
	// chiMedian is the median of χ² with two degrees of freedom, those of a row with two values of each side.
	chiMedian = 2 * math.Ln2
	// maxIntegerOff is the maximum distance of a count from the integer that it equals.
	maxIntegerOff = 0.2
)

// Repeats are repeated measurements of two sides, such as counts of instructions. Both sides have the same
// relative variance.
type Repeats struct{ Base, Head []float64 }

// logVariance returns the variance of the logarithm of one value, pooled over both sides, and its degrees
// of freedom. Both are 0 if neither side has two values.
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

// UsualVariance is the usual variance of the logarithm of one value in a row of a table.
type UsualVariance struct {
	Variance float64
	Free     float64 // degrees of freedom; 0 if only one row, or none, has repeated values
}

// RepeatVariance returns the usual variance of a table. It is computed from the median over the rows,
// because some benchmarks vary much more than others.
func RepeatVariance(rows []Repeats) UsualVariance {
	var all []float64
	for _, r := range rows {
		if v, free := r.logVariance(); free > 0 {
			all = append(all, v)
		}
	}
	if len(all) < 2 {
		return UsualVariance{Variance: singleSD * singleSD}
	}
	least := minRepeatSD
	if len(all) < minRepeated {
		least = singleSD
	}
	return UsualVariance{
		Variance: max(Median(all)*2/chiMedian, least*least),
		Free:     min(maxUsualFree, float64(len(all)-1)),
	}
}

// Compare returns the ratio head/base of the geometric means and its interval at level alpha. The variance
// is a weighted mean of the variance of r and the usual variance of the table, so that a row whose repeats
// are equal by luck still gets an interval. Each half of the interval covers at least minChange, in the
// unit of the values, because the value of a side can change by that much from build to build.
//
// Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing
// differential expression in microarray experiments", Statistical Applications in
// Genetics and Molecular Biology 3, 2004.
func (r Repeats) Compare(usual UsualVariance, minChange, alpha float64) (ratio, low, high float64) {
	v, free := r.logVariance()
	if free > 0 {
		all := usual.Free + free
		v, free = (usual.Free*usual.Variance+free*v)/all, all
	} else { // one value of each side
		v, free = usual.Variance, max(usual.Free, minUsualFree)
	}
	v = max(v, minRepeatSD*minRepeatSD)
	logRatio := meanLog(r.Head) - meanLog(r.Base)
	se := math.Sqrt(v * (1/float64(len(r.Base)) + 1/float64(len(r.Head))))
	minHalf := math.Log1p(minChange / min(slices.Min(r.Base), slices.Min(r.Head)))
	half := max(studentQuantile(1-alpha/2, free)*se, minHalf)
	return math.Exp(logRatio), math.Exp(logRatio - half), math.Exp(logRatio + half)
}

// Exact returns the integer that each side equals. ok is false unless all values of a side are within a
// fifth of the same positive integer. If a side has one value, ok also requires that both sides equal the
// same integer: by chance two fifths of all numbers are that close to an integer.
func (r Repeats) Exact() (base, head float64, ok bool) {
	toInteger := func(side []float64) (float64, bool) {
		n := math.Round(side[0])
		return n, !slices.ContainsFunc(side, func(x float64) bool { return math.Abs(x-n) > maxIntegerOff })
	}
	base, okBase := toInteger(r.Base)
	head, okHead := toInteger(r.Head)
	isRepeated := len(r.Base) > 1 && len(r.Head) > 1
	areIntegers := okBase && okHead && base > 0 && head > 0
	return base, head, areIntegers && (isRepeated || base == head)
}

// meanLog returns the mean of the logarithms of values.
func meanLog(values []float64) float64 {
	total := 0.0
	for _, x := range values {
		total += math.Log(x)
	}
	return total / float64(len(values))
}
