package check

import (
	"math"
	"slices"
)

// steps is the empirical distribution function of n values. It jumps at each value. isUnimodal tests
// whether the values may come from a distribution with one hump.
//
// The dip measures how far n values are from having one hump. It is the smallest distance between
// steps and a distribution function with one hump. The dip is between 1/(2n) and 1/4.
//
// A distribution function with one hump is convex up to the mode, the top of the hump. After the
// mode it is concave. Each value may be the mode. [fillRise] finds how low a convex function can end
// there if it stays within d of steps. Applied to the function rotated by 180°, it finds how high a
// concave function can begin there. Both join to one function if the end is not above the beginning.
//
// Source for the statistic: J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Ann.
// Statist. 13 (1985) 70–84. The algorithm is not theirs.
type steps struct {
	points, below, upTo                []float64 // the function jumps from below[i] to upTo[i] at points[i]
	rotated, rotatedBelow, rotatedUpTo []float64 // points, below and upTo of the rotated function
	left, right, slopes                []float64 // buffers of isUnimodal
}

func newSteps(x []float64) *steps {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	n := float64(len(sorted))
	e := &steps{}
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] { // a higher jump at the same value
			e.upTo[len(e.upTo)-1] = float64(i+1) / n
			continue
		}
		e.points, e.below, e.upTo = append(e.points, v), append(e.below, float64(i)/n), append(e.upTo, float64(i+1)/n)
	}
	for i := len(e.points) - 1; i >= 0; i-- {
		e.rotated, e.rotatedBelow, e.rotatedUpTo = append(e.rotated, -e.points[i]), append(e.rotatedBelow, 1-e.upTo[i]), append(e.rotatedUpTo, 1-e.below[i])
	}
	e.left, e.right, e.slopes = make([]float64, len(e.points)), make([]float64, len(e.points)), make([]float64, len(e.points))
	return e
}

// isUnimodal reports whether the dip is at most d.
func (e *steps) isUnimodal(d float64) bool {
	fillRise(e.left, e.slopes, e.points, e.below, e.upTo, d)
	fillRise(e.right, e.slopes, e.rotated, e.rotatedBelow, e.rotatedUpTo, d)
	for k := range e.points {
		if e.left[k]+e.right[len(e.points)-1-k] <= 1 { // right is rotated: the concave part begins at 1 − right
			return true
		}
	}
	return false
}

// fillRise sets end[k] to the lowest value that a convex, rising function can have just before
// points[k]. The function must stay within d of the steps at all earlier points. end[k] is +Inf
// without such a function.
//
// At each point i the function is between upTo[i]−d and below[i]+d. Two points i < j force it to
// rise. It rises least if it passes i at the upper bound and j at the lower bound. After j a convex
// function keeps at least that slope. slopes[j] is the largest such slope over all i.
func fillRise(end, slopes, points, below, upTo []float64, d float64) {
	for k := range end {
		end[k] = math.Inf(1)
	}
	for k := range points {
		lowest := below[k] - d
		for j := range k {
			lowest = max(lowest, upTo[j]-d+slopes[j]*(points[k]-points[j]))
		}
		if lowest > below[k]+d {
			return
		}
		end[k] = lowest
		if upTo[k]-below[k] > 2*d { // a function with one hump may jump that high only at the mode
			return
		}
		slopes[k] = 0
		for i := range k {
			slopes[k] = max(slopes[k], (upTo[k]-d-below[i]-d)/(points[k]-points[i]))
		}
	}
}

// dipTable returns, for some numbers of values n, a limit of the dip. root is √n times the dip that
// n uniform values exceed with probability 0.1 %, rounded up.
//
// The limits come from a simulation, which TestWorkOutDipTable repeats. It drew 1,000,000 times up
// to n = 60, 400,000 times up to n = 180, and 60,000 times above. Beyond 720, root hardly grows.
func dipTable() []struct {
	n    int
	root float64
} {
	return []struct {
		n    int
		root float64
	}{
		{12, 0.588}, {15, 0.602}, {18, 0.613}, {22, 0.626}, {27, 0.637}, {33, 0.648}, {40, 0.653},
		{50, 0.662}, {60, 0.668}, {80, 0.680}, {120, 0.692}, {180, 0.699}, {720, 0.726},
	}
}
