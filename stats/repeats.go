package stats

import (
	"math"
	"slices"
)

const (
	// maxUsualFree is the largest number of degrees of freedom of the table's usual variance when it is
	// averaged with the variance of a row: rows differ in their variance, however many there are.
	maxUsualFree = 4.0
	// singleSD is the standard deviation of the logarithm of a count that is assumed, with minUsualFree
	// degrees of freedom, if fewer than minRepeated rows were repeated. Counts of most benchmarks vary by less.
	singleSD     = 0.0005
	minUsualFree = 2.0
	minRepeated  = 3
	// minRepeatSD is the least standard deviation of the logarithm of a count that is assumed.
	minRepeatSD = 0.0002
	// chiMedian is the median of χ² with two degrees of freedom.
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
	Free     float64 // degrees of freedom; 0 if the table has one row, which tells nothing about others
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
// are equal by luck still gets an interval. Each half of the interval is at least least, in the unit of the
// values: the value of a side can change by that much from build to build.
//
// Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing
// differential expression in microarray experiments", Statistical Applications in
// Genetics and Molecular Biology 3, 2004.
func (r Repeats) Compare(usual UsualVariance, least, alpha float64) (ratio, low, high float64) {
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
	minHalf := math.Log1p(least / min(slices.Min(r.Base), slices.Min(r.Head)))
	half := max(studentQuantile(1-alpha/2, free)*se, minHalf)
	return math.Exp(logRatio), math.Exp(logRatio - half), math.Exp(logRatio + half)
}

// Exact returns the integers that both sides equal. ok is false unless all values of a side are within a
// fifth of the same positive integer. One value of a side suffices only if both sides equal the same
// integer: two fifths of all numbers are as close to one by chance.
func (r Repeats) Exact() (base, head float64, ok bool) {
	toInteger := func(side []float64) (float64, bool) {
		n := math.Round(side[0])
		return n, !slices.ContainsFunc(side, func(x float64) bool { return math.Abs(x-n) > maxIntegerOff })
	}
	base, okBase := toInteger(r.Base)
	head, okHead := toInteger(r.Head)
	isRepeated := len(r.Base) > 1 && len(r.Head) > 1
	return base, head, okBase && okHead && base > 0 && head > 0 && (isRepeated || base == head)
}

// meanLog returns the mean of the logarithms of values.
func meanLog(values []float64) float64 {
	total := 0.0
	for _, x := range values {
		total += math.Log(x)
	}
	return total / float64(len(values))
}
