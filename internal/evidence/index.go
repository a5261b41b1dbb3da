package evidence

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Cell is one contender on one workload in one round.
type Cell struct {
	Round               int
	Workload, Contender string
}

// At returns the cell of a round, a workload and a contender.
func At(round int, workload, contender string) Cell { return Cell{round, workload, contender} }

// Index finds slices and samples by cell.
type Index struct {
	rounds  []int                 // ascending
	slices  map[Cell][]tare.Slice // sorted by Slice.Index
	samples map[Cell]tare.Sample
	idle    map[Cell]float64 // by round and workload: median idle CPU time of the null contender per slice, in ns
	token   float64          // CPU time that a process uses because it gets the token, in ns: see tokenCost
}

// newIndex builds the index of e. It omits parts of trials that do not count, and rounds of longer slices
// (Tau above 1), from which only tokenCost reads.
func newIndex(e Evidence) *Index {
	x := &Index{slices: map[Cell][]tare.Slice{}, samples: map[Cell]tare.Sample{}, idle: map[Cell]float64{}}
	type trialKey struct {
		round     int
		contender string
	}
	marked := map[trialKey]tare.Trial{} // trials with parts that do not count
	seen := map[int]bool{}              // rounds
	for _, t := range e.Trials {
		if t.Tau > 1 {
			continue
		}
		seen[t.Round] = true
		if !t.Counts("") {
			marked[trialKey{t.Round, t.Contender}] = t
		}
		for w, s := range t.Samples {
			if t.Counts(w) {
				x.samples[Cell{t.Round, w, t.Contender}] = s
			}
		}
	}
	for _, s := range e.Slices {
		if s.Tau > 1 {
			continue
		}
		if t, ok := marked[trialKey{s.Round, s.Contender}]; ok && !t.Counts(s.Workload) {
			continue
		}
		seen[s.Round] = true
		c := Cell{s.Round, s.Workload, s.Contender}
		x.slices[c] = append(x.slices[c], s)
	}
	for r := range seen {
		x.rounds = append(x.rounds, r)
	}
	slices.Sort(x.rounds)
	for _, ss := range x.slices {
		slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
	}
	x.setIdle(e)
	x.token = x.tokenCost(e)
	return x
}

// setIdle sets x.idle from the slices of the null contender. For a round without the null contender it
// uses the median over the other rounds.
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

// Token returns the CPU time in ns that a process uses because it gets the token: see tokenCost.
func (x *Index) Token() float64 { return x.token }

// sliceSum is the sum of the slices of a cell.
type sliceSum struct {
	ns, ops float64 // CPU time and operations
	count   int     // number of slices
}

// costPerOp returns the CPU time of an operation in ns.
func (t sliceSum) costPerOp() float64 { return t.ns / t.ops }

// opsPerSlice returns the mean number of operations of a slice.
func (t sliceSum) opsPerSlice() float64 { return t.ops / float64(max(1, t.count)) }

// tokenCost returns the CPU time in ns that a process uses because it gets the token, whatever it does with
// the token: threads of its runtime stay awake for a moment. In a slice of n operations, an operation costs
// a + b/n, where b is the cost of the token. Slices of two lengths, n and m operations, therefore give
// b = (cost(n) − cost(m)) / (1/n − 1/m). The result is the median over the contenders and workloads of a
// round, then over rounds. It is 0 if fewer than stats.LongRounds rounds have longer slices, or if an
// operation costs no less in longer slices. Servers get requests instead of tokens and are omitted.
func (x *Index) tokenCost(e Evidence) float64 {
	longSums := map[Cell]sliceSum{} // of longer slices
	for _, s := range e.Slices {
		w, ok := e.Workload(s.Workload)
		hasToken := ok && w.Traffic == nil
		if s.Tau <= 1 || !hasToken {
			continue
		}
		c := Cell{s.Round, s.Workload, s.Contender}
		sum := longSums[c]
		sum.count++
		if s.Ops > 0 {
			sum.ns, sum.ops = sum.ns+x.Cost(s, "cpu"), sum.ops+float64(s.Ops)
		}
		longSums[c] = sum
	}
	costs := map[int][]float64{} // by round
	for c, long := range longSums {
		short := sliceSum{count: len(x.slices[c])}
		for _, s := range x.slices[c] {
			short.ns, short.ops = short.ns+x.Cost(s, "cpu"), short.ops+float64(s.Ops)
		}
		if short.ops == 0 || long.opsPerSlice() < 2*short.opsPerSlice() {
			continue // the lengths are too similar to show a difference
		}
		tokensPerOp := 1/short.opsPerSlice() - 1/long.opsPerSlice() // by which short slices exceed long ones
		costs[c.Round] = append(costs[c.Round], (short.costPerOp()-long.costPerOp())/tokensPerOp)
	}
	if len(costs) < stats.LongRounds {
		return 0
	}
	var medians []float64
	for _, roundCosts := range costs {
		medians = append(medians, stats.Median(roundCosts))
	}
	return max(0, stats.Median(medians))
}

// Cost returns the cost of slice s in ns: its wall time or, if metric is "cpu", the CPU time of its process.
// The process may use CPU time after the slice, e.g. for a garbage collection. Cost adds this time, less
// the time that an idle process (the null contender) uses in that round. It subtracts the cost of the
// token, but at most half of the CPU time.
func (x *Index) Cost(s tare.Slice, metric string) float64 {
	if metric != "cpu" {
		return float64(s.WallNS)
	}
	idle := float64(s.IdleCPUNS) - x.idle[Cell{s.Round, s.Workload, ""}]
	used := float64(s.CPUNS) + max(0, idle)
	return max(used/2, used-x.token)
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

// InRound returns the value of a metric in one cell, per operation. It returns false if the metric was not
// measured. The value comes from the slices of the cell. If the metric is measured once per trial, or the
// evidence has no slices, the value comes from the sample of the cell.
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
