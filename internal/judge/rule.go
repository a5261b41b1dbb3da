package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file decides criteria, the limits that a study sets for contenders. For example, the criterion
// is "ratio <= 0.9" and the interval is 0.86 to 0.88: the ruling is met. If the interval contains the
// limit, the ruling is inconclusive. It is void if a check voids the measurements.

// ruleOn decides a criterion for the contender and workload of v. It returns false if there is nothing
// to rule on: the contender is not installed, the workload does not select it, or it does not support
// the workload and the criterion does not name it.
func (j *judge) ruleOn(v *tare.Verdict, criterion tare.Criterion, rule tare.Rule, contender tare.Contender) bool {
	w, _ := j.evidence.Workload(v.Workload)
	isSelected := contender.Role == tare.RoleBaseline || w.Asks(contender.ID)
	if contender.Absent() || !isSelected {
		return false
	}
	isRatio := rule.Kind != tare.RuleValue // otherwise the criterion is about the contender's value alone
	findVoid := j.findVoid
	if isRatio {
		findVoid = j.findRatioVoid
	}
	if f, ok := findVoid(v.Contender, v.Workload, v.Metric); ok {
		v.Verdict, v.Sentence = tare.VoidRuling, voidSentence(v.Contender, v.Workload, f)
		return true
	}
	if contender.Role == tare.RoleTrap {
		v.Verdict = tare.VoidRuling
		v.Sentence = fmt.Sprintf("%s on %s is void: a trap is not compared with a criterion.", v.Contender, v.Workload)
		return true
	}
	if s, ok := j.evidence.Plan.Slicing(v.Workload); ok && len(s.Contenders) > 0 && !slices.Contains(s.Contenders, v.Contender) {
		v.Verdict = tare.VoidRuling
		v.Sentence = fmt.Sprintf("%s on %s is void: it does not support this workload.", v.Contender, v.Workload)
		return criterion.Contender != ""
	}
	if isRatio {
		j.ruleAgainstBaseline(v, criterion, rule)
	} else {
		j.ruleValue(v, rule)
	}
	return true
}

func (j *judge) ruleAgainstBaseline(v *tare.Verdict, criterion tare.Criterion, rule tare.Rule) {
	if j.ruleTooFewRequests(v, v.Workload, v.Contender, j.evidence.Study.Baseline) {
		return
	}
	c, ok := j.comparisonOf(v.Contender, v.Workload, v.Metric)
	switch {
	case rule.Kind == tare.RuleDifference:
		j.ruleDifference(v, criterion, rule)
	case !ok:
		j.ruleWithoutRatio(v, rule)
	case !c.Bounded():
		v.Verdict = tare.Inconclusive
		v.RoundsNeeded = roundsForInterval(c, j.evidence.Looks())
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(c.Rounds, "round"), v.RoundsNeeded)
	default:
		j.ruleRatio(v, rule, c)
	}
}

// ruleTooFewRequests makes v inconclusive and returns true if its metric is a latency and one of the
// contenders has too few requests.
func (j *judge) ruleTooFewRequests(v *tare.Verdict, workload string, contenders ...string) bool {
	why, rounds := j.whyTooFewRequests(v.Metric, workload, contenders...)
	if why == "" {
		return false
	}
	v.Verdict, v.RoundsNeeded = tare.Inconclusive, rounds
	v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: %s is thin: %s.", v.Contender, v.Criterion, v.Workload, v.Metric, why)
	return true
}

// ruleRatio decides a criterion on a ratio by the interval of c. If it is inconclusive, ruleRatio
// forecasts the number of rounds that would decide it.
func (j *judge) ruleRatio(v *tare.Verdict, rule tare.Rule, c tare.Comparison) {
	edges := []float64{rule.Limit}
	if rule.Kind == tare.RuleEquivalent {
		edges = []float64{1 + rule.Limit, 1 / (1 + rule.Limit)}
	}
	floor := tare.NoiseFloor(j.comparisons, v.Workload, v.Metric)
	v.Verdict = decideRule(rule, c, floor)
	v.Sentence = rulingSentence(*v, c, floor, edges...)
	if v.Verdict != tare.Inconclusive || decideInterval(rule, c.Low, c.High) != tare.Inconclusive {
		return // the forecast knows the interval, not the noise floor
	}
	var logEdges []float64
	for _, e := range edges {
		logEdges = append(logEdges, math.Log(e))
	}
	e := computeEffects(j.evidence.Index(), j.evidence, v.Workload, v.Metric, c.Contender, c.Against)
	level := stats.LookLevel(1-c.Level, j.evidence.Looks())
	if n, ok := stats.RoundsNeeded(e.Effects, level, stats.MaxRounds, logEdges...); ok {
		v.RoundsNeeded = n
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}

// ruleWithoutRatio decides a criterion on a ratio of which a value is zero or was not measured.
func (j *judge) ruleWithoutRatio(v *tare.Verdict, rule tare.Rule) {
	subject, _ := findValue(j.evidence.Index(), v.Workload, v.Metric, tare.Contender{ID: v.Contender})
	base, _ := findValue(j.evidence.Index(), v.Workload, v.Metric, tare.Contender{ID: j.evidence.Study.Baseline})
	ratio, ok := zeroRatio(subject, base)
	if !ok {
		v.Verdict = tare.Inconclusive
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: there is no ratio to %s.", v.Contender, v.Criterion, v.Workload, j.evidence.Study.Baseline)
		return
	}
	isMet := ratio == 1 // if the criterion requires equivalence
	switch {
	case rule.Kind == tare.RuleRatio && rule.AtMost:
		isMet = ratio <= rule.Limit
	case rule.Kind == tare.RuleRatio:
		isMet = ratio >= rule.Limit
	}
	v.Verdict = tare.NotMet
	if isMet {
		v.Verdict = tare.Met
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s on %s: it has %s, %s has %s (%s).", v.Contender, v.Criterion, v.Verdict, v.Workload,
		formatValue(subject.Value, subject.Unit), j.evidence.Study.Baseline, formatValue(base.Value, base.Unit), format.Count(subject.Rounds, "round"))
}

// zeroRatio returns subject/base if one of the values is zero in all rounds: 0, +Inf, or 1 if both are
// zero. It returns false if neither is, or with too few rounds for an interval.
func zeroRatio(subject, base tare.Value) (ratio float64, ok bool) {
	if min(subject.Rounds, base.Rounds) < minValueRounds {
		return 0, false
	}
	switch isZero, isBaseZero := subject.High == 0, base.High == 0; {
	case isZero && isBaseZero:
		return 1, true
	case isZero && base.Low > 0:
		return 0, true
	case isBaseZero && subject.Low > 0:
		return math.Inf(1), true
	}
	return 0, false
}

// minValueRounds is the least number of rounds for an order-statistic interval at 5 %.
const minValueRounds = 6

// roundingTolerance is the relative rounding error that comparisons with a limit allow. A ratio that
// equals its limit must meet it.
const roundingTolerance = 1e-12

// decideRule returns met if the entire interval of c meets a rule, not met if none of it does, and
// otherwise inconclusive. If the ruling would be another for equal contenders, it states a
// difference, and is inconclusive unless that exceeds floor, the noise floor as a logarithm.
func decideRule(rule tare.Rule, c tare.Comparison, floor float64) tare.Ruling {
	ruling := decideInterval(rule, c.Low, c.High)
	isShown := c.Exact || c.Differs(floor) == tare.Significant
	if ruling != decideInterval(rule, 1, 1) && !isShown {
		return tare.Inconclusive
	}
	return ruling
}

// decideInterval is decideRule for an interval of ratios without noise.
func decideInterval(rule tare.Rule, low, high float64) tare.Ruling {
	isMet, isNotMet := false, false
	switch {
	case rule.Kind == tare.RuleEquivalent:
		margin := math.Log1p(rule.Limit) // a ratio within 1+Limit of 1 is equivalent
		isMet = stats.Equivalent(math.Log(low), math.Log(high), rule.Limit)
		isNotMet = math.Log(low) > margin || math.Log(high) < -margin
	case rule.AtMost:
		isMet, isNotMet = high <= rule.Limit*(1+roundingTolerance), low > rule.Limit
	default:
		isMet, isNotMet = low >= rule.Limit*(1-roundingTolerance), high < rule.Limit
	}
	switch {
	case isMet:
		return tare.Met
	case isNotMet:
		return tare.NotMet
	}
	return tare.Inconclusive
}

// roundsForInterval returns the least number of rounds for an interval at the level of c.
func roundsForInterval(c tare.Comparison, looks int) int {
	return stats.MinRounds(stats.LookLevel(1-c.Level, looks))
}
