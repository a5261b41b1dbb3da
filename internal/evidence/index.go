package evidence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file finds the measurements of one contender on one workload in one round. For example: how
// much CPU time did "chi" use per operation of workload "static" in round 3?
//
// In a round the contenders take turns. A turn is called a slice: one program runs operations for
// some ms. Its CPU time contains two costs that do not come from the operations:
//   - The idle cost is the CPU time of a process that does nothing. The null contender shows it.
//   - The wake cost comes from threads that wake up when a process gets its turn. It is smaller per
//     operation in the longer slices of extra rounds.

// Key names one contender on one workload in one round.
type Key struct {
	Round               int
	Workload, Contender string
}

// At returns the key of a round, a workload and a contender.
func At(round int, workload, contender string) Key { return Key{round, workload, contender} }

// Index finds slices and samples by key. It omits void measurements and extra rounds.
type Index struct {
	rounds   []int                // ascending
	slices   map[Key][]tare.Slice // sorted by Slice.Index
	samples  map[Key]tare.Sample  // measurements of the entire process in a round
	idleCost map[workKey]float64  // CPU time per slice of a process that does nothing, in ns
	wakeCost float64              // CPU time per slice that a process uses because it gets its turn, in ns
}

type workKey struct {
	round    int
	workload string
}

// isExtraRound reports whether a round has longer slices than planned. tau is the factor of their
// length: 1 in ordinary rounds, and for example 8 in extra rounds.
func isExtraRound(tau int) bool { return tau > 1 }

func newIndex(e Evidence) *Index {
	x := &Index{slices: map[Key][]tare.Slice{}, samples: map[Key]tare.Sample{}}
	type trialKey struct { // one process
		round     int
		contender string
	}
	trials := map[trialKey]tare.Trial{}
	hasRound := map[int]bool{}
	for _, t := range e.Trials {
		if isExtraRound(t.Tau) {
			continue
		}
		hasRound[t.Round] = true
		trials[trialKey{t.Round, t.Contender}] = t
		for workload, sample := range t.Samples {
			if t.Counts(workload) {
				x.samples[At(t.Round, workload, t.Contender)] = sample
			}
		}
	}
	for _, s := range e.Slices {
		t, ok := trials[trialKey{s.Round, s.Contender}]
		isVoid := ok && !t.Counts(s.Workload)
		if isVoid || isExtraRound(s.Tau) {
			continue
		}
		hasRound[s.Round] = true
		k := At(s.Round, s.Workload, s.Contender)
		x.slices[k] = append(x.slices[k], s)
	}
	x.rounds = slices.Sorted(maps.Keys(hasRound))
	for _, ss := range x.slices {
		slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
	}
	x.idleCost = x.findIdleCosts(e)
	x.wakeCost = x.findWakeCost(e)
	return x
}

// findIdleCosts returns the CPU time per slice of the null contender, by round and workload: the
// median over its slices. A round without the null contender gets the median over the other rounds.
func (x *Index) findIdleCosts(e Evidence) map[workKey]float64 {
	costs := map[workKey]float64{}
	costsOfWorkload := map[string][]float64{} // values of the rounds
	nullIDs := e.Having(tare.RoleNull)
	for k, ss := range x.slices {
		if !slices.Contains(nullIDs, k.Contender) {
			continue
		}
		idle := make([]float64, len(ss))
		for i, s := range ss {
			idle[i] = float64(s.IdleCPUNS)
		}
		median := stats.Median(idle)
		costs[workKey{k.Round, k.Workload}] = median
		costsOfWorkload[k.Workload] = append(costsOfWorkload[k.Workload], median)
	}
	for k := range x.slices {
		work := workKey{k.Round, k.Workload}
		if _, ok := costs[work]; !ok && len(costsOfWorkload[k.Workload]) > 0 {
			costs[work] = stats.Median(costsOfWorkload[k.Workload])
		}
	}
	return costs
}

// Rounds returns the rounds with measurements, ascending.
func (x *Index) Rounds() []int { return x.rounds }

// Slices returns the slices of one key, in order.
func (x *Index) Slices(k Key) []tare.Slice { return x.slices[k] }

// Sample returns what was measured once in the round, or nil.
func (x *Index) Sample(k Key) tare.Sample { return x.samples[k] }

// WakeCost returns the wake cost of a slice in ns, or 0 if unknown.
func (x *Index) WakeCost() float64 { return x.wakeCost }

type sliceSum struct {
	ns, ops float64
	slices  float64 // includes slices without operations
}

func (s sliceSum) nsPerOp() float64     { return s.ns / s.ops }
func (s sliceSum) opsPerSlice() float64 { return s.ops / s.slices }

// findWakeCost estimates the wake cost from each pair of ordinary and longer slices of a key. It
// returns the median over the pairs of a round, and then over the extra rounds. It returns 0 if
// there are too few extra rounds.
func (x *Index) findWakeCost(e Evidence) float64 {
	costs := map[int][]float64{} // by round
	for k, long := range x.sumLongSlices(e) {
		short := sliceSum{slices: float64(len(x.slices[k]))}
		for _, s := range x.slices[k] {
			short.ns += x.cpuWithWaking(s)
			short.ops += float64(s.Ops)
		}
		if cost, ok := compareLengths(short, long); ok {
			costs[k.Round] = append(costs[k.Round], cost)
		}
	}
	if len(costs) < stats.LongRounds {
		return 0
	}
	var medians []float64
	for _, roundCosts := range costs {
		medians = append(medians, stats.Median(roundCosts))
	}
	return max(0, stats.Median(medians)) // chance can make longer slices cost more per operation
}

// sumLongSlices returns the sums of the slices of extra rounds. It omits servers under load: they
// do not take turns, so they have no wake cost.
func (x *Index) sumLongSlices(e Evidence) map[Key]sliceSum {
	sums := map[Key]sliceSum{}
	for _, s := range e.Slices {
		w, ok := e.Workload(s.Workload)
		takesTurns := ok && w.Traffic == nil
		if !takesTurns || !isExtraRound(s.Tau) {
			continue
		}
		k := At(s.Round, s.Workload, s.Contender)
		sum := sums[k]
		sum.slices++
		if s.Ops > 0 {
			sum.ns += x.cpuWithWaking(s)
			sum.ops += float64(s.Ops)
		}
		sums[k] = sum
	}
	return sums
}

// compareLengths computes the wake cost b of one key. An operation in a slice of n operations takes
// a + b/n. Two lengths give
//
//	b = (time(short) − time(long)) / (1/n(short) − 1/n(long))
//
// It returns false if the long slices have less than twice as many operations, because b is then too
// inexact.
func compareLengths(short, long sliceSum) (cost float64, ok bool) {
	if short.ops == 0 || long.opsPerSlice() < 2*short.opsPerSlice() {
		return 0, false
	}
	return (short.nsPerOp() - long.nsPerOp()) / (1/short.opsPerSlice() - 1/long.opsPerSlice()), true
}

// Cost returns the cost of a slice in ns. If metric is "cpu", it is the CPU time without the idle
// cost and the wake cost. Otherwise it is the wall time.
func (x *Index) Cost(s tare.Slice, metric string) float64 {
	if metric != "cpu" {
		return float64(s.WallNS)
	}
	cpu := x.cpuWithWaking(s)
	return max(cpu-x.wakeCost, cpu/2) // the wake cost is an estimate: subtract at most half
}

// cpuWithWaking includes the time since the previous slice, for example to complete a garbage
// collection.
func (x *Index) cpuWithWaking(s tare.Slice) float64 {
	sincePrevious := float64(s.IdleCPUNS) - x.idleCost[workKey{s.Round, s.Workload}]
	return float64(s.CPUNS) + max(0, sincePrevious)
}

// PerRound returns the values of metric for contender on workload, in round order. It omits rounds
// without a value.
func (x *Index) PerRound(m tare.Metric, workload, contender string) []float64 {
	var values []float64
	for _, r := range x.rounds {
		if v, ok := x.InRound(m, At(r, workload, contender)); ok {
			values = append(values, v)
		}
	}
	return values
}

// InRound returns the value of a metric for one key, or false if it was not measured. A value per
// operation comes from the slices. A value per round comes from the sample, and so do all values if
// there are no slices.
func (x *Index) InRound(m tare.Metric, k Key) (value float64, ok bool) {
	if !m.PerSlice || len(x.slices) == 0 {
		v, ok := x.samples[k][m.Key]
		return v, ok
	}
	var ops int64
	var ns float64
	for _, s := range x.slices[k] {
		ops += s.Ops
		ns += x.Cost(s, m.Name)
	}
	if ops <= 0 || !(ns > 0) {
		return 0, false
	}
	return ns / float64(ops), true
}
