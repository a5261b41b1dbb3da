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
	rounds  []int // ascending
	slices  map[Cell][]tare.Slice
	samples map[Cell]tare.Sample
	idle    map[Cell]float64 // by round and workload: the null's median idle CPU per slice
	token   float64          // CPU time that a token costs, whatever is done with it, in ns
}

// newIndex sorts the evidence. What does not count is not in it.
func newIndex(e Evidence) *Index {
	x := &Index{slices: map[Cell][]tare.Slice{}, samples: map[Cell]tare.Sample{}, idle: map[Cell]float64{}}
	type place struct {
		round     int
		contender string
	}
	marked := map[place]tare.Trial{} // what of them does not count
	seen := map[int]bool{}
	for _, t := range e.Trials {
		if t.Tau > 1 {
			continue
		}
		seen[t.Round] = true
		if !t.Counts("") {
			marked[place{t.Round, t.Contender}] = t
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
		if t, ok := marked[place{s.Round, s.Contender}]; ok && !t.Counts(s.Workload) {
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
	null := ""
	for _, c := range e.Contenders {
		if c.Role == tare.RoleNull {
			null = c.ID
		}
	}
	idles := map[string][]float64{} // by workload, of all rounds
	for c, ss := range x.slices {
		slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
		if c.Contender == null {
			idle := make([]float64, len(ss))
			for i, s := range ss {
				idle[i] = float64(s.IdleCPUNS)
			}
			x.idle[Cell{c.Round, c.Workload, ""}] = stats.Median(idle)
			idles[c.Workload] = append(idles[c.Workload], stats.Median(idle))
		}
	}
	// A round that the null contender lost takes what it did in the others.
	for c := range x.slices {
		at := Cell{c.Round, c.Workload, ""}
		if _, known := x.idle[at]; !known && len(idles[c.Workload]) > 0 {
			x.idle[at] = stats.Median(idles[c.Workload])
		}
	}
	x.token = x.tokenCost(e)
	return x
}

// Rounds returns the numbers of the rounds in which something counts, ascending.
func (x *Index) Rounds() []int { return x.rounds }

// Slices returns those of a cell, in order.
func (x *Index) Slices(c Cell) []tare.Slice { return x.slices[c] }

// Sample returns the sample of a cell, or nil if there is none.
func (x *Index) Sample(c Cell) tare.Sample { return x.samples[c] }

// Token returns the CPU time in nanoseconds that being handed the token costs a process.
func (x *Index) Token() float64 { return x.token }

// tokenCost returns the CPU time that a token costs a process, in threads of its runtime that stay
// awake for a moment. In a slice of n operations an operation takes a + b/n, so that slices of two
// lengths give b. It is the median over contenders of a round, and over rounds, or 0 if there are
// fewer than three, or if longer slices cost no less. Servers have no tokens.
func (x *Index) tokenCost(e Evidence) float64 {
	long := map[Cell][2]float64{}
	for _, s := range e.Slices {
		w, ok := e.Workload(s.Workload)
		if s.Tau <= 1 || !ok || w.Traffic != nil || s.Ops <= 0 {
			continue
		}
		c := Cell{s.Round, s.Workload, s.Contender}
		sum := long[c]
		long[c] = [2]float64{sum[0] + x.Cost(s, "cpu"), sum[1] + float64(s.Ops)}
	}
	count := map[Cell]int{}
	for _, s := range e.Slices {
		if s.Tau > 1 {
			count[Cell{s.Round, s.Workload, s.Contender}]++
		}
	}
	byRound := map[int][]float64{}
	for c, of := range long {
		var ns, ops float64
		for _, s := range x.slices[c] {
			ns, ops = ns+x.Cost(s, "cpu"), ops+float64(s.Ops)
		}
		few, many := ops/float64(max(1, len(x.slices[c]))), of[1]/float64(count[c])
		if ops == 0 || many < 2*few {
			continue
		}
		byRound[c.Round] = append(byRound[c.Round], (ns/ops-of[0]/of[1])/(1/few-1/many))
	}
	if len(byRound) < stats.LongRounds {
		return 0
	}
	var medians []float64
	for _, cells := range byRound {
		medians = append(medians, stats.Median(cells))
	}
	return max(0, stats.Median(medians))
}

// Cost returns the cost of slice s in metric: wall time, or the CPU time of the process including
// that off its token (collection that finished after the token was handed back), less that of an
// idle process of the round and the cost of the token.
func (x *Index) Cost(s tare.Slice, metric string) float64 {
	if metric != "cpu" {
		return float64(s.WallNS)
	}
	idle := float64(s.IdleCPUNS) - x.idle[Cell{s.Round, s.Workload, ""}]
	used := float64(s.CPUNS) + max(0, idle)
	return max(used/2, used-x.token)
}

// PerRound returns the value of metric for contender on workload, one per
// round that has one, in round order.
func (x *Index) PerRound(m tare.Metric, workload, contender string) []float64 {
	var values []float64
	for _, r := range x.rounds {
		if v, ok := x.InRound(m, Cell{r, workload, contender}); ok {
			values = append(values, v)
		}
	}
	return values
}

// InRound returns the value of a metric in one cell, or false if it was not measured. It is
// that of the sample if the metric is measured once a trial, or the evidence has no slices.
func (x *Index) InRound(m tare.Metric, c Cell) (float64, bool) {
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
