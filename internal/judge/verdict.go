package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// This file returns the verdicts of a study, and decides whether more rounds are needed. For
// example: "chi: ratio <= 0.9 is met on static".

// Verdicts returns verdicts with and without a criterion. One without a criterion only states the
// difference from the baseline by the primary metric. One with a criterion has a ruling for one
// contender and workload: met, not met, inconclusive or void.
//
// Ratios are ruled on at every look, after which the study may stop. Absolute values are ruled on
// only at the end. A verdict is void if a finding voids the contender or the baseline. A latency of
// too few requests is inconclusive. Contenders that are not installed have no verdict.
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

// statusOnlyNote is the note on a contender of which only the status of responses is checked.
const statusOnlyNote = "apart: answers by status only"

func noteStatusOnly(v tare.Verdict, contender tare.Contender) tare.Verdict {
	if contender.Role == tare.RoleApart {
		v.Sentence = withTradeOff(v.Sentence, " ("+statusOnlyNote+")")
	}
	return v
}

// isCovered reports whether criterion is about c on workload. Without a contender, it is about all
// contenders except traps and helpers such as the control. It is then about the baseline only if it
// limits an absolute value.
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

func isMeasuredOn(d evidence.Evidence, criterion tare.Criterion, workload string) bool {
	_, ok := d.Measures(workload, criterion.Metric)
	if ok && criterion.Of != "" {
		_, ok = d.Measures(criterion.Of, criterion.Metric)
	}
	return ok
}

// Decided reports whether more rounds are unnecessary: every criterion and claim that rounds can
// decide is decided. It returns false if rounds can decide none; see [AllVoid].
func Decided(verdicts []tare.Verdict, claims []tare.ClaimResult) bool {
	settled, open := countDecided(verdicts, claims)
	return settled > 0 && open == 0
}

// AllVoid reports whether more rounds would answer nothing: there are criteria, all of them are void,
// and no claim can be decided. canPass reports whether a check that voids a verdict now may pass
// after more rounds. AllVoid returns false if only such checks void one of the verdicts.
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

// DecidedTo reports whether no criterion or claim is open, and no difference by the primary metric.
// Differences below effect, such as 0.02 for 2 %, are not open.
func DecidedTo(effect float64, d evidence.Evidence, comparisons []tare.Comparison, findings []tare.Finding, verdicts []tare.Verdict, claims []tare.ClaimResult) bool {
	_, openQuestions := countDecided(verdicts, claims)
	_, openDifferences := Settled(d, comparisons, findings, effect)
	return openQuestions+openDifferences == 0
}

// countDecided counts the criteria and claims that rounds can decide: settled ones and open ones.
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
		case tare.NotMeasured, tare.VoidAsPublished:
		default:
			settled++
		}
	}
	return settled, open
}

// judge decides criteria and claims by these measurements.
type judge struct {
	evidence    evidence.Evidence // with its index
	comparisons []tare.Comparison
	values      []tare.Value // of claims only
	findings    []tare.Finding
	differences map[differenceKey][]difference // set by computeDifferences
}

func (j *judge) comparisonOf(contender, workload, metric string) (c tare.Comparison, ok bool) {
	return tare.FindComparison(j.comparisons, workload, contender, metric)
}

// findVoid returns the first finding that voids metric of contender on workload.
func (j *judge) findVoid(contender, workload, metric string) (f tare.Finding, ok bool) {
	voids := tare.VoidsMetric(j.findings, contender, workload, metric)
	if len(voids) == 0 {
		return tare.Finding{}, false
	}
	return voids[0], true
}

// findRatioVoid returns the first finding that voids the ratio of contender to the baseline. The
// finding may be about either of them.
func (j *judge) findRatioVoid(contender, workload, metric string) (f tare.Finding, ok bool) {
	if f, ok := j.findVoid(contender, workload, metric); ok {
		return f, true
	}
	return j.findVoid(j.evidence.Study.Baseline, workload, metric)
}

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
