package bisect

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file turns comparisons of a commit with the good revision into effects. For example, a round
// in which the commit took 10 % longer has the effect ln(1.10).

// Quantity is the metric of a benchmark whose change the bisection looks for.
type Quantity struct {
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Sign      float64 `json:"sign"` // 1 if more is bad, -1 if less is bad
}

// IsDifference reports whether effects are differences of counts, which may be 0. Others, such as
// those of time, are logarithms of ratios.
func (q Quantity) IsDifference() bool { return tare.MetricFor(q.Metric).IsCount() || q.IsCounted() }

// IsCounted reports whether the metric is counted outside of rounds, as instructions are.
// Allocations are counted in each round.
func (q Quantity) IsCounted() bool { return tare.MetricFor(q.Metric).Counted }

func (q Quantity) findComparison(r *tare.Result) (c tare.Comparison, ok bool) {
	return tare.FindComparison(r.Comparisons, q.Benchmark, benchstudy.Head, q.Metric)
}

// countBatch returns the difference of a metric that is counted outside of rounds, as a batch of one
// effect. If nothing was counted, the error is a *SkipError.
func (q Quantity) countBatch(r *tare.Result) (Batch, error) {
	c, ok := q.findComparison(r)
	if !ok {
		why := "its instructions were not counted"
		for _, f := range r.Findings {
			isAboutBenchmark := f.Workload == "" || f.Workload == q.Benchmark
			if f.Check == benchstudy.NotCounted().ID && isAboutBenchmark {
				why = "not counted: " + f.Message
			}
		}
		return Batch{}, &SkipError{Why: why}
	}
	interval := func(alpha float64) (low, high float64) {
		for _, c := range counts.CompareWork(r.Work, benchstudy.Base, alpha) {
			if c.Workload == q.Benchmark {
				low, high = q.Sign*(c.Low-1)*c.AgainstValue, q.Sign*(c.High-1)*c.AgainstValue // from ratios to differences
			}
		}
		return min(low, high), max(low, high) // converted from ratios to differences
	}
	return Batch{Effects: []float64{q.Sign * (c.Value - c.AgainstValue)}, Interval: interval, IsLast: true}, nil
}

// Batch returns the effects of the rounds of a result, positive towards the bad revision. The
// control, base measured twice, shows the noise. The error is a *SkipError if the result is void or
// a side fails.
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
	if q.IsDifference() {
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

// countDifferences returns side − base of each round, and whether neither varies.
func (q Quantity) countDifferences(r *tare.Result, side string) (effects []float64, exact bool) {
	metric, _ := tare.MetricNamed(q.Metric)
	index := evidence.FromResult(r).Index()
	var baseCounts, sideCounts []float64
	for _, round := range index.Rounds() {
		baseCount, baseOK := index.InRound(metric, evidence.At(round, q.Benchmark, benchstudy.Base))
		sideCount, sideOK := index.InRound(metric, evidence.At(round, q.Benchmark, side))
		if baseOK && sideOK {
			effects = append(effects, sideCount-baseCount)
			baseCounts, sideCounts = append(baseCounts, baseCount), append(sideCounts, sideCount)
		}
	}
	return effects, benchstudy.IsConstant(baseCounts) && benchstudy.IsConstant(sideCounts)
}

// BaseValue returns the good revision's median over rounds, or 0.
func (q Quantity) BaseValue(r *tare.Result) float64 {
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

// ClearestChange returns the quantity with the largest change, relative to its noise or, for
// counts, to base.
func ClearestChange(r *tare.Result, quantities []Quantity) Quantity {
	const (
		alpha     = 0.5
		minSpread = 0.005 // added to the half-width, which may be 0
	)
	clearest, maxChange := quantities[0], math.Inf(-1)
	for _, q := range quantities {
		b, err := q.Batch(r)
		if err != nil || len(b.Effects) == 0 {
			continue
		}
		half, _ := stats.HalfWidth(b.Effects, alpha)
		change := stats.HodgesLehmann(b.Effects)
		if !q.IsDifference() {
			change /= half + minSpread
		} else if base := q.BaseValue(r); base > 0 {
			change /= base
		}
		if change > maxChange {
			clearest, maxChange = q, change
		}
	}
	return clearest
}
