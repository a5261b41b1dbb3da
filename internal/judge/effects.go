package judge

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// Effects returns ln(a/b) per round for every pair that a page needs: on the primary metric every
// unordered pair of baseline, contenders and control; on the others each against the baseline,
// which is then b. Contenders of role apart are compared with the baseline only; traps and the null
// contender are in no pair. A workload has none on a metric that does not apply to it
// ([tare.Workload.Measures]).
//
// A metric measured per slice pairs the slices of one round by their index and sums them in blocks.
// A metric measured once per trial gives one ratio per round; if a side is zero in any round there
// is no ratio, and the pair is omitted entirely (dropping only those rounds would choose by
// outcome). A round in which a side was not measured, or does not count, is omitted, and the
// effects then name their rounds.
func Effects(d evidence.Evidence) []tare.Effects {
	x := d.Index()
	var out []tare.Effects
	for _, w := range d.Study.Workloads {
		for _, name := range evidence.MetricsOf(w, d.Study.Metrics) {
			for _, p := range listPairs(d, name) {
				if e := findEffects(x, d, w.ID, name, p[0], p[1]); len(e.Effects) > 0 {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// listPairs lists the pairs to compare on a metric, with the baseline second if it is part of one.
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

// findEffects computes one pair; without a ratio its Effects are empty.
func findEffects(x *evidence.Index, d evidence.Evidence, workload, metric, a, b string) tare.Effects {
	e := tare.Effects{Workload: workload, Metric: metric, A: a, B: b}
	m, ok := tare.MetricNamed(metric)
	if !ok {
		return e
	}
	if !m.PerSlice {
		e.Effects, e.Of = effectsOfTrials(x, m, workload, a, b)
		return e
	}
	var of []int
	for _, r := range x.Rounds() {
		if effect, sum, ok := effectOfSlices(x, d, metric, evidence.At(r, workload, a), evidence.At(r, workload, b)); ok {
			e.Effects = append(e.Effects, effect)
			e.Sums = append(e.Sums, sum)
			of = append(of, r)
		}
	}
	e.Of = omitConsecutive(of)
	return e
}

// effectOfSlices returns ln(a/b) in one round of a metric that is measured per slice, over blocks
// if the plan has them, and from sums. If b is the baseline and the plan selects it, it returns the
// mean of that and of ln(a/control): both are the same program, and the mean of two errs less than
// one.
func effectOfSlices(x *evidence.Index, d evidence.Evidence, metric string, a, b evidence.Cell) (effect, sum float64, ok bool) {
	effect, sum, ok = effectOfPairs(x, d, metric, a, b)
	if !ok || d.Plan.Reference != tare.BaselineAndControl || b.Contender != d.Study.Baseline || a.Contender == tare.ControlID {
		return effect, sum, ok
	}
	b.Contender = tare.ControlID
	if again, sumAgain, ok := effectOfPairs(x, d, metric, a, b); ok {
		return (effect + again) / 2, (sum + sumAgain) / 2, true
	}
	return effect, sum, true
}

// effectOfPairs returns ln(a/b) of two cells of one round.
func effectOfPairs(x *evidence.Index, d evidence.Evidence, metric string, a, b evidence.Cell) (effect, sum float64, ok bool) {
	p, q := pairSlices(x, metric, a, b)
	sum = stats.SumEffect(p, q)
	if !isFinite(sum) {
		return 0, 0, false
	}
	slicing, _ := d.Plan.Slicing(a.Workload)
	if !slicing.RatioOfSums && d.Plan.Isolation != tare.TrialWise {
		// CPU clocks can be too coarse for a block; the sum then counts.
		if blocks := stats.BlockEffect(p, q, slicing.Block); isFinite(blocks) {
			return blocks, sum, true
		}
	}
	return sum, sum, true
}

// effectInRound returns ln(a/b) in one round. It returns false if a side was not measured, or was
// zero.
func effectInRound(x *evidence.Index, d evidence.Evidence, m tare.Metric, a, b evidence.Cell) (float64, bool) {
	if m.PerSlice {
		effect, _, ok := effectOfSlices(x, d, m.Name, a, b)
		return effect, ok
	}
	effect := math.Log(x.Sample(a)[m.Key] / x.Sample(b)[m.Key]) // what is absent is 0
	return effect, isFinite(effect)
}

// pairSlices returns the slices of two cells that have the same index.
func pairSlices(x *evidence.Index, metric string, a, b evidence.Cell) (p, q []stats.Point) {
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

func effectsOfTrials(x *evidence.Index, m tare.Metric, workload, a, b string) (effects []float64, of []int) {
	for _, r := range x.Rounds() {
		va, okA := x.Sample(evidence.At(r, workload, a))[m.Key]
		vb, okB := x.Sample(evidence.At(r, workload, b))[m.Key]
		if !okA || !okB {
			continue
		}
		if !(va > 0) || !(vb > 0) {
			return nil, nil
		}
		effects, of = append(effects, math.Log(va/vb)), append(of, r)
	}
	return effects, omitConsecutive(of)
}

// omitConsecutive returns rounds, or nil if they are 1, 2, 3 and so on, which readers assume.
func omitConsecutive(rounds []int) []int {
	if n := len(rounds); n == 0 || rounds[0] == 1 && rounds[n-1] == n {
		return nil
	}
	return rounds
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
