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

// judgeCustomRatio judges a claim of a ratio to c.Of instead of the baseline. The denominator is the
// contender's value on another workload or by another metric, or the value of another contender. The
// ratio is computed in each round. The noise floor, the difference that chance can cause, is the
// difference between the ratios of the control and the baseline, which are the same program.
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
	ratios := j.customRatiosByRound(c, c.Contender, other)
	if len(ratios) == 0 {
		setNotMeasured(r, fmt.Sprintf("%s has %s on %s and %s %s on %s in no round", c.Contender, tare.MetricFor(c.Metric).Noun, c.Workload, other, tare.MetricFor(c.Of.Metric).Noun, c.Of.Workload))
		return
	}
	rounds := slices.Sorted(maps.Keys(ratios))
	var effects []float64
	for _, round := range rounds {
		effects = append(effects, ratios[round])
	}
	describeMetric := func(metric string) string { // "METRIC and PLUS together" if the claim adds a second metric
		if c.Plus != "" {
			metric += " and " + c.Plus + " together"
		}
		return metric
	}
	r.Evidence = fmt.Sprintf("%s, %s on %s over %s on %s, %s", c.Contender, describeMetric(c.Metric), c.Workload, describeMetric(c.Of.Metric), c.Of.Workload, format.Count(len(effects), "round"))
	if c.Of.Contender != "" {
		r.Evidence = fmt.Sprintf("%s against %s, %s, %s", c.Contender, other, describeMetric(c.Metric), format.Count(len(effects), "round"))
	}
	level := stats.LookLevel(alpha, j.evidence.Looks())
	comparison := tare.Comparison{
		Workload: c.Workload, Contender: c.Contender, Metric: c.Metric, Against: other,
		Ratio: math.Exp(stats.HodgesLehmann(effects)), Level: 1 - alpha, Rounds: len(effects),
	}
	if lo, hi, ok := stats.Interval(effects, level); ok {
		comparison.Low, comparison.High, comparison.Exact = math.Exp(lo), math.Exp(hi), lo == hi
	}
	if why := j.whyDifferentRelays(c); why != "" {
		setNotMeasured(r, why)
		return
	}
	floor, _ := stats.HalfWidth(j.controlDifferences(c, rounds), level)
	j.decideRatio(r, c, comparison, floor)
}

// controlDifferences returns a value for each of rounds: the difference between the logarithms of the ratio
// that the claim is about, of the control and of the baseline. If the claim compares two contenders, the
// value is the logarithm of the control's value over the baseline's. Rounds without these ratios are omitted.
func (j *judge) controlDifferences(c tare.Claim, rounds []int) (differences []float64) {
	base := j.evidence.Study.Baseline
	var controlRatios, baseRatios map[int]float64 // by round; nil baseRatios, for two contenders, count as 0
	if c.Of.Contender != "" {
		c.Of.Workload, c.Of.Metric = c.Workload, c.Metric
		controlRatios = j.customRatiosByRound(c, tare.ControlID, base)
	} else {
		controlRatios, baseRatios = j.customRatiosByRound(c, tare.ControlID, tare.ControlID), j.customRatiosByRound(c, base, base)
	}
	for _, round := range rounds {
		controlRatio, hasControl := controlRatios[round]
		baseRatio, hasBase := baseRatios[round]
		if hasControl && (hasBase || baseRatios == nil) {
			differences = append(differences, controlRatio-baseRatio)
		}
	}
	return differences
}

// whyDifferentRelays returns why the ratio of claim c proves nothing, if its two workloads have relays,
// which delay and slow down traffic, with different values. The study chooses these values, and they
// determine the ratio. It returns "" for other ratios.
func (j *judge) whyDifferentRelays(c tare.Claim) string {
	trafficOf := func(workload string) tare.Traffic { // Delay and Bandwidth are 0 without a relay
		w, ok := j.evidence.Workload(workload)
		if !ok || w.Traffic == nil {
			return tare.Traffic{}
		}
		return *w.Traffic
	}
	numerator, denominator := trafficOf(c.Workload), trafficOf(c.Of.Workload)
	if numerator.Delay == denominator.Delay && numerator.Bandwidth == denominator.Bandwidth {
		return ""
	}
	return fmt.Sprintf("the delay and the bandwidth of %s are chosen here, and they make the ratio: it says nothing about another network", c.Workload)
}

// customRatiosByRound returns the logarithm of the claim's ratio for each round: the value of contender
// numerator over the value of contender denominator on the workload and by the metric of c.Of.
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

// sumInRound returns the sum of metrics, by name, in one cell, which is a contender on a workload in a
// round. The name "" adds nothing. It returns false if one of the metrics was not measured.
func sumInRound(x *evidence.Index, cell evidence.Cell, metrics ...string) (sum float64, ok bool) {
	for _, name := range metrics {
		if name == "" {
			continue
		}
		m, known := tare.MetricNamed(name)
		value, measured := x.InRound(m, cell)
		if !known || !measured {
			return 0, false
		}
		sum += value
	}
	return sum, true
}
