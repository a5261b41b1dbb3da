package bisect

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// Quantity is a metric of a benchmark that is searched for a change, and the direction of the
// change.
type Quantity struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Sign      float64 `json:"sign"` // 1: more of it is bad; -1: less
}

// Counts reports whether changes are differences of counts, and not ratios.
func (q Quantity) Counts() bool { return tare.MetricFor(q.Metric).IsCount() }

// IsCounted reports whether the metric is counted outside of rounds.
func (q Quantity) IsCounted() bool { return tare.MetricFor(q.Metric).Counted }

// findComparison returns the comparison of a metric that is counted outside of rounds.
func (q Quantity) findComparison(r *tare.Result) (tare.Comparison, bool) {
	for _, c := range r.Comparisons {
		if c.Workload == q.Benchmark && c.Metric == q.Metric && c.Contender == benchstudy.Head {
			return c, true
		}
	}
	return tare.Comparison{}, false
}

// countBatch returns the one difference of a count. If nothing was counted, the error is a
// *SkipError with the reason.
func (q Quantity) countBatch(r *tare.Result) (Batch, error) {
	c, ok := q.findComparison(r)
	if !ok {
		why := "its instructions were not counted"
		for _, f := range r.Findings {
			if f.Check == benchstudy.NotCounted().ID && (f.Workload == "" || f.Workload == q.Benchmark) {
				why = "not counted: " + f.Message
			}
		}
		return Batch{}, &SkipError{Why: why}
	}
	half := max(minHalfWidth, (c.High-c.Low)/2*c.AgainstValue)
	return Batch{Effects: []float64{q.Sign * (c.Value - c.AgainstValue)}, Half: half, Last: true}, nil
}

// minHalfWidth is half the width of the interval of an exact count, which has none.
const minHalfWidth = 1e-9

// Batch returns the rounds of a result of two sides.
func (q Quantity) Batch(r *tare.Result) (Batch, error) {
	for _, id := range []string{benchstudy.Head, benchstudy.Base} {
		if fs := r.VoidsMetric(id, q.Benchmark, q.Metric); len(fs) > 0 {
			return Batch{}, &SkipError{Why: fmt.Sprintf("void: %s: %s", fs[0].Check, fs[0].Message)}
		}
	}
	if q.IsCounted() {
		return q.countBatch(r)
	}
	var b Batch
	if q.Counts() {
		b.Effects, b.Exact = q.countDifferences(r, benchstudy.Head)
		b.Control, _ = q.countDifferences(r, tare.ControlID)
	} else {
		b.Effects = q.logRatios(r, benchstudy.Head)
		b.Control = q.logRatios(r, tare.ControlID)
	}
	for i := range b.Effects {
		b.Effects[i] *= q.Sign
	}
	if len(b.Effects) == 0 {
		for _, t := range r.Trials {
			if t.Error != nil {
				return b, &SkipError{Why: fmt.Sprintf("%s fails: %s", t.Contender, t.Error.Message)}
			}
		}
	}
	return b, nil
}

// logRatios returns ln(side/base) of each round.
func (q Quantity) logRatios(r *tare.Result, side string) []float64 {
	e, _ := tare.EffectsOf(r.Rounds, q.Benchmark, q.Metric, side, benchstudy.Base)
	return slices.DeleteFunc(slices.Clone(e.Effects), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// countTolerance is the range within which counts are the same: values may carry a share of the
// allocations before the loop.
const countTolerance = 0.5

// countDifferences returns side − base of each round, and whether each side had the same count in
// all of them.
func (q Quantity) countDifferences(r *tare.Result, side string) (effects []float64, exact bool) {
	metric, _ := tare.MetricNamed(q.Metric)
	index := evidence.FromResult(r).Index()
	var all [2][]float64
	for _, round := range index.Rounds() {
		was, ok1 := index.InRound(metric, evidence.At(round, q.Benchmark, benchstudy.Base))
		is, ok2 := index.InRound(metric, evidence.At(round, q.Benchmark, side))
		if ok1 && ok2 {
			effects = append(effects, is-was)
			all[0], all[1] = append(all[0], was), append(all[1], is)
		}
	}
	exact = len(effects) > 0
	for _, xs := range all {
		exact = exact && slices.Max(xs)-slices.Min(xs) < countTolerance
	}
	return effects, exact
}

// Base returns the value of the good revision: the median over rounds; 0 without rounds.
func (q Quantity) Base(r *tare.Result) float64 {
	if c, ok := q.findComparison(r); ok && q.IsCounted() {
		return c.AgainstValue
	}
	metric, _ := tare.MetricNamed(q.Metric)
	xs := evidence.FromResult(r).Index().PerRound(metric, q.Benchmark, benchstudy.Base)
	if len(xs) == 0 {
		return 0
	}
	return stats.Median(xs)
}

// Widest returns the quantity that changes most in its direction, relative to how much its rounds
// differ.
func Widest(r *tare.Result, of []Quantity) Quantity {
	best, most := of[0], math.Inf(-1)
	for _, q := range of {
		b, err := q.Batch(r)
		if err != nil || len(b.Effects) == 0 {
			continue
		}
		half, _ := stats.HalfWidth(b.Effects, 0.5)
		at := stats.HodgesLehmann(b.Effects)
		if !q.Counts() {
			at /= half + 0.005
		} else if base := q.Base(r); base > 0 {
			at /= base
		}
		if at > most {
			best, most = q, at
		}
	}
	return best
}
