package evidence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file looks up measurements by contender, workload and round. A contender, a measured program, runs
// each workload in several slices a round. A slice is a timed run of a few milliseconds, in which all other
// contenders wait. The contender that may run has the token, and passes it on after its slice.
// CPU times are corrected twice (see Cost): by the cost of an idle process and by the cost of the token.

// Cell is one contender on one workload in one round.
type Cell struct {
	Round               int
	Workload, Contender string
}

// At returns the cell of a round, a workload and a contender.
func At(round int, workload, contender string) Cell { return Cell{round, workload, contender} }

// Index finds slices and samples by cell.
type Index struct {
	rounds    []int                 // ascending
	slices    map[Cell][]tare.Slice // sorted by Slice.Index
	samples   map[Cell]tare.Sample  // measurements of the entire trial, not of slices
	idle      map[Cell]float64      // by round and workload: CPU time of an idle process per slice, in ns
	tokenCost float64               // CPU time that each slice costs a process because it gets the token, in ns
}

// newIndex builds the index of e. It omits measurements that do not count, and the extra rounds with longer
// slices, which only show the cost of the token. Tau is the factor between their length and the planned one.
func newIndex(e Evidence) *Index {
	x := &Index{slices: map[Cell][]tare.Slice{}, samples: map[Cell]tare.Sample{}, idle: map[Cell]float64{}}
	voidTrials := map[Cell]tare.Trial{} // trials of which a part does not count, by round and contender
	seen := map[int]bool{}              // rounds
	for _, t := range e.Trials {
		if t.Tau > 1 { // the slices of this round are longer than planned
			continue
		}
		seen[t.Round] = true
		const allWorkloads = ""
		if !t.Counts(allWorkloads) {
			voidTrials[Cell{t.Round, "", t.Contender}] = t
		}
		for w, s := range t.Samples {
			if t.Counts(w) {
				x.samples[Cell{t.Round, w, t.Contender}] = s
			}
		}
	}
	for _, s := range e.Slices {
		t, ok := voidTrials[Cell{s.Round, "", s.Contender}]
		isVoid := ok && !t.Counts(s.Workload)
		if isLonger := s.Tau > 1; isLonger || isVoid {
			continue
		}
		seen[s.Round] = true
		c := Cell{s.Round, s.Workload, s.Contender}
		x.slices[c] = append(x.slices[c], s)
	}
	x.rounds = slices.Sorted(maps.Keys(seen))
	for _, ss := range x.slices {
		slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
	}
	x.setIdle(e)
	x.tokenCost = x.findTokenCost(e)
	return x
}

// setIdle sets x.idle from the slices of the null contender, which does nothing. For a round without the
// null contender it uses the median over the other rounds.
func (x *Index) setIdle(e Evidence) {
	null := ""
	for _, c := range e.Contenders {
		if c.Role == tare.RoleNull {
			null = c.ID
		}
	}
	medians := map[string][]float64{} // by workload: one per round
	for c, ss := range x.slices {
		if c.Contender != null {
			continue
		}
		idle := make([]float64, len(ss))
		for i, s := range ss {
			idle[i] = float64(s.IdleCPUNS)
		}
		median := stats.Median(idle)
		x.idle[Cell{c.Round, c.Workload, ""}] = median
		medians[c.Workload] = append(medians[c.Workload], median)
	}
	for c := range x.slices {
		key := Cell{c.Round, c.Workload, ""}
		if _, ok := x.idle[key]; !ok && len(medians[c.Workload]) > 0 {
			x.idle[key] = stats.Median(medians[c.Workload])
		}
	}
}

// Rounds returns the numbers of the rounds with measurements that count, ascending.
func (x *Index) Rounds() []int { return x.rounds }

// Slices returns the slices of a cell, in order.
func (x *Index) Slices(c Cell) []tare.Slice { return x.slices[c] }

// Sample returns the sample of a cell, or nil for an empty cell.
func (x *Index) Sample(c Cell) tare.Sample { return x.samples[c] }

// Token returns the CPU time in ns that each slice costs a process because it gets the token, or 0 if unknown.
func (x *Index) Token() float64 { return x.tokenCost }

// sliceSum is the sum of several slices of one cell.
type sliceSum struct {
	ns, ops float64
	slices  float64 // number of slices, including slices without operations
}

func (s sliceSum) nsPerOp() float64     { return s.ns / s.ops }
func (s sliceSum) opsPerSlice() float64 { return s.ops / s.slices }

// findTokenCost returns the CPU time in ns that each slice costs a process because it gets the token: threads
// of its runtime stay awake for a moment, whatever the slice does. It compares slices of the planned length
// with longer ones. The result is the median over the contenders and workloads of a round, and then over
// rounds. It is 0 if there are fewer than stats.LongRounds rounds with longer slices.
func (x *Index) findTokenCost(e Evidence) float64 {
	costs := map[int][]float64{} // by round
	for c, long := range x.sumLongSlices(e) {
		short := sliceSum{slices: float64(len(x.slices[c]))}
		for _, s := range x.slices[c] {
			short.ns += x.Cost(s, "cpu")
			short.ops += float64(s.Ops)
		}
		if cost, ok := compareLengths(short, long); ok {
			costs[c.Round] = append(costs[c.Round], cost)
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

// sumLongSlices returns the sums of the longer slices. It omits workloads with load, whose servers get no
// tokens.
func (x *Index) sumLongSlices(e Evidence) map[Cell]sliceSum {
	sums := map[Cell]sliceSum{}
	for _, s := range e.Slices {
		w, ok := e.Workload(s.Workload)
		hasToken := ok && w.Traffic == nil
		if isLonger := s.Tau > 1; !isLonger || !hasToken {
			continue
		}
		c := Cell{s.Round, s.Workload, s.Contender}
		sum := sums[c]
		sum.slices++
		if s.Ops > 0 {
			sum.ns += x.Cost(s, "cpu")
			sum.ops += float64(s.Ops)
		}
		sums[c] = sum
	}
	return sums
}

// compareLengths computes the cost of the token from short and long slices of one cell. The time of an
// operation in a slice of n operations is a + b/n: a is the time of the work, and b the cost of the token.
// Two lengths give two equations, and so
//
//	b = (time(short) − time(long)) / (1/n(short) − 1/n(long))
//
// It returns false if the long slices have less than twice as many operations, because b is then too inexact.
func compareLengths(short, long sliceSum) (cost float64, ok bool) {
	if short.ops == 0 || long.opsPerSlice() < 2*short.opsPerSlice() {
		return 0, false
	}
	return (short.nsPerOp() - long.nsPerOp()) / (1/short.opsPerSlice() - 1/long.opsPerSlice()), true
}

// Cost returns the cost of a slice in ns: its wall time, or if metric is "cpu" the CPU time of its process.
// The CPU time includes that since the previous slice, e.g. of a garbage collection that ended after it. It
// does not include the CPU time of an idle process, nor the cost of the token.
func (x *Index) Cost(s tare.Slice, metric string) float64 {
	if metric != "cpu" {
		return float64(s.WallNS)
	}
	betweenSlices := float64(s.IdleCPUNS) - x.idle[Cell{s.Round, s.Workload, ""}]
	used := float64(s.CPUNS) + max(0, betweenSlices)
	return max(used-x.tokenCost, used/2) // the cost of the token is an estimate: subtract at most half
}

// PerRound returns the values of metric for contender on workload, in round order. Rounds without a
// value are omitted.
func (x *Index) PerRound(m tare.Metric, workload, contender string) []float64 {
	var values []float64
	for _, r := range x.rounds {
		if v, ok := x.InRound(m, Cell{r, workload, contender}); ok {
			values = append(values, v)
		}
	}
	return values
}

// InRound returns the value of a metric in one cell. It returns false if the metric was not measured.
// The value comes from the slices of the cell. If the metric is measured once per trial, or the
// evidence has no slices, it comes from the sample.
func (x *Index) InRound(m tare.Metric, c Cell) (value float64, ok bool) {
	if !m.PerSlice || len(x.slices) == 0 {
		v, ok := x.samples[c][m.Key]
		return v, ok
	}
	var ops int64
	var ns float64
	for _, s := range x.slices[c] {
		ops += s.Ops
		ns += x.Cost(s, m.Name)
	}
	if ops <= 0 || !(ns > 0) {
		return 0, false
	}
	return ns / float64(ops), true
}
