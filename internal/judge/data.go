package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Data is what verdicts are read from. What does not count of a trial
// ([tare.Trial.Counts]) is in no effect and no figure.
type Data struct {
	Study      tare.Study
	Plan       tare.Plan
	Contenders []tare.Contender
	Rounds     int              // whole rounds at the plan's slice length
	Slices     []tare.Slice     // of those rounds; others (tau above 1) are ignored
	Long       []tare.Slice     // of rounds with longer slices: they say what a token costs
	Trials     []tare.Trial     // of those rounds; others (tau above 1) are ignored
	Semantics  []tare.Semantics // what answers were found to mean, outside the rounds
	Final      bool             // the study has stopped: no more rounds will come

	Conformance []tare.Conformance // how contenders answered what was known beforehand
}

// looks is how many times the evidence is looked at.
func (d Data) looks() int { return max(1, len(d.Plan.Looks)) }

// contender returns the contender with that id.
func (d Data) contender(id string) (tare.Contender, bool) {
	i := slices.IndexFunc(d.Contenders, func(c tare.Contender) bool { return c.ID == id })
	if i < 0 {
		return tare.Contender{}, false
	}
	return d.Contenders[i], true
}

// compared returns the contenders that are compared with the baseline: all but
// traps and the null contender.
func (d Data) compared() []string {
	return d.having(tare.RoleBaseline, tare.RoleContender, tare.RoleControl, tare.RoleApart)
}

// alike returns those of them that are compared with each other as well.
func (d Data) alike() []string {
	return d.having(tare.RoleBaseline, tare.RoleContender, tare.RoleControl)
}

// having returns the contenders that have one of the roles.
func (d Data) having(roles ...tare.Role) []string {
	var ids []string
	for _, c := range d.Contenders {
		if slices.Contains(roles, c.Role) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// workload returns the workload with that id.
func (d Data) workload(id string) (tare.Workload, bool) {
	i := slices.IndexFunc(d.Study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}, false
	}
	return d.Study.Workloads[i], true
}

// metricsOf returns those of metrics that say anything about workload w.
func metricsOf(w tare.Workload, metrics []string) []string {
	var out []string
	for _, name := range metrics {
		if m, ok := tare.MetricNamed(name); ok && w.Measures(m) {
			out = append(out, name)
		}
	}
	return out
}

// measures reports whether the workload with that id is measured and metric
// says anything about it; else why not.
func (d Data) measures(workload, metric string) (why string, ok bool) {
	w, ok := d.workload(workload)
	if !ok {
		return workload + " was not measured", false
	}
	if len(metricsOf(w, []string{metric})) > 0 {
		return "", true
	}
	switch m, _ := tare.MetricNamed(metric); {
	case m.IsLatency():
		return workload + " has no continuous segment, and latencies take one", false
	case w.Op != tare.OpStop && m.Name == "stop":
		return workload + " ends no server", false
	}
	return fmt.Sprintf("%s runs at a given rate, which sets the time of an operation", workload), false
}

// primary is the study's first metric.
func (d Data) primary() string {
	if len(d.Study.Metrics) == 0 {
		return ""
	}
	return d.Study.Metrics[0]
}

// cell is one contender on one workload in one round.
type cell struct {
	round               int
	workload, contender string
}

// index finds slices and samples by cell.
type index struct {
	rounds  []int // ascending
	slices  map[cell][]tare.Slice
	samples map[cell]tare.Sample
	idle    map[cell]float64 // by round and workload: the null's median idle CPU per slice
	token   float64          // CPU time that a token costs, whatever is done with it, in ns
}

// newIndex sorts the evidence of d. What does not count is not in it.
func newIndex(d Data) *index {
	x := &index{slices: map[cell][]tare.Slice{}, samples: map[cell]tare.Sample{}, idle: map[cell]float64{}}
	type place struct {
		round     int
		contender string
	}
	marked := map[place]tare.Trial{} // what of them does not count
	seen := map[int]bool{}
	for _, t := range d.Trials {
		if t.Tau > 1 {
			continue
		}
		seen[t.Round] = true
		if !t.Counts("") {
			marked[place{t.Round, t.Contender}] = t
		}
		for w, s := range t.Samples {
			if t.Counts(w) {
				x.samples[cell{t.Round, w, t.Contender}] = s
			}
		}
	}
	for _, s := range d.Slices {
		if s.Tau > 1 {
			continue
		}
		if t, ok := marked[place{s.Round, s.Contender}]; ok && !t.Counts(s.Workload) {
			continue
		}
		seen[s.Round] = true
		c := cell{s.Round, s.Workload, s.Contender}
		x.slices[c] = append(x.slices[c], s)
	}
	for r := range seen {
		x.rounds = append(x.rounds, r)
	}
	slices.Sort(x.rounds)
	null := ""
	for _, c := range d.Contenders {
		if c.Role == tare.RoleNull {
			null = c.ID
		}
	}
	idles := map[string][]float64{} // by workload, of all rounds
	for c, ss := range x.slices {
		slices.SortFunc(ss, func(a, b tare.Slice) int { return cmp.Compare(a.Index, b.Index) })
		if c.contender == null {
			idle := make([]float64, len(ss))
			for i, s := range ss {
				idle[i] = float64(s.IdleCPUNS)
			}
			x.idle[cell{c.round, c.workload, ""}] = stats.Median(idle)
			idles[c.workload] = append(idles[c.workload], stats.Median(idle))
		}
	}
	// A round that the null contender lost takes what it did in the others.
	for c := range x.slices {
		at := cell{c.round, c.workload, ""}
		if _, known := x.idle[at]; !known && len(idles[c.workload]) > 0 {
			x.idle[at] = stats.Median(idles[c.workload])
		}
	}
	x.token = x.tokenCost(d)
	return x
}

// tokenCost is the CPU time that a token costs a process, in threads of its
// runtime that stay awake for a moment. In a slice of n operations an operation
// takes a + b/n, so that slices of two lengths give b. It is the median over
// contenders of a round, and over rounds; zero where there are fewer than three,
// or where longer slices cost no less. Servers have no tokens.
func (x *index) tokenCost(d Data) float64 {
	long := map[cell][2]float64{}
	for _, s := range d.Long {
		w, ok := d.workload(s.Workload)
		if !ok || w.Traffic != nil || s.Ops <= 0 {
			continue
		}
		c := cell{s.Round, s.Workload, s.Contender}
		sum := long[c]
		long[c] = [2]float64{sum[0] + x.cost(s, "cpu"), sum[1] + float64(s.Ops)}
	}
	count := map[cell]int{}
	for _, s := range d.Long {
		count[cell{s.Round, s.Workload, s.Contender}]++
	}
	byRound := map[int][]float64{}
	for c, of := range long {
		var ns, ops float64
		for _, s := range x.slices[c] {
			ns, ops = ns+x.cost(s, "cpu"), ops+float64(s.Ops)
		}
		few, many := ops/float64(max(1, len(x.slices[c]))), of[1]/float64(count[c])
		if ops == 0 || many < 2*few {
			continue
		}
		byRound[c.round] = append(byRound[c.round], (ns/ops-of[0]/of[1])/(1/few-1/many))
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

// cost is what slice s took in metric: wall time, or the CPU time of the
// process with what it did off its token (collection that finished after the
// token was handed back), less what an idle process of that round did there and
// what the token costs.
func (x *index) cost(s tare.Slice, metric string) float64 {
	if metric != "cpu" {
		return float64(s.WallNS)
	}
	idle := float64(s.IdleCPUNS) - x.idle[cell{s.Round, s.Workload, ""}]
	used := float64(s.CPUNS) + max(0, idle)
	return max(used/2, used-x.token)
}

// perRound returns the value of metric for contender on workload, one per
// round that has one, in round order.
func (x *index) perRound(m tare.Metric, workload, contender string) []float64 {
	var values []float64
	for _, r := range x.rounds {
		if v, ok := x.inRound(m, cell{r, workload, contender}); ok {
			values = append(values, v)
		}
	}
	return values
}

// inRound returns the value of metric in one cell; false where it was not
// measured.
func (x *index) inRound(m tare.Metric, c cell) (float64, bool) {
	if !m.PerSlice {
		v, ok := x.samples[c][m.Key]
		return v, ok
	}
	var ops int64
	var ns float64
	for _, s := range x.slices[c] {
		ops += s.Ops
		ns += x.cost(s, m.Name)
	}
	if ops <= 0 || !(ns > 0) {
		return 0, false
	}
	return ns / float64(ops), true
}
