package stats

import (
	"math"
	"slices"
)

// Median returns the median of x, or NaN if x is empty. It is the mean of the two middle values of
// an even number.
func Median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return medianOfSorted(s)
}

// HodgesLehmann returns the pseudo-median of x: the median of its n(n+1)/2 Walsh averages. It is
// NaN if x is empty.
//
// Source: J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", Ann. Math.
// Statist. 34 (1963) 598–611.
func HodgesLehmann(x []float64) float64 {
	return medianOfSorted(walshAverages(x))
}

// walshAverages returns the averages (x_i + x_j)/2 over i ≤ j, ascending.
func walshAverages(x []float64) []float64 {
	out := make([]float64, 0, len(x)*(len(x)+1)/2)
	for i, a := range x {
		for _, b := range x[i:] {
			out = append(out, a/2+b/2)
		}
	}
	slices.Sort(out)
	return out
}

func medianOfSorted(s []float64) float64 {
	n := len(s)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}
