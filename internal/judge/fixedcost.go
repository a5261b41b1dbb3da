package judge

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// minSizesWithCost is the number of sizes that a fit with a fixed cost needs: it has three
// parameters.
const minSizesWithCost = 4

// costFit is a fit of time to size with a cost that is the same at each size.
type costFit struct {
	exponents   []float64   // of each round
	costs       []float64   // share of the time at the smallest size
	misfits     [][]float64 // by size: how far a fixed cost and a cost by the published exponent are from the time, as a logarithm, in each round
	value, cost float64     // of all rounds
	low, high   float64     // of value, if there are enough rounds
	enough      bool
	span        float64 // the largest size, of which the smallest is 1
}

// fitFixedCost fits time = cost + factor·size^exponent in each round, for the workloads of a fit.
// Time in proportion to size has an exponent of 1 here, whatever a call costs; a line through
// logarithms would be flatter. With the published exponent instead of a free one it returns how
// well that describes each size.
func (b *rulingData) fitFixedCost(s tare.Scaling, published float64) (out costFit, ok bool) {
	if len(s.Workloads) < minSizesWithCost {
		return out, false
	}
	x := b.d.Index()
	m, _ := tare.MetricNamed("time")
	for _, r := range x.Rounds() {
		var sizes, times []float64
		for _, id := range s.Workloads {
			for _, w := range b.d.Study.Workloads {
				if t, ok := x.InRound(m, evidence.At(r, w.ID, s.Contender)); ok && w.ID == id && t > 0 {
					sizes, times = append(sizes, sizeOf(w, s.By)), append(times, t)
				}
			}
		}
		if len(times) == len(s.Workloads) {
			exponent, cost := fitCostPower(sizes, times)
			out.span = sizes[len(sizes)-1] / sizes[0]
			out.exponents, out.costs = append(out.exponents, exponent), append(out.costs, cost/times[0])
			for i, far := range logMisfits(sizes, times, published) {
				if i == len(out.misfits) {
					out.misfits = append(out.misfits, nil)
				}
				out.misfits[i] = append(out.misfits[i], far)
			}
		}
	}
	if len(out.exponents) == 0 {
		return out, false
	}
	out.value, out.cost = stats.HodgesLehmann(out.exponents), stats.HodgesLehmann(out.costs)
	out.low, out.high, out.enough = stats.Interval(out.exponents, stats.LookLevel(alpha, b.d.Looks()))
	return out, true
}

// maxExponent bounds the exponents that are tried.
const maxExponent = 4

// fitCostPower finds the exponent and the cost, which is not below zero, with the
// least sum of squared relative errors: for an exponent the rest is a straight line,
// and exponents are tried on a grid that becomes finer.
//
// Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and
// nonlinear least squares problems whose variables separate", SIAM Journal on
// Numerical Analysis 10 (1973), which separates the linear parameters so.
func fitCostPower(sizes, times []float64) (exponent, cost float64) {
	best := math.Inf(1)
	low, high := 0.05, float64(maxExponent)
	for range 4 {
		step := (high - low) / 40
		at := exponent
		for i := range 41 {
			p := low + float64(i)*step
			if a, _, err := fitCostLine(sizes, times, p); err < best {
				best, at, cost = err, p, a
			}
		}
		exponent = at
		low, high = max(0.01, at-step), at+step
	}
	return exponent, cost
}

// fitCostLine returns the best line through times by (size/largest)^p, with weights of 1/time²:
// its cost, its factor, and its weighted sum of squares.
func fitCostLine(sizes, times []float64, p float64) (cost, factor, err float64) {
	var sw, sx, sy, sxx, sxy float64
	top := sizes[len(sizes)-1]
	for i, t := range times {
		w, x := 1/(t*t), math.Pow(sizes[i]/top, p)
		sw, sx, sy, sxx, sxy = sw+w, sx+w*x, sy+w*t, sxx+w*x*x, sxy+w*x*t
	}
	factor = (sw*sxy - sx*sy) / (sw*sxx - sx*sx)
	if cost = (sy - factor*sx) / sw; cost < 0 {
		cost, factor = 0, sxy/sxx
	}
	for i, t := range times {
		e := (cost + factor*math.Pow(sizes[i]/top, p) - t) / t
		err += e * e
	}
	return cost, factor, err
}

// logMisfits returns the differences of the best line by size^p from the time at each size, as
// logarithms.
func logMisfits(sizes, times []float64, p float64) (far []float64) {
	cost, factor, _ := fitCostLine(sizes, times, p)
	for i, t := range times {
		fitted := cost + factor*math.Pow(sizes[i]/sizes[len(sizes)-1], p)
		far = append(far, math.Log(max(fitted, math.SmallestNonzeroFloat64)/t))
	}
	return far
}
