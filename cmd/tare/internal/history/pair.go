package history

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Pair compares a contender, a measured program, with another on one workload and metric of one run.
type Pair struct {
	Workload  string
	Metric    string
	Contender string
	Against   string
	Ratio     float64 // contender / against; 0 if a count is zero
	Low       float64 // bounds of the interval; 0 if there are too few rounds
	High      float64
	Level     float64 // confidence of the interval, simultaneous over interim judgements
	Rounds    int
	Void      bool   // a check voided one of the two contenders
	Count     *Count // nil if the metric does not count
}

// Count contains the counts of a contender and of its reference, such as allocations per operation.
// Counts that never vary have no interval.
type Count struct {
	Value   float64 `json:"value"`
	Against float64 `json:"against"`
}

// alpha is the error level of computed intervals.
const alpha = 0.05

// PairsOf returns the pairs of a result: its comparisons and every other pair in its rounds. It adds
// pairs with the baseline in which a count is zero, so that there is no ratio.
func PairsOf(r *tare.Result) []Pair {
	c := pairCollector{result: r, known: map[pairKey]bool{}}
	for _, x := range r.Comparisons {
		if x.Ratio > 0 && !math.IsInf(x.Ratio, 0) {
			c.addPair(Pair{
				Workload: x.Workload, Metric: x.Metric, Contender: x.Contender, Against: x.Against,
				Ratio: x.Ratio, Low: x.Low, High: x.High, Level: x.Level, Rounds: x.Rounds,
			})
		}
	}
	level := stats.LookLevel(alpha, max(1, len(r.Plan.Looks)))
	for _, e := range r.Rounds {
		if isUsable(e.Effects) && !c.hasPair(e.Workload, e.Metric, e.A, e.B) {
			c.addPair(pairOfRounds(e, level))
		}
	}
	against := r.Baseline()
	for _, v := range r.Values {
		count := countOf(r, v.Workload, v.Metric, v.Contender, against)
		hasZero := count != nil && count.hasZero()
		if hasZero && v.Contender != against && !c.hasPair(v.Workload, v.Metric, v.Contender, against) {
			c.addPair(Pair{Workload: v.Workload, Metric: v.Metric, Contender: v.Contender, Against: against, Ratio: count.ratio(), Level: 1 - alpha, Rounds: v.Rounds})
		}
	}
	return c.pairs
}

type pairKey struct{ workload, metric, contender, against string }

type pairCollector struct {
	result *tare.Result
	pairs  []Pair
	known  map[pairKey]bool // keys of pairs
}

func (c *pairCollector) hasPair(workload, metric, a, b string) bool {
	return c.known[pairKey{workload, metric, a, b}] || c.known[pairKey{workload, metric, b, a}]
}

func (c *pairCollector) addPair(p Pair) {
	isVoid := func(contender string) bool { return len(c.result.VoidsMetric(contender, p.Workload, p.Metric)) > 0 }
	p.Void = isVoid(p.Contender) || isVoid(p.Against)
	p.Count = countOf(c.result, p.Workload, p.Metric, p.Contender, p.Against)
	c.known[pairKey{p.Workload, p.Metric, p.Contender, p.Against}] = true
	c.pairs = append(c.pairs, p)
}

// pairOfRounds computes a pair from the logarithms of its ratio in each round.
func pairOfRounds(e tare.Effects, level float64) Pair {
	p := Pair{
		Workload: e.Workload, Metric: e.Metric, Contender: e.A, Against: e.B,
		Ratio: math.Exp(stats.HodgesLehmann(e.Effects)), Level: 1 - alpha, Rounds: len(e.Effects),
	}
	if low, high, ok := stats.Interval(e.Effects, level); ok {
		p.Low, p.High = math.Exp(low), math.Exp(high)
	}
	return p
}

// countOf returns the counts of two contenders, or nil if one has none.
func countOf(r *tare.Result, workload, metric, contender, against string) *Count {
	find := func(id string) (count float64, ok bool) {
		v, ok := r.Value(workload, id, metric)
		return v.Value, ok && v.Value >= 0 && !math.IsInf(v.Value, 0)
	}
	value, hasValue := find(contender)
	other, hasOther := find(against)
	if m, _ := tare.MetricNamed(metric); !m.IsCount() || !hasValue || !hasOther {
		return nil
	}
	return &Count{Value: value, Against: other}
}

// hasZero reports whether a count is zero, so that there is no ratio.
func (c Count) hasZero() bool { return c.Value == 0 || c.Against == 0 }

func (c Count) ratio() float64 {
	if c.Against == 0 {
		return 0
	}
	return c.Value / c.Against
}

// isUsable reports whether calculations with effects, perhaps of a stranger's file, end soon.
func isUsable(effects []float64) bool {
	const (
		maxEffect  = 100  // logarithm of a ratio
		maxEffects = 1000 // time and memory to compute an interval grow with the square of this
	)
	for _, x := range effects {
		if math.IsNaN(x) || math.Abs(x) > maxEffect {
			return false
		}
	}
	return len(effects) > 0 && len(effects) <= maxEffects
}

// Inverted returns the pair with the contender and the reference exchanged.
func (p Pair) Inverted() Pair {
	p.Contender, p.Against = p.Against, p.Contender
	if p.Ratio > 0 {
		p.Ratio = 1 / p.Ratio
	}
	if p.Count != nil {
		p.Count = &Count{Value: p.Count.Against, Against: p.Count.Value}
		if p.Count.hasZero() {
			p.Ratio = p.Count.ratio()
		}
	}
	if p.Low > 0 && p.High > 0 {
		p.Low, p.High = 1/p.High, 1/p.Low
	}
	return p
}
