package judge

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file fits how time grows with size, in addition to a fixed cost per operation. For example,
// 2 µs + 10 ns per byte: without the fixed cost, time would seem to grow less than in proportion to
// the bytes.

// minSizesWithCost is the least number of sizes for a fit with a fixed cost. It is one more than the
// parameters of the fit: cost, factor and exponent.
const minSizesWithCost = 4

// costFit is a fit of time to size with a fixed cost: time = cost + factor·size^exponent.
type costFit struct {
	exponents   []float64   // fitted in each round
	costs       []float64   // fitted in each round, as a share of the time at the smallest size
	misfits     [][]float64 // by size and round: ln(fitted/measured time), with the published exponent
	value, cost float64     // exponent and cost over all rounds
	low, high   float64     // interval of value, if enough is true
	enough      bool        // there are enough rounds for an interval
	sizeRange   float64     // largest size over smallest size
}

// fitFixedCost fits time = cost + factor·size^exponent in each round, to the times on the workloads of
// s. A straight line through the logarithms would give too small an exponent, because of the cost.
// misfits are those of a second fit, with the published exponent.
//
// ok is false if there are too few sizes, or if no round has all of them.
func (j *judge) fitFixedCost(s tare.Scaling, published float64) (out costFit, ok bool) {
	if len(s.Workloads) < minSizesWithCost {
		return out, false
	}
	x := j.evidence.Index()
	m, _ := tare.MetricNamed("time")
	out.misfits = make([][]float64, len(s.Workloads))
	for _, r := range x.Rounds() {
		var sizes, times []float64
		for _, id := range s.Workloads {
			w, _ := j.evidence.Workload(id)
			if t, ok := x.InRound(m, evidence.At(r, id, s.Contender)); ok && t > 0 {
				sizes, times = append(sizes, sizeOf(w, s.By)), append(times, t)
			}
		}
		if len(times) < len(s.Workloads) {
			continue
		}
		exponent, cost := fitCostPower(sizes, times)
		out.exponents, out.costs = append(out.exponents, exponent), append(out.costs, cost/times[0])
		for i, misfit := range logMisfits(sizes, times, published) {
			out.misfits[i] = append(out.misfits[i], misfit)
		}
		out.sizeRange = sizes[len(sizes)-1] / sizes[0]
	}
	if len(out.exponents) == 0 {
		return out, false
	}
	out.value, out.cost = stats.HodgesLehmann(out.exponents), stats.HodgesLehmann(out.costs)
	out.low, out.high, out.enough = stats.Interval(out.exponents, stats.LookLevel(alpha, j.evidence.Looks()))
	return out, true
}

// Range of exponents that fitCostPower tries.
const (
	minExponent = 0.05
	maxExponent = 4
)

// fitCostPower returns the exponent and the cost with the least sum of squared relative errors. The
// cost is not negative. It tries 41 exponents on a grid, and then three times a finer grid around the
// best one. For each exponent fitCostLine finds the other parameters.
//
// Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
// squares problems whose variables separate", SIAM Journal on Numerical Analysis 10 (1973).
func fitCostPower(sizes, times []float64) (exponent, cost float64) {
	leastError := math.Inf(1)
	low, high := float64(minExponent), float64(maxExponent)
	for range 4 {
		step := (high - low) / 40
		best := exponent
		for i := range 41 {
			p := low + float64(i)*step
			if lineCost, _, squares := fitCostLine(sizes, times, p); squares < leastError {
				leastError, best, cost = squares, p, lineCost
			}
		}
		exponent = best
		low, high = max(0.01, best-step), best+step // an exponent stays positive
	}
	return exponent, cost
}

// fitCostLine fits the line cost + factor·x with x = (size/largest size)^p to times. The weights
// 1/time² make errors relative. squares is the weighted sum of squared errors. sizes is ascending.
func fitCostLine(sizes, times []float64, p float64) (cost, factor, squares float64) {
	var sw, sx, sy, sxx, sxy float64 // sums of the weights w, and of w·x, w·time, w·x², w·x·time
	largest := sizes[len(sizes)-1]
	for i, t := range times {
		w, x := 1/(t*t), math.Pow(sizes[i]/largest, p)
		sw, sx, sy, sxx, sxy = sw+w, sx+w*x, sy+w*t, sxx+w*x*x, sxy+w*x*t
	}
	factor = (sw*sxy - sx*sy) / (sw*sxx - sx*sx)
	cost = (sy - factor*sx) / sw
	if cost < 0 { // a cost is not negative: fit a line through the origin
		cost, factor = 0, sxy/sxx
	}
	for i, t := range times {
		e := (cost + factor*math.Pow(sizes[i]/largest, p) - t) / t
		squares += e * e
	}
	return cost, factor, squares
}

// logMisfits returns ln(fitted/measured time) at each size, for the best fit with exponent p.
func logMisfits(sizes, times []float64, p float64) (misfits []float64) {
	cost, factor, _ := fitCostLine(sizes, times, p)
	for i, t := range times {
		fitted := cost + factor*math.Pow(sizes[i]/sizes[len(sizes)-1], p)
		misfits = append(misfits, math.Log(max(fitted, math.SmallestNonzeroFloat64)/t))
	}
	return misfits
}
