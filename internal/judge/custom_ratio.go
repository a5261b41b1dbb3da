package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file judges published claims of a ratio that is not to the baseline. For example, a page
// states that a takes twice the time on the large workload.

// judgeCustomRatio judges a claim of a ratio to c.Of instead of the baseline: to another contender, or
// to the same one on another workload or by another metric. For example, a takes twice the time on
// the large workload. The noise floor comes from the control and the baseline, which are one program.
func (j *judge) judgeCustomRatio(r *tare.ClaimResult, c tare.Claim) {
	other := cmp.Or(c.Of.Contender, c.Contender)
	if why, ok := j.evidence.Measures(c.Of.Workload, c.Of.Metric); !ok {
		setNotMeasured(r, why)
		return
	}
	if why := j.whyAbsent(other, c.Of.Workload, c.Of.Metric); why != "" {
		setNotMeasured(r, why)
		return
	}
	ratios := j.customRatiosByRound(c, c.Contender, other) // logarithms
	if len(ratios) == 0 {
		setNotMeasured(r, fmt.Sprintf("%s has %s on %s and %s %s on %s in no round", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload, other, tare.MetricFor(c.Of.Metric).Noun, c.Of.Workload))
		return
	}
	rounds := slices.Sorted(maps.Keys(ratios))
	effects := valuesOfRounds(ratios, rounds)
	r.Evidence = describeCustomRatio(c, other) + ", " + format.Count(len(effects), "round")
	if why := j.whyDifferentRelays(c); why != "" {
		setNotMeasured(r, why)
		return
	}
	level := stats.LookLevel(alpha, j.evidence.Looks())
	comparison := tare.Comparison{
		Workload: c.Workload, Contender: c.Contender, Metric: c.Metric, Against: other,
		Ratio: math.Exp(stats.HodgesLehmann(effects)), Level: 1 - alpha, Rounds: len(effects),
	}
	if lo, hi, ok := stats.Interval(effects, level); ok {
		comparison.Low, comparison.High, comparison.Exact = math.Exp(lo), math.Exp(hi), lo == hi
	}
	floor, _ := stats.HalfWidth(j.controlDifferences(c, rounds), level)
	j.decideRatio(r, c, comparison, floor)
}

// describeCustomRatio returns e.g. "a, time on small over time on large" or "a against b, time".
func describeCustomRatio(c tare.Claim, other string) string {
	describeMetric := func(metric string) string {
		if c.Plus != "" { // the claim adds this second metric
			metric += " and " + c.Plus + " together"
		}
		return metric
	}
	if c.Of.Contender != "" {
		return fmt.Sprintf("%s against %s, %s", c.Contender, other, describeMetric(c.Metric))
	}
	return fmt.Sprintf("%s, %s on %s over %s on %s", c.Contender, describeMetric(c.Metric), c.Workload, describeMetric(c.Of.Metric), c.Of.Workload)
}

// controlDifferences compares the control with the baseline, which are the same program. Only chance
// makes the values, one per round, differ from 0. If the claim is about two contenders, they are
// ln(control/baseline). Otherwise they are the differences of the logarithm of the claim's ratio.
func (j *judge) controlDifferences(c tare.Claim, rounds []int) []float64 {
	base := j.evidence.Study.Baseline
	if c.Of.Contender != "" {
		c.Of.Workload, c.Of.Metric = c.Workload, c.Metric
		return valuesOfRounds(j.customRatiosByRound(c, tare.ControlID, base), rounds)
	}
	baseRatios := j.customRatiosByRound(c, base, base)
	differences := map[int]float64{} // by round
	for round, controlRatio := range j.customRatiosByRound(c, tare.ControlID, tare.ControlID) {
		if baseRatio, ok := baseRatios[round]; ok {
			differences[round] = controlRatio - baseRatio
		}
	}
	return valuesOfRounds(differences, rounds)
}

func valuesOfRounds(byRound map[int]float64, rounds []int) (values []float64) {
	for _, round := range rounds {
		if v, ok := byRound[round]; ok {
			values = append(values, v)
		}
	}
	return values
}

// whyDifferentRelays returns why the ratio of claim c proves nothing, or "". A relay delays and slows
// down the traffic of a workload, by values of the study. If they differ, they determine the ratio.
func (j *judge) whyDifferentRelays(c tare.Claim) string {
	trafficOf := func(workload string) (t tare.Traffic) { // Delay and Bandwidth are 0 without a relay
		if w, _ := j.evidence.Workload(workload); w.Traffic != nil {
			t = *w.Traffic
		}
		return t
	}
	numerator, denominator := trafficOf(c.Workload), trafficOf(c.Of.Workload)
	if numerator.Delay == denominator.Delay && numerator.Bandwidth == denominator.Bandwidth {
		return ""
	}
	return fmt.Sprintf("the delay and the bandwidth of %s are chosen here, and they make the ratio: it says nothing about another network", c.Workload)
}

// customRatiosByRound returns the logarithm of the claim's ratio for each round. The parameters are
// the contenders whose values are divided.
func (j *judge) customRatiosByRound(c tare.Claim, numerator, denominator string) map[int]float64 {
	index := j.evidence.Index()
	ratios := map[int]float64{}
	for _, r := range index.Rounds() {
		value, okValue := sumInRound(index, evidence.At(r, c.Workload, numerator), c.Metric, c.Plus)
		base, okBase := sumInRound(index, evidence.At(r, c.Of.Workload, denominator), c.Of.Metric, c.Plus)
		areMeasured := okValue && okBase
		if areMeasured && value > 0 && base > 0 {
			ratios[r] = math.Log(value / base)
		}
	}
	return ratios
}

// sumInRound returns the sum of the named metrics in a round. The name "" adds nothing. It returns
// false if one was not measured.
func sumInRound(x *evidence.Index, key evidence.Key, metrics ...string) (sum float64, ok bool) {
	for _, name := range metrics {
		if name == "" {
			continue
		}
		m, known := tare.MetricNamed(name)
		value, measured := x.InRound(m, key)
		if !known || !measured {
			return 0, false
		}
		sum += value
	}
	return sum, true
}
