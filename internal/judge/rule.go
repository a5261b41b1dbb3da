package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// ruleOn sets the ruling of v. It returns false if v has no ruling: the contender is absent, the
// workload does not select it, or it does not support the workload and the criterion does not name
// it.
func (b *rulingData) ruleOn(v *tare.Verdict, criterion tare.Criterion, rule tare.Rule, contender tare.Contender) bool {
	w, _ := b.d.Workload(v.Workload)
	isSelected := contender.Role == tare.RoleBaseline || w.Asks(contender.ID)
	if contender.Absent() || !isSelected {
		return false
	}
	isRatio := rule.Kind != tare.RuleValue
	findVoid := b.findVoid
	if isRatio {
		findVoid = b.findRatioVoid
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
	if s, ok := b.d.Plan.Slicing(v.Workload); ok && len(s.Contenders) > 0 && !slices.Contains(s.Contenders, v.Contender) {
		v.Verdict = tare.VoidRuling
		v.Sentence = fmt.Sprintf("%s on %s is void: it does not support this workload.", v.Contender, v.Workload)
		return criterion.Contender != ""
	}
	if !isRatio {
		b.ruleValue(v, rule)
		return true
	}
	if b.ruleTooFewRequests(v, v.Workload, v.Contender, b.d.Study.Baseline) {
		return true
	}
	if rule.Kind == tare.RuleDifference {
		b.ruleDifference(v, criterion, rule)
		return true
	}
	c, ok := b.comparisonOf(v.Contender, v.Workload, v.Metric)
	switch {
	case !ok:
		b.ruleWithoutRatio(v, rule)
	case !c.Bounded():
		v.Verdict = tare.Inconclusive
		v.RoundsNeeded = roundsForInterval(c, b.d.Looks())
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(c.Rounds, "round"), v.RoundsNeeded)
	default:
		b.ruleRatio(v, rule, c)
	}
	return true
}

// ruleTooFewRequests makes v inconclusive if the metric is a latency with too few requests of one of
// the contenders on workload. It returns false, and leaves v as it is, if there are enough.
func (b *rulingData) ruleTooFewRequests(v *tare.Verdict, workload string, contenders ...string) bool {
	why, rounds := b.whyTooFewRequests(v.Metric, workload, contenders...)
	if why == "" {
		return false
	}
	v.Verdict, v.RoundsNeeded = tare.Inconclusive, rounds
	v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: %s is thin: %s.", v.Contender, v.Criterion, v.Workload, v.Metric, why)
	return true
}

// ruleRatio rules on a ratio by the interval of c. If v is inconclusive, it forecasts the rounds that
// would decide it.
func (b *rulingData) ruleRatio(v *tare.Verdict, rule tare.Rule, c tare.Comparison) {
	edges := []float64{rule.Limit}
	if rule.Kind == tare.RuleEquivalent {
		edges = []float64{1 + rule.Limit, 1 / (1 + rule.Limit)}
	}
	v.Verdict = decideRule(rule, c)
	v.Sentence = rulingSentence(*v, c, tare.NoiseFloor(b.comparisons, v.Workload, v.Metric), edges...)
	if v.Verdict != tare.Inconclusive {
		return
	}
	for i, e := range edges {
		edges[i] = math.Log(e)
	}
	e := findEffects(b.d.Index(), b.d, v.Workload, v.Metric, c.Contender, c.Against)
	level := stats.LookLevel(1-c.Level, b.d.Looks())
	if n, ok := stats.RoundsNeeded(e.Effects, level, stats.MaxRounds, edges...); ok {
		v.RoundsNeeded = n
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}

// ruleWithoutRatio rules on a ratio without effects, because one of the two values is zero or was not
// measured.
func (b *rulingData) ruleWithoutRatio(v *tare.Verdict, rule tare.Rule) {
	own, _ := findValue(b.d.Index(), v.Workload, v.Metric, tare.Contender{ID: v.Contender})
	base, _ := findValue(b.d.Index(), v.Workload, v.Metric, tare.Contender{ID: b.d.Study.Baseline})
	ratio, ok := zeroRatio(own, base)
	if !ok {
		v.Verdict = tare.Inconclusive
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: there is no ratio to %s.", v.Contender, v.Criterion, v.Workload, b.d.Study.Baseline)
		return
	}
	met := ratio == 1
	if rule.Kind == tare.RuleRatio {
		met = rule.AtMost && ratio <= rule.Limit || !rule.AtMost && ratio >= rule.Limit
	}
	v.Verdict = tare.NotMet
	if met {
		v.Verdict = tare.Met
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s on %s: it has %s, %s has %s (%s).", v.Contender, v.Criterion, v.Verdict, v.Workload,
		formatValue(own.Value, own.Unit), b.d.Study.Baseline, formatValue(base.Value, base.Unit), format.Count(own.Rounds, "round"))
}

// zeroRatio returns the ratio own/base if one of the values is zero in all rounds: 0, 1 if both are
// zero, or +Inf. It returns false if neither is, or if there are too few rounds for the
// order-statistic intervals of the values.
func zeroRatio(own, base tare.Value) (ratio float64, ok bool) {
	if min(own.Rounds, base.Rounds) < minValueRounds {
		return 0, false
	}
	switch ownZero, baseZero := own.High == 0, base.High == 0; {
	case ownZero && baseZero:
		return 1, true
	case ownZero && base.Low > 0:
		return 0, true
	case baseZero && own.Low > 0:
		return math.Inf(1), true
	}
	return 0, false
}

// minValueRounds is the least number of rounds for an order-statistic interval at 5 %.
const minValueRounds = 6

// slack is the relative rounding error that is allowed in comparisons with a limit: an exact ratio
// that equals its limit must meet it.
const slack = 1e-12

// decideRule compares the interval of c with the limit of a rule.
func decideRule(rule tare.Rule, c tare.Comparison) tare.Ruling {
	isMet, isNotMet := false, false
	switch {
	case rule.Kind == tare.RuleEquivalent:
		margin := math.Log1p(rule.Limit)
		isMet = stats.Equivalent(math.Log(c.Low), math.Log(c.High), rule.Limit)
		isNotMet = math.Log(c.Low) > margin || math.Log(c.High) < -margin
	case rule.AtMost:
		isMet, isNotMet = c.High <= rule.Limit*(1+slack), c.Low > rule.Limit
	default:
		isMet, isNotMet = c.Low >= rule.Limit*(1-slack), c.High < rule.Limit
	}
	switch {
	case isMet:
		return tare.Met
	case isNotMet:
		return tare.NotMet
	}
	return tare.Inconclusive
}

// roundsForInterval returns the number of rounds that an interval at the level of c needs.
func roundsForInterval(c tare.Comparison, looks int) int {
	return stats.MinRounds(stats.LookLevel(1-c.Level, looks))
}
