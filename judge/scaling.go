package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// An exponent is fitted over so many sizes (two would fit any), of which the
// largest is so many times the smallest: bodies that differ by a few bytes
// say nothing about growth.
const (
	fewestSizes = 3
	leastSpan   = 2
)

// Scaling fits, for the baseline, every contender and every trap, how time
// grows with the length of a body: time ~ bytes^exponent, by least squares on
// the logarithms, in each round anew. It takes workloads that have all but n
// in common and come in at least three lengths, the longest twice the shortest
// or more; where the kind cannot tell lengths there are none. Rounds in which a size was not measured are
// left out. The intervals stand at 5 % each, like those of exploratory metrics.
func Scaling(d Data) []tare.Scaling {
	groups := sizes(d.Study.Workloads)
	if len(groups) == 0 {
		return nil
	}
	x := newIndex(d)
	m, _ := tare.MetricNamed("time")
	var out []tare.Scaling
	for _, group := range groups {
		for _, c := range d.Contenders {
			switch c.Role {
			case tare.RoleBaseline, tare.RoleContender, tare.RoleApart, tare.RoleTrap:
			default:
				continue
			}
			s := tare.Scaling{Contender: c.ID, Fixture: group[0].Fixture, Op: group[0].Op}
			for _, w := range group {
				s.Workloads = append(s.Workloads, w.ID)
			}
			for _, r := range x.rounds {
				if e, ok := x.exponent(m, group, c.ID, r); ok {
					s.PerRound = append(s.PerRound, e)
				}
			}
			if s.Rounds = len(s.PerRound); s.Rounds == 0 {
				continue
			}
			s.Exponent = stats.HodgesLehmann(s.PerRound)
			s.Low, s.High, s.Level = s.Exponent, s.Exponent, 1-alpha
			if lo, hi, ok := stats.Interval(s.PerRound, stats.LookLevel(alpha, d.looks())); ok {
				s.Low, s.High = lo, hi
			}
			out = append(out, s)
		}
	}
	return out
}

// sizes groups the workloads that differ in the length of their bodies only,
// each group from the shortest to the longest. Of two workloads with bodies of
// one length the first is taken.
func sizes(workloads []tare.Workload) [][]tare.Workload {
	type key struct {
		fixture, op, set string
		pool             int
		heap             int64
		traffic          tare.Traffic
	}
	time, _ := tare.MetricNamed("time")
	at := map[key]int{}
	var all [][]tare.Workload
	for _, w := range workloads {
		if w.Fixture == "" || !(w.BodyBytes() > 0) || !w.Measures(time) {
			continue
		}
		k := key{fixture: w.Fixture, op: w.Op, pool: w.Pool, heap: w.Heap, set: fmt.Sprint(w.Set)} // which prints a map in order
		if w.Traffic != nil {
			k.traffic = *w.Traffic
		}
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k] = i
			all = append(all, nil)
		}
		if !slices.ContainsFunc(all[i], func(o tare.Workload) bool { return o.BodyBytes() == w.BodyBytes() }) {
			all[i] = append(all[i], w)
		}
	}
	var out [][]tare.Workload
	for _, group := range all {
		if len(group) >= fewestSizes {
			slices.SortFunc(group, func(a, b tare.Workload) int { return cmp.Compare(a.BodyBytes(), b.BodyBytes()) })
			if group[len(group)-1].BodyBytes() >= leastSpan*group[0].BodyBytes() {
				out = append(out, group)
			}
		}
	}
	return out
}

// exponent is the fit over the sizes of group in one round.
func (x *index) exponent(m tare.Metric, group []tare.Workload, contender string, round int) (float64, bool) {
	var bytes, times []float64
	for _, w := range group {
		t, ok := x.inRound(m, cell{round, w.ID, contender})
		if !ok || !(t > 0) {
			return 0, false
		}
		bytes, times = append(bytes, math.Log(w.BodyBytes())), append(times, math.Log(t))
	}
	return leastSquares(bytes, times), true
}

// leastSquares is the slope of the straight line through the points that has
// the smallest sum of squared vertical distances. The x must not all be equal.
//
// Source: A. M. Legendre, "Nouvelles méthodes pour la détermination des
// orbites des comètes", 1805, appendix.
func leastSquares(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	var xy, xx float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	return xy / xx
}
