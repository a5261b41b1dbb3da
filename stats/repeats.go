package stats

import (
	"math"
	"slices"
)

// This file compares counts, such as instructions, that were measured only a few times. A table has
// a row for each benchmark. The rows help each other to estimate how much a repeated count varies.

const (
	// maxUsualFree is the largest weight, in degrees of freedom, of the table's usual variance. Rows
	// differ in their variance, however many there are.
	maxUsualFree = 2.5
	// singleSD is the assumed standard deviation of the logarithm of a ratio, with minUsualFree
	// degrees of freedom. It applies if fewer than minRepeated rows were repeated.
	singleSD     = 0.0007
	minUsualFree = 2.0
	minRepeated  = 3
	// minRepeatSD is the least standard deviation of the logarithm of a ratio that is assumed.
	minRepeatSD   = 0.0003
	maxIntegerOff = 0.2
)

// Repeats are repeated measurements of two sides, such as counts of instructions. Base[i] and
// Head[i] are a pair, which may share a random seed. Values without a partner do not count.
type Repeats struct{ Base, Head []float64 }

// logRatios returns the logarithms of head/base, one per pair.
func (r Repeats) logRatios() []float64 {
	ratios := make([]float64, min(len(r.Base), len(r.Head)))
	for i := range ratios {
		ratios[i] = math.Log(r.Head[i] / r.Base[i])
	}
	return ratios
}

// logVariance returns the variance of the logarithm of one ratio, and its degrees of freedom. Both
// are 0 for a single pair.
func (r Repeats) logVariance() (v, free float64) {
	ratios := r.logRatios()
	if len(ratios) < 2 {
		return 0, 0
	}
	center := computeMean(ratios)
	for _, x := range ratios {
		v += (x - center) * (x - center)
	}
	free = float64(len(ratios) - 1)
	return v / free, free
}

// UsualVariance is the usual variance of the logarithm of one ratio in a row of a table.
type UsualVariance struct {
	Variance float64
	Free     float64 // degrees of freedom; 0 with fewer than two repeated rows
}

// RepeatVariance returns the usual variance of a table. It is a median, because some benchmarks
// vary much more than others. Each variance is divided by the median of χ²/f with f degrees of
// freedom.
//
// Source of that median, (1 − 2/9f)³: E. B. Wilson and M. M. Hilferty, "The distribution of
// chi-square", Proceedings of the National Academy of Sciences 17, 1931.
func RepeatVariance(rows []Repeats) UsualVariance {
	var all []float64
	for _, r := range rows {
		if v, free := r.logVariance(); free > 0 {
			all = append(all, v/math.Pow(1-2/(9*free), 3))
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
		Variance: max(Median(all), least*least),
		Free:     min(maxUsualFree, float64(len(all)-1)/2),
	}
}

// Compare returns the geometric mean of the ratios head/base and its interval at level alpha. The
// variance is a weighted mean of that of r and the usual one. So repeats that are equal by luck
// still have an interval. Each half covers at least minChange, in the unit of the values: a side
// can change by that from build to build.
//
// Source: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential
// expression in microarray experiments", Statistical Applications in Genetics and Molecular Biology
// 3, 2004.
func (r Repeats) Compare(usual UsualVariance, minChange, alpha float64) (ratio, low, high float64) {
	v, free := r.logVariance()
	if free > 0 {
		all := usual.Free + free
		v, free = (usual.Free*usual.Variance+free*v)/all, all
	} else { // one pair
		v, free = usual.Variance, max(usual.Free, minUsualFree)
	}
	v = max(v, minRepeatSD*minRepeatSD)
	ratios := r.logRatios()
	logRatio := computeMean(ratios)
	se := math.Sqrt(v / float64(len(ratios)))
	minHalf := math.Log1p(minChange / min(slices.Min(r.Base), slices.Min(r.Head)))
	half := max(studentQuantile(1-alpha/2, free)*se, minHalf)
	return math.Exp(logRatio), math.Exp(logRatio - half), math.Exp(logRatio + half)
}

// Exact returns the integer that each side equals: all values are within a fifth of it. If a side
// has one value, both sides must equal the same integer. By chance two fifths of all numbers are
// that close to one.
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
