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

// This file fits how time grows with the size of the input. For example, an exponent of 1 means
// that ten times the bytes take ten times as long.

const (
	minSizes = 3 // least number of sizes; a line through two points always fits
	minSpan  = 2 // least ratio of the largest size to the smallest; a few bytes show no growth
)

// Scaling fits how time grows with the size of the input: time ~ size^exponent. It uses least squares
// on the logarithms, in each round, for groups of workloads that differ only in size. The size is
// the levels of nesting, the members or the bytes of a body. Intervals are at 5 % each.
func Scaling(d evidence.Evidence) []tare.Scaling {
	groups := groupBySize(d.Study.Workloads)
	if len(groups) == 0 {
		return nil
	}
	x := d.Index()
	m, _ := tare.MetricNamed("time")
	var out []tare.Scaling
	for _, group := range groups {
		extent := sizeExtent(group)
		for _, c := range d.Contenders {
			if c.Role == tare.RoleControl || c.Role == tare.RoleNull { // it repeats the baseline, or does nothing
				continue
			}
			s := tare.Scaling{Contender: c.ID, Fixture: group[0].Fixture, Op: group[0].Op, By: extent}
			for _, w := range group {
				s.Workloads = append(s.Workloads, w.ID)
			}
			for _, r := range x.Rounds() {
				if e, ok := fitExponent(x, m, group, extent, c.ID, r); ok {
					s.PerRound = append(s.PerRound, e)
				}
			}
			s.Rounds = len(s.PerRound)
			if s.Rounds == 0 {
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

// groupBySize groups the workloads that differ only in size, and sorts each group by size. It keeps
// one workload of each size, and omits groups with too few sizes or too small a span.
func groupBySize(workloads []tare.Workload) [][]tare.Workload {
	type key struct {
		fixture, op, set string
		pool             int
		heap             int64
		traffic          tare.Traffic
	}
	time, _ := tare.MetricNamed("time")
	index := map[key]int{} // index in all
	var all [][]tare.Workload
	for _, w := range workloads {
		if w.Fixture == "" || !(w.BodyBytes() > 0) || !w.Measures(time) {
			continue
		}
		k := key{fixture: w.Fixture, op: w.Op, pool: w.Pool, heap: w.Heap, set: fmt.Sprint(w.Set)} // fmt prints maps sorted by key
		if w.Traffic != nil {
			k.traffic = *w.Traffic
		}
		i, ok := index[k]
		if !ok {
			i = len(all)
			index[k] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], w)
	}
	var out [][]tare.Workload
	for _, group := range all {
		extent := sizeExtent(group)
		slices.SortStableFunc(group, func(a, b tare.Workload) int { return cmp.Compare(sizeOf(a, extent), sizeOf(b, extent)) })
		group = slices.CompactFunc(group, func(a, b tare.Workload) bool { return sizeOf(a, extent) == sizeOf(b, extent) })
		if len(group) >= minSizes && sizeOf(group[len(group)-1], extent) >= minSpan*sizeOf(group[0], extent) {
			out = append(out, group)
		}
	}
	return out
}

// sizeExtent returns the measure by which the sizes of a group are compared. It is levels or members
// if that is known for all workloads and differs, else bytes.
func sizeExtent(group []tare.Workload) tare.Extent {
	for _, extent := range []tare.Extent{tare.ByLevels, tare.ByMembers} {
		differ := slices.ContainsFunc(group, func(w tare.Workload) bool { return sizeOf(w, extent) != sizeOf(group[0], extent) })
		isUnknown := slices.ContainsFunc(group, func(w tare.Workload) bool { return sizeOf(w, extent) == 0 })
		if differ && !isUnknown {
			return extent
		}
	}
	return tare.ByBytes
}

// sizeOf returns the size of a workload's body by the measure extent; 0 means unknown.
func sizeOf(w tare.Workload, extent tare.Extent) float64 {
	switch extent {
	case tare.ByLevels:
		return float64(w.Levels)
	case tare.ByMembers:
		return float64(w.Members)
	}
	return w.BodyBytes()
}

func fitExponent(x *evidence.Index, m tare.Metric, group []tare.Workload, extent tare.Extent, contender string, round int) (exponent float64, ok bool) {
	var logSizes, logTimes []float64
	for _, w := range group {
		t, ok := x.InRound(m, evidence.At(round, w.ID, contender))
		if !ok || !(t > 0) {
			return 0, false
		}
		logSizes, logTimes = append(logSizes, math.Log(sizeOf(w, extent))), append(logTimes, math.Log(t))
	}
	return leastSquares(logSizes, logTimes), true
}

// leastSquares returns the slope of the straight line with the least squared vertical distances.
// The x must not all be equal.
//
// Source: A. M. Legendre, "Nouvelles méthodes pour la détermination des orbites des comètes", 1805,
// appendix.
func leastSquares(x, y []float64) float64 {
	n := float64(len(x))
	var meanX, meanY float64
	for i := range x {
		meanX += x[i] / n
		meanY += y[i] / n
	}
	var xy, xx float64
	for i := range x {
		xy += (x[i] - meanX) * (y[i] - meanY)
		xx += (x[i] - meanX) * (x[i] - meanX)
	}
	return xy / xx
}
