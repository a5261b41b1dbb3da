package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file answers from which rate it matters that the baseline costs more than a contender. For
// example, 100 ns more per operation are 1 % of a processor core at 100,000 operations a second.

// BreakEven answers from which rate of operations the cost of the baseline matters. For each such
// question of the study it returns how much more the baseline takes than a contender: in ns per
// operation on each workload, and in processor cores at each rate. The intervals are at 5 % each. It
// omits workloads without an interval and void ones.
func BreakEven(d evidence.Evidence, findings []tare.Finding) []tare.BreakEvenResult {
	metric := "time"
	if slices.Contains(d.Study.Metrics, "cpu") {
		metric = "cpu"
	}
	m, _ := tare.MetricNamed(metric)
	x := d.Index()
	var out []tare.BreakEvenResult
	for _, b := range d.Study.BreakEven {
		r := tare.BreakEvenResult{Contender: b.Contender, Against: d.Study.Baseline, Metric: metric, Rates: b.Rates, Level: 1 - alpha}
		for _, id := range b.Workloads {
			w, ok := d.Workload(id)
			isVoid := len(tare.VoidsMetric(findings, b.Contender, id, metric))+len(tare.VoidsMetric(findings, d.Study.Baseline, id, metric)) > 0
			if !ok || isVoid {
				continue
			}
			if p, ok := breakEvenPoint(x, m, w, b, d); ok {
				r.Points = append(r.Points, p)
			}
		}
		if len(r.Points) == 0 {
			continue
		}
		slices.SortStableFunc(r.Points, func(a, b tare.BreakEvenPoint) int {
			return cmp.Or(cmp.Compare(a.Members, b.Members), cmp.Compare(a.Levels, b.Levels))
		})
		r.Sentence = describeBreakEven(r)
		out = append(out, r)
	}
	return out
}

func breakEvenPoint(x *evidence.Index, m tare.Metric, w tare.Workload, b tare.BreakEven, d evidence.Evidence) (p tare.BreakEvenPoint, ok bool) {
	p = tare.BreakEvenPoint{Workload: w.ID, Members: w.Members, Levels: w.Levels}
	for _, r := range x.Rounds() {
		subject, okSubject := x.InRound(m, evidence.At(r, w.ID, b.Contender))
		base, okBase := x.InRound(m, evidence.At(r, w.ID, d.Study.Baseline))
		if okSubject && okBase {
			p.PerRound = append(p.PerRound, base-subject)
		}
	}
	p.Rounds = len(p.PerRound)
	lo, hi, ok := stats.Interval(p.PerRound, stats.LookLevel(alpha, d.Looks()))
	if !ok {
		return p, false
	}
	p.More, p.MoreLow, p.MoreHigh = stats.HodgesLehmann(p.PerRound), lo, hi
	for _, rate := range b.Rates {
		p.Cores = append(p.Cores, rate*p.More/1e9) // 1e9 ns per second are one core
	}
	if lo > 0 { // the baseline is proven to take more
		p.OnePercent, p.OnePercentLow, p.OnePercentHigh = onePercentRate(p.More), onePercentRate(hi), onePercentRate(lo)
	}
	return p, true
}

// onePercentRate returns the number of operations a second at which a difference of ns per operation
// is 1 % of a core.
func onePercentRate(ns float64) float64 { return onePercent * 1e9 / ns }

func describeBreakEven(r tare.BreakEvenResult) string {
	largest := slices.MaxFunc(r.Points, func(a, b tare.BreakEvenPoint) int { return cmp.Compare(a.MoreHigh, b.MoreHigh) })
	rate := r.Rates[0]
	s := fmt.Sprintf("At %s a second %s costs at most %s of a core more than %s, on any of these: on %s (%s to %s).",
		formatRate(rate), r.Against, format.Percent(largest.Cores[0]), r.Contender, largest.Workload,
		format.Percent(rate*largest.MoreLow/1e9), format.Percent(rate*largest.MoreHigh/1e9))
	if !(largest.MoreHigh > 0) {
		s = fmt.Sprintf("%s costs more than %s on none of these.", r.Against, r.Contender)
	}
	var shown []tare.BreakEvenPoint
	for _, p := range r.Points {
		if p.OnePercent > 0 {
			shown = append(shown, p)
		}
	}
	if len(shown) == 0 {
		return s + " No difference was shown."
	}
	byRate := func(a, b tare.BreakEvenPoint) int { return cmp.Compare(a.OnePercent, b.OnePercent) }
	first, last := slices.MinFunc(shown, byRate), slices.MaxFunc(shown, byRate)
	describe := func(p tare.BreakEvenPoint) string {
		return fmt.Sprintf("at %s a second (%s to %s) on %s", formatRate(p.OnePercent), formatRate(p.OnePercentLow), formatRate(p.OnePercentHigh), p.Workload)
	}
	s += " It is 1 % of a core " + describe(first)
	if last.Workload != first.Workload {
		s += ", and " + describe(last)
	}
	return s + "."
}
