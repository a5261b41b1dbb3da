package judge

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file computes the effect of each round: the logarithm of the ratio of two contenders,
// ln(a/b). For example, in round 3 chi takes 0.88 times as long as the baseline: its effect is
// −0.128. All intervals are computed from these effects, one per round.

// Effects compares contenders in pairs. For each pair, workload and metric it returns ln(a/b) of
// every round. On the primary metric it compares all pairs, on others only pairs with the baseline,
// which is then b. Traps, which repeat a published mistake, and the null contender are in no pair.
//
// A slice is one timed turn of a contender in a round. Metrics of slices are computed from slices of
// equal index, in blocks. Metrics of a trial have one value per round. Rounds without both values are
// omitted; the effects then list their rounds.
//
// If a value of a trial is zero in any round, the entire pair is omitted. Omitting only that round
// would select by outcome.
func Effects(d evidence.Evidence) []tare.Effects {
	x := d.Index()
	var out []tare.Effects
	for _, w := range d.Study.Workloads {
		for _, name := range evidence.MetricsOf(w, d.Study.Metrics) {
			for _, p := range listPairs(d, name) {
				if e := computeEffects(x, d, w.ID, name, p[0], p[1]); len(e.Effects) > 0 {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// listPairs returns the pairs to compare by a metric.
func listPairs(d evidence.Evidence, metric string) [][2]string {
	var out [][2]string
	for _, a := range d.Compared() {
		if a != d.Study.Baseline {
			out = append(out, [2]string{a, d.Study.Baseline})
		}
	}
	if metric != d.Primary() {
		return out
	}
	ids := d.Alike()
	for i, a := range ids {
		for _, b := range ids[i+1:] {
			if a != d.Study.Baseline && b != d.Study.Baseline {
				out = append(out, [2]string{a, b})
			}
		}
	}
	return out
}

func computeEffects(x *evidence.Index, d evidence.Evidence, workload, metric, a, b string) tare.Effects {
	e := tare.Effects{Workload: workload, Metric: metric, A: a, B: b}
	m, ok := tare.MetricNamed(metric)
	if !ok {
		return e
	}
	if !m.PerSlice {
		e.Effects, e.Of = effectsOfTrials(x, m, workload, a, b)
		return e
	}
	var rounds []int
	for _, r := range x.Rounds() {
		if effect, sum, ok := effectWithControl(x, d, metric, evidence.At(r, workload, a), evidence.At(r, workload, b)); ok {
			e.Effects = append(e.Effects, effect)
			e.Sums = append(e.Sums, sum)
			rounds = append(rounds, r)
		}
	}
	e.Of = listRounds(rounds)
	return e
}

// effectWithControl returns ln(a/b) in one round: effect from blocks of slices, and sum from the sums
// of all slices. If b is the baseline, both may be the mean of ln(a/baseline) and ln(a/control).
// Baseline and control are the same program, so the mean has a smaller error.
func effectWithControl(x *evidence.Index, d evidence.Evidence, metric string, a, b evidence.Key) (effect, sum float64, ok bool) {
	effect, sum, ok = effectWithoutControl(x, d, metric, a, b)
	isToBaseline := b.Contender == d.Study.Baseline && a.Contender != tare.ControlID
	if !ok || !isToBaseline || d.Plan.Reference != tare.BaselineAndControl {
		return effect, sum, ok
	}
	b.Contender = tare.ControlID
	if controlEffect, controlSum, ok := effectWithoutControl(x, d, metric, a, b); ok {
		return (effect + controlEffect) / 2, (sum + controlSum) / 2, true
	}
	return effect, sum, true
}

// effectWithoutControl returns the effect and the sum of a and b only.
func effectWithoutControl(x *evidence.Index, d evidence.Evidence, metric string, a, b evidence.Key) (effect, sum float64, ok bool) {
	p, q := pairSlices(x, metric, a, b)
	sum = stats.SumEffect(p, q)
	if !isFinite(sum) {
		return 0, 0, false
	}
	slicing, _ := d.Plan.Slicing(a.Workload)
	if !slicing.RatioOfSums && d.Plan.Isolation != tare.TrialWise {
		// A coarse CPU clock may measure no time in a block. Then only the sum is usable.
		if blocks := stats.BlockEffect(p, q, slicing.Block); isFinite(blocks) {
			return blocks, sum, true
		}
	}
	return sum, sum, true
}

func effectInRound(x *evidence.Index, d evidence.Evidence, m tare.Metric, a, b evidence.Key) (effect float64, ok bool) {
	if m.PerSlice {
		effect, _, ok := effectWithControl(x, d, m.Name, a, b)
		return effect, ok
	}
	effect = math.Log(x.Sample(a)[m.Key] / x.Sample(b)[m.Key]) // an absent value is 0, so effect is not finite
	return effect, isFinite(effect)
}

// pairSlices returns the slices of a and of b with the same index, sorted by index.
func pairSlices(x *evidence.Index, metric string, a, b evidence.Key) (p, q []stats.Point) {
	as, bs := x.Slices(a), x.Slices(b)
	for i, j := 0, 0; i < len(as) && j < len(bs); {
		switch {
		case as[i].Index < bs[j].Index:
			i++
		case as[i].Index > bs[j].Index:
			j++
		default:
			p = append(p, stats.Point{Ops: as[i].Ops, NS: x.Cost(as[i], metric)})
			q = append(q, stats.Point{Ops: bs[j].Ops, NS: x.Cost(bs[j], metric)})
			i++
			j++
		}
	}
	return p, q
}

// effectsOfTrials returns ln(a/b) of a metric with one value per trial, and the rounds as in
// tare.Effects.Of. It returns nil if a value is zero in any round.
func effectsOfTrials(x *evidence.Index, m tare.Metric, workload, a, b string) (effects []float64, rounds []int) {
	for _, r := range x.Rounds() {
		va, okA := x.Sample(evidence.At(r, workload, a))[m.Key]
		vb, okB := x.Sample(evidence.At(r, workload, b))[m.Key]
		if !okA || !okB {
			continue
		}
		arePositive := va > 0 && vb > 0
		if !arePositive {
			return nil, nil
		}
		effects, rounds = append(effects, math.Log(va/vb)), append(rounds, r)
	}
	return effects, listRounds(rounds)
}

// listRounds returns rounds, or nil if they are 1, 2, 3 and so on. This is the form of tare.Effects.Of.
func listRounds(rounds []int) []int {
	if n := len(rounds); n == 0 || rounds[0] == 1 && rounds[n-1] == n {
		return nil
	}
	return rounds
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
