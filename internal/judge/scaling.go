package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// Requirements of a fit: a number of sizes (two would fit any), and the ratio of the largest to the
// smallest: bodies that differ by a few bytes show nothing about growth.
const (
	minSizes = 3
	minSpan  = 2
)

// Scaling fits, for the baseline, every contender and every trap, the growth of time with size:
// time ~ size^exponent, by least squares on the logarithms, separately in each round. It uses
// workloads that differ in n only and come in at least three sizes, the largest at least twice the
// smallest. Size is the levels of nesting if they differ in those, else the members if they differ
// in those, else the length of a body; there are no fits if the kind knows no size. Rounds in which
// a size was not measured are omitted. The intervals are at 5 % each, like those of exploratory
// metrics.
func Scaling(d evidence.Evidence) []tare.Scaling {
	groups := groupBySize(d.Study.Workloads)
	if len(groups) == 0 {
		return nil
	}
	x := d.Index()
	m, _ := tare.MetricNamed("time")
	var out []tare.Scaling
	for _, group := range groups {
		by := sizeExtent(group)
		for _, c := range d.Contenders {
			switch c.Role {
			case tare.RoleBaseline, tare.RoleContender, tare.RoleApart, tare.RoleTrap:
			default:
				continue
			}
			s := tare.Scaling{Contender: c.ID, Fixture: group[0].Fixture, Op: group[0].Op, By: by}
			for _, w := range group {
				s.Workloads = append(s.Workloads, w.ID)
			}
			for _, r := range x.Rounds() {
				if e, ok := findExponent(x, m, group, by, c.ID, r); ok {
					s.PerRound = append(s.PerRound, e)
				}
			}
			if s.Rounds = len(s.PerRound); s.Rounds == 0 {
				continue
			}
			s.Exponent = stats.HodgesLehmann(s.PerRound)
			s.Low, s.High, s.Level = s.Exponent, s.Exponent, 1-alpha
			if lo, hi, ok := stats.Interval(s.PerRound, stats.LookLevel(alpha, d.Looks())); ok {
				s.Low, s.High = lo, hi
			}
			out = append(out, s)
		}
	}
	return out
}

// groupBySize groups the workloads that differ in size only, each group from the smallest to the
// largest. Of two workloads of one size it takes the first.
func groupBySize(workloads []tare.Workload) [][]tare.Workload {
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
		all[i] = append(all[i], w)
	}
	var out [][]tare.Workload
	for _, group := range all {
		by := sizeExtent(group)
		slices.SortStableFunc(group, func(a, b tare.Workload) int { return cmp.Compare(sizeOf(a, by), sizeOf(b, by)) })
		group = slices.CompactFunc(group, func(a, b tare.Workload) bool { return sizeOf(a, by) == sizeOf(b, by) })
		if len(group) >= minSizes && sizeOf(group[len(group)-1], by) >= minSpan*sizeOf(group[0], by) {
			out = append(out, group)
		}
	}
	return out
}

// sizeExtent returns the extent in which the workloads of a group differ.
func sizeExtent(group []tare.Workload) tare.Extent {
	for _, by := range []tare.Extent{tare.ByLevels, tare.ByMembers} {
		if slices.ContainsFunc(group, func(w tare.Workload) bool { return sizeOf(w, by) != sizeOf(group[0], by) }) &&
			!slices.ContainsFunc(group, func(w tare.Workload) bool { return sizeOf(w, by) == 0 }) {
			return by
		}
	}
	return tare.ByBytes
}

// sizeOf returns the size of a workload's body, or 0 if the kind does not know it.
func sizeOf(w tare.Workload, by tare.Extent) float64 {
	switch by {
	case tare.ByLevels:
		return float64(w.Levels)
	case tare.ByMembers:
		return float64(w.Members)
	}
	return w.BodyBytes()
}

// findExponent returns the fit over the sizes of group in one round.
func findExponent(x *evidence.Index, m tare.Metric, group []tare.Workload, by tare.Extent, contender string, round int) (float64, bool) {
	var extents, times []float64
	for _, w := range group {
		t, ok := x.InRound(m, evidence.At(round, w.ID, contender))
		if !ok || !(t > 0) {
			return 0, false
		}
		extents, times = append(extents, math.Log(sizeOf(w, by))), append(times, math.Log(t))
	}
	return leastSquares(extents, times), true
}

// leastSquares returns the slope of the straight line through the points that has
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
