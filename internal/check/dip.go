package check

import (
	"math"
	"slices"
)

// steps is an empirical distribution function: it jumps from below[i] to
// upTo[i] at at[i]. The same upside down and from the right is in back.
//
// The dip of values is how far their distribution is from having one hump: the smallest d for which
// some unimodal distribution function stays within d of the empirical one, everywhere. It is
// between 1/(2n) and 1/4, and is the same when they are shifted, scaled or mirrored.
//
// A distribution has one hump when its distribution function is convex up to
// the mode and concave from there on. For a given d, [fillRise] finds how low a
// convex function within d can end at each candidate mode; the same, upside
// down and from the right, is how high a concave one can begin; they join
// where the first is not above the second.
//
// Source: J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Ann.
// Statist. 13 (1985) 70–84, for the statistic and its meaning. The way to
// compute it is not theirs.
type steps struct {
	at, below, upTo           []float64
	back, backBelow, backUpTo []float64
	left, right, slopes       []float64
}

func newSteps(x []float64) *steps {
	s := slices.Clone(x)
	slices.Sort(s)
	n := float64(len(s))
	e := &steps{}
	for i, v := range s {
		if i > 0 && v == s[i-1] {
			e.upTo[len(e.upTo)-1] = float64(i+1) / n
			continue
		}
		e.at, e.below, e.upTo = append(e.at, v), append(e.below, float64(i)/n), append(e.upTo, float64(i+1)/n)
	}
	for i := len(e.at) - 1; i >= 0; i-- {
		e.back, e.backBelow, e.backUpTo = append(e.back, -e.at[i]), append(e.backBelow, 1-e.upTo[i]), append(e.backUpTo, 1-e.below[i])
	}
	e.left, e.right, e.slopes = make([]float64, len(e.at)), make([]float64, len(e.at)), make([]float64, len(e.at))
	return e
}

// isUnimodal reports whether a distribution with one hump stays within d of e.
func (e *steps) isUnimodal(d float64) bool {
	fillRise(e.left, e.slopes, e.at, e.below, e.upTo, d)
	fillRise(e.right, e.slopes, e.back, e.backBelow, e.backUpTo, d)
	for k := range e.at {
		if e.left[k]+e.right[len(e.at)-1-k] <= 1 {
			return true
		}
	}
	return false
}

// fillRise fills end: end[k] is the lowest value just before at[k] of a convex, rising function
// that stays within d of the steps below[i], upTo[i] at all earlier points; +Inf if there is none.
//
// Such a function lies between upTo[i]−d and below[i]+d at each point. What drives it up is two
// points i < j: starting as high as i allows and passing j as low as j allows, it has at least the
// slope between those from there on. slopes[j] stores that slope.
func fillRise(end, slopes, at, below, upTo []float64, d float64) {
	for k := range at {
		lowest := below[k] - d
		for j := range k {
			lowest = max(lowest, upTo[j]-d+slopes[j]*(at[k]-at[j]))
		}
		if lowest > below[k]+d {
			for ; k < len(at); k++ {
				end[k] = math.Inf(1)
			}
			return
		}
		end[k] = lowest
		if upTo[k]-below[k] > 2*d { // a jump that only the mode may have
			for k++; k < len(at); k++ {
				end[k] = math.Inf(1)
			}
			return
		}
		slopes[k] = 0
		for i := range k {
			slopes[k] = max(slopes[k], (upTo[k]-d-below[i]-d)/(at[k]-at[i]))
		}
	}
}

// dipTable holds √n times the dip that n uniform values exceed with probability 0.1 %, rounded up:
// from a million draws up to 60, 400,000 up to 180, 60,000 above (TestWorkOutDipTable repeats it).
// After the last row it grows by little.
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
