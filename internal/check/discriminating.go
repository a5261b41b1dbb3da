package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds criteria whose verdict shows nothing. A criterion is a limit that a study sets
// for a value, or for a ratio to the baseline contender. For example, all contenders take 1 to 2 µs
// and the limit is 10 ms: no contender could fail.

// trivialFactor is the least factor between a limit and all values with which a criterion could not
// fail.
const trivialFactor = 10

func discriminating() Check {
	return Check{
		ID:       "discriminating",
		Severity: tare.Warn,
		Summary: "A criterion must be able to fail, to be met, and to be decided. Its limit is compared with three things. " +
			"First, the effect: a criterion could not fail if every contender and the baseline meet its limit by a factor of ten, with their entire intervals. (The ratio of the baseline is 1.) " +
			"Second, the harness: the limit of a value cannot be met if the null contender alone exceeds it. " +
			"Third, the control: a ratio or an equivalence is open and cannot be decided if it requires a difference smaller than the half-width of the control's interval, because even identical code differs by that much.",
		Why: "\"Less than 10 ms overhead per request\" was a success criterion for routers that take a microsecond: the limit was ten thousand times the effect, and every program that terminates met it. " +
			"If a criterion cannot fail, or if the machine cannot decide it, its verdict tells nothing.",
		Advice:    "set the limit near the value that would change your decision, and give the study a larger budget if a criterion is open",
		onlyAtEnd: true,
		Run:       findWeakCriteria,
	}
}

func findWeakCriteria(in Input) []tare.Finding {
	var out []tare.Finding
	for _, criterion := range in.Study.Criteria {
		rule, err := criterion.Rule()
		if err != nil {
			continue // impossible in a valid study
		}
		out = append(out, in.findWeakCriterion(criterion, rule)...)
	}
	return out
}

func (in Input) findWeakCriterion(criterion tare.Criterion, rule tare.Rule) (out []tare.Finding) {
	var trivial []tare.Finding
	for _, w := range in.Study.Workloads {
		if criterion.Workload != "" && criterion.Workload != w.ID {
			continue
		}
		switch rule.Kind {
		case tare.RuleValue:
			trivial = append(trivial, findTrivialValue(in, criterion, rule, w.ID)...)
		case tare.RuleRatio:
			trivial = append(trivial, findTrivialRatio(in, criterion, rule, w.ID)...)
			out = append(out, findUndecidable(in, criterion, []float64{rule.Limit}, w.ID)...)
		case tare.RuleEquivalent: // ratios from 1/(1+Limit) to 1+Limit are equivalent
			out = append(out, findUndecidable(in, criterion, []float64{1 + rule.Limit, 1 / (1 + rule.Limit)}, w.ID)...)
		}
	}
	if len(trivial) > 1 { // one finding for several workloads
		trivial[0].Message += fmt.Sprintf("; likewise on %s", format.Count(len(trivial)-1, "more workload"))
	}
	return append(out, trivial[:min(1, len(trivial))]...)
}

// covers reports whether the criterion is about contender. Without a name it is about all
// contenders except the baseline and helpers such as the control.
func (in Input) covers(criterion tare.Criterion, contender string) bool {
	if criterion.Contender != "" {
		return criterion.Contender == contender
	}
	return in.roleOf(contender) == tare.RoleContender
}

func (in Input) coveredComparisons(criterion tare.Criterion, workload string) []tare.Comparison {
	var out []tare.Comparison
	for _, c := range in.Comparisons {
		isCovered := c.Workload == workload && c.Metric == criterion.Metric && in.covers(criterion, c.Contender)
		if isCovered && c.Bounded() {
			out = append(out, c)
		}
	}
	return out
}

// findTrivialRatio returns a finding if the limit is far from all ratios. The baseline's own ratio
// is 1.
func findTrivialRatio(in Input, criterion tare.Criterion, rule tare.Rule, workload string) []tare.Finding {
	lowest, highest := 1.0, 1.0
	covered := in.coveredComparisons(criterion, workload)
	for _, c := range covered {
		lowest, highest = min(lowest, c.Low), max(highest, c.High)
	}
	if len(covered) == 0 || !isTrivial(rule, lowest, highest) {
		return nil
	}
	return []tare.Finding{{
		Contender: criterion.Contender, Workload: workload,
		Message: fmt.Sprintf("%s could not fail: all ratios it is about, and 1, lie between %.3g and %.3g", criterion, lowest, highest),
	}}
}

// findTrivialValue returns a finding if the limit is far from all values. It also returns one if the
// null contender, which does nothing, exceeds the limit.
func findTrivialValue(in Input, criterion tare.Criterion, rule tare.Rule, workload string) []tare.Finding {
	lowest, highest, unit := math.Inf(1), 0.0, "" // excludes the null contender
	var null tare.Value
	for _, v := range in.Values {
		if v.Workload != workload || v.Metric != criterion.Metric || v.Struck {
			continue
		}
		switch role := in.roleOf(v.Contender); {
		case role == tare.RoleNull:
			null = v
		case role == tare.RoleBaseline, role == tare.RoleContender, criterion.Contender == v.Contender:
			lowest, highest, unit = min(lowest, v.Low), max(highest, v.High), v.Unit
		}
	}
	f := tare.Finding{Contender: criterion.Contender, Workload: workload}
	switch {
	case highest > 0 && isTrivial(rule, lowest, highest):
		f.Message = fmt.Sprintf("%s could not fail: everything that was measured lies between %s and %s %s", criterion, formatNumber(lowest), formatNumber(highest), unit)
	case rule.AtMost && null.Low > rule.Limit:
		f.Message = fmt.Sprintf("%s cannot be met: the harness alone takes %s %s", criterion, formatNumber(null.Value), null.Unit)
	default:
		return nil
	}
	return []tare.Finding{f}
}

// isTrivial reports whether all values from lowest to highest meet the rule by trivialFactor.
func isTrivial(rule tare.Rule, lowest, highest float64) bool {
	if rule.AtMost {
		return rule.Limit >= trivialFactor*highest
	}
	return trivialFactor*rule.Limit <= lowest
}

// findUndecidable finds the contenders for which more rounds would not decide the criterion. limits
// are the ratios at which the criterion changes between met and not met. It is undecided if a limit
// is inside the interval of the contender's ratio.
//
// The control, a second copy of the baseline, shows how far from 1 the ratio of identical code may
// be. More rounds do not help if the limits are nearer to 1 than that.
func findUndecidable(in Input, criterion tare.Criterion, limits []float64, workload string) []tare.Finding {
	margin := math.Abs(math.Log(limits[0]))                                  // a second limit is as far from 1
	halfWidth := tare.NoiseFloor(in.Comparisons, workload, criterion.Metric) // of the control, a logarithm; 0 without one
	if halfWidth == 0 || halfWidth < margin {
		return nil
	}
	var out []tare.Finding
	for _, c := range in.coveredComparisons(criterion, workload) {
		isInside := func(limit float64) bool { return c.Low <= limit && limit <= c.High }
		if !slices.ContainsFunc(limits, isInside) {
			continue
		}
		out = append(out, tare.Finding{
			Contender: c.Contender, Workload: workload,
			Message: fmt.Sprintf("%s asks for a difference of %s, but identical code is resolved to ±%s only (the control, %s)",
				criterion, format.Percent(math.Expm1(margin)), format.Percent(math.Expm1(halfWidth)), format.Count(c.Rounds, "round")),
		})
	}
	return out
}
