package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// Verdicts returns two kinds of verdicts. One has no criterion and only a sentence, about the difference
// of a contender from the baseline by the primary metric on one workload. The other has a ruling (met, not
// met, inconclusive or void) on a criterion of the study for one contender and workload.
//
// A criterion without a contender covers all contenders except traps (which repeat a published mistake), the
// control, the null contender and status-only ones; it covers the baseline only if it limits an absolute value.
// Contenders whose programs are not installed have no verdict, nor have workloads to which a metric does not
// apply ([tare.Workload.Measures]). Ratios and differences are ruled on at every look (the numbers of rounds
// after which the study may stop), absolute values only when the study has stopped. A verdict is void if a
// finding voids the contender or the baseline. A latency of too few requests leaves it inconclusive.
func Verdicts(d evidence.Evidence, comparisons []tare.Comparison, findings []tare.Finding) []tare.Verdict {
	j := &judge{evidence: d.Indexed(), comparisons: comparisons, findings: findings}
	var out []tare.Verdict
	for _, w := range d.Study.Workloads {
		for _, c := range d.Contenders {
			if c.Role != tare.RoleContender && c.Role != tare.RoleApart {
				continue
			}
			if v, ok := j.differenceVerdict(c.ID, w.ID); ok {
				out = append(out, noteStatusOnly(v, c))
			}
		}
	}
	for _, criterion := range d.Study.Criteria {
		rule, err := criterion.Rule()
		if err != nil {
			continue // impossible in a valid study
		}
		for _, w := range d.Study.Workloads {
			if !isMeasuredOn(d, criterion, w.ID) {
				continue
			}
			for _, c := range d.Contenders {
				if !isCovered(criterion, rule, c, w.ID) {
					continue
				}
				v := tare.Verdict{Contender: c.ID, Workload: w.ID, Metric: criterion.Metric, Criterion: criterion.String(), Rule: rule}
				if j.ruleOn(&v, criterion, rule, c) {
					out = append(out, noteStatusOnly(v, c))
				}
			}
		}
	}
	return out
}

// statusOnlyNote is the note on values of a status-only contender, of which only the status of responses
// is checked.
const statusOnlyNote = "apart: answers by status only"

// noteStatusOnly adds statusOnlyNote to the sentence of v if the contender is status-only.
func noteStatusOnly(v tare.Verdict, contender tare.Contender) tare.Verdict {
	if contender.Role == tare.RoleApart {
		v.Sentence = withTradeOff(v.Sentence, " ("+statusOnlyNote+")")
	}
	return v
}

// isCovered reports whether criterion covers contender c on workload, as Verdicts describes.
func isCovered(criterion tare.Criterion, rule tare.Rule, c tare.Contender, workload string) bool {
	if criterion.Workload != "" && criterion.Workload != workload {
		return false
	}
	if criterion.Contender != "" {
		return criterion.Contender == c.ID
	}
	isValueOfBaseline := c.Role == tare.RoleBaseline && rule.Kind == tare.RuleValue
	return c.Role == tare.RoleContender || isValueOfBaseline
}

// isMeasuredOn reports whether the criterion's metric applies to workload, and to the workload
// criterion.Of if it names one.
func isMeasuredOn(d evidence.Evidence, criterion tare.Criterion, workload string) bool {
	_, ok := d.Measures(workload, criterion.Metric)
	if ok && criterion.Of != "" {
		_, ok = d.Measures(criterion.Of, criterion.Metric)
	}
	return ok
}

// Decided reports whether more rounds are unnecessary: every criterion on a ratio or difference is met
// or not met, and no claim is inconclusive. It ignores void and unmeasured verdicts and claims, and
// verdicts on absolute values. It returns false if none remains (see [AllVoid]).
func Decided(verdicts []tare.Verdict, claims []tare.ClaimResult) bool {
	settled, open := countDecided(verdicts, claims)
	return settled > 0 && open == 0
}

// AllVoid reports whether more rounds would answer nothing: the study has criteria, all of them are
// void, and no claim has or awaits an outcome. canPass reports whether a check that voids a verdict now
// may pass after more rounds. AllVoid returns false if only such checks void one of the verdicts.
func AllVoid(d evidence.Evidence, findings []tare.Finding, verdicts []tare.Verdict, claims []tare.ClaimResult, canPass func(check string) bool) bool {
	if settled, open := countDecided(verdicts, claims); settled+open > 0 {
		return false
	}
	hasVoid := false
	for _, v := range verdicts {
		if v.Criterion == "" {
			continue
		}
		if v.Verdict != tare.VoidRuling {
			return false
		}
		voids := slices.Concat(
			tare.VoidsMetric(findings, v.Contender, v.Workload, v.Metric),
			tare.VoidsMetric(findings, d.Study.Baseline, v.Workload, v.Metric))
		isPermanent := func(f tare.Finding) bool { return !canPass(f.Check) }
		if mayPass := len(voids) > 0 && !slices.ContainsFunc(voids, isPermanent); mayPass {
			return false
		}
		hasVoid = true
	}
	return hasVoid
}

// DecidedTo reports whether no criterion or claim is open, and every difference by the primary metric
// is either significant or proven to be smaller than effect, such as 0.02 for 2 %.
func DecidedTo(effect float64, d evidence.Evidence, comparisons []tare.Comparison, findings []tare.Finding, verdicts []tare.Verdict, claims []tare.ClaimResult) bool {
	_, openQuestions := countDecided(verdicts, claims)
	_, openDifferences := Settled(d, comparisons, findings, effect)
	return openQuestions+openDifferences == 0
}

// countDecided counts the criteria and claims that have an answer, and those that more rounds can
// answer. It ignores those on which the number of rounds has no influence.
func countDecided(verdicts []tare.Verdict, claims []tare.ClaimResult) (settled, open int) {
	for _, v := range verdicts {
		if v.Rule.Kind == "" || v.Rule.Kind == tare.RuleValue {
			continue
		}
		switch v.Verdict {
		case tare.Inconclusive:
			open++
		case tare.Met, tare.NotMet:
			settled++
		}
	}
	for _, c := range claims {
		if c.Kind == tare.ClaimStatement || c.Kind == tare.ClaimCount { // answered before the first round
			continue
		}
		switch c.Outcome {
		case tare.ClaimOpen, tare.NotThatSize:
			open++
		case tare.NotMeasured, tare.VoidAsPublished: // more rounds change nothing
		default:
			settled++
		}
	}
	return settled, open
}

// judge decides criteria and claims. Its fields are the measurements that the decisions depend on.
type judge struct {
	evidence    evidence.Evidence // with its index
	comparisons []tare.Comparison
	values      []tare.Value // of claims only
	findings    []tare.Finding
	differences map[differenceKey][]difference // computed by computeDifferences
}

// comparisonOf returns the comparison of contender with the baseline. It returns false if there is none.
func (j *judge) comparisonOf(contender, workload, metric string) (c tare.Comparison, ok bool) {
	return tare.FindComparison(j.comparisons, workload, contender, metric)
}

// findVoid returns the first finding that voids metric of contender on workload. It returns false if
// there is none.
func (j *judge) findVoid(contender, workload, metric string) (f tare.Finding, ok bool) {
	voids := tare.VoidsMetric(j.findings, contender, workload, metric)
	if len(voids) == 0 {
		return tare.Finding{}, false
	}
	return voids[0], true
}

// findRatioVoid returns the first finding that voids the ratio of contender to the baseline, which is a
// finding about either of them.
func (j *judge) findRatioVoid(contender, workload, metric string) (f tare.Finding, ok bool) {
	if f, ok := j.findVoid(contender, workload, metric); ok {
		return f, true
	}
	return j.findVoid(j.evidence.Study.Baseline, workload, metric)
}

// differenceVerdict returns the verdict without a criterion on a contender and a workload. It returns
// false if the primary metric does not apply to workload, or if there is no comparison.
func (j *judge) differenceVerdict(contender, workload string) (v tare.Verdict, ok bool) {
	v = tare.Verdict{Contender: contender, Workload: workload, Metric: j.evidence.Primary()}
	if _, ok := j.evidence.Measures(workload, v.Metric); !ok {
		return v, false
	}
	if f, ok := j.findRatioVoid(contender, workload, v.Metric); ok {
		v.Sentence = voidSentence(contender, workload, f)
		return v, true
	}
	c, ok := j.comparisonOf(contender, workload, v.Metric)
	if !ok {
		return v, false
	}
	if why, _ := j.whyTooFewRequests(v.Metric, workload, contender, c.Against); why != "" {
		v.Sentence = fmt.Sprintf("%s against %s on %s: %s is thin: %s.", contender, c.Against, workload, v.Metric, why)
		return v, true
	}
	floor := tare.NoiseFloor(j.comparisons, workload, v.Metric)
	v.Sentence = differenceSentence(c, floor, j.evidence)
	if c.Differs(floor) == tare.Significant {
		v.Sentence = withTradeOff(v.Sentence, describeTradeOff(j.evidence, contender, workload))
	}
	return v, true
}
