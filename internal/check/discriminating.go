package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// foregone is the factor between a limit and all measured values from which the criterion counts as
// met in advance.
const foregone = 10

func discriminating() Check {
	return Check{
		ID:       "discriminating",
		Severity: tare.Warn,
		Summary: "A criterion must be able to fail, to be met, and to be decided. Its limit is compared with three things. The effect: it could not fail where everything it might have been about (for a ratio every contender and the baseline's own 1, " +
			"for a value every contender and the baseline) lies on the right side of the limit with its whole interval, and ten times over. The harness: a value cannot be met where the null contender alone exceeds it. " +
			"The control: an open ratio or equivalence that asks for a difference smaller than the half-width of the control's interval cannot be decided, as identical code is not told from the limit.",
		Why: "\"Less than 10 ms overhead per request\" was a success criterion for routers that take a microsecond: ten thousand times the effect, met by everything that terminates. " +
			"A criterion that cannot fail, or that the machine cannot decide, says nothing when it is met or left open.",
		Advice: "set the limit near what would change your decision, and for an open one give the study a larger budget",
		atEnd:  true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, criterion := range in.Study.Criteria {
				rule, err := criterion.Rule()
				if err != nil {
					continue // a valid study has none
				}
				var beforehand []tare.Finding
				for _, w := range in.Study.Workloads {
					if criterion.Workload != "" && criterion.Workload != w.ID {
						continue
					}
					switch rule.Kind {
					case tare.RuleValue:
						beforehand = append(beforehand, findForegoneValue(in, criterion, rule, w.ID)...)
					case tare.RuleRatio:
						beforehand = append(beforehand, findForegoneRatio(in, criterion, rule, w.ID)...)
						out = append(out, findUndecidable(in, criterion, math.Abs(math.Log(rule.Limit)), []float64{rule.Limit}, w.ID)...)
					case tare.RuleEquivalent:
						out = append(out, findUndecidable(in, criterion, math.Log1p(rule.Limit), []float64{1 + rule.Limit, 1 / (1 + rule.Limit)}, w.ID)...)
					}
				}
				if len(beforehand) > 1 { // the same limit on every workload: one finding
					beforehand[0].Message += fmt.Sprintf("; likewise on %s", format.Count(len(beforehand)-1, "more workload"))
				}
				out = append(out, beforehand[:min(1, len(beforehand))]...)
			}
			return out
		},
	}
}

// covers reports whether the criterion covers contender.
func (in Input) covers(criterion tare.Criterion, contender string) bool {
	if criterion.Contender != "" {
		return criterion.Contender == contender
	}
	return in.roleOf(contender) == tare.RoleContender
}

// findForegoneRatio compares the limit of a ratio with all ratios it covers and 1.
func findForegoneRatio(in Input, criterion tare.Criterion, rule tare.Rule, workload string) []tare.Finding {
	least, most, seen := 1.0, 1.0, false
	for _, c := range in.Comparisons {
		if c.Workload != workload || c.Metric != criterion.Metric || !in.covers(criterion, c.Contender) || !c.Bounded() {
			continue
		}
		least, most, seen = min(least, c.Low), max(most, c.High), true
	}
	if !seen || !isForegone(rule, least, most) {
		return nil
	}
	return []tare.Finding{{
		Contender: criterion.Contender, Workload: workload,
		Message: fmt.Sprintf("%s could not fail: all ratios it is about, and 1, lie between %.3g and %.3g", criterion, least, most),
	}}
}

// findForegoneValue compares the limit of a value with those of the contenders, the baseline and the
// null contender.
func findForegoneValue(in Input, criterion tare.Criterion, rule tare.Rule, workload string) []tare.Finding {
	least, most, unit := math.Inf(1), 0.0, ""
	var null tare.Value
	for _, v := range in.Values {
		if v.Workload != workload || v.Metric != criterion.Metric || v.Struck {
			continue
		}
		switch role := in.roleOf(v.Contender); {
		case role == tare.RoleNull:
			null = v
		case role == tare.RoleBaseline, role == tare.RoleContender, criterion.Contender == v.Contender:
			least, most, unit = min(least, v.Low), max(most, v.High), v.Unit
		}
	}
	f := tare.Finding{Contender: criterion.Contender, Workload: workload}
	switch {
	case most > 0 && isForegone(rule, least, most):
		f.Message = fmt.Sprintf("%s could not fail: everything that was measured lies between %s and %s %s", criterion, formatNumber(least), formatNumber(most), unit)
	case rule.AtMost && null.Low > rule.Limit:
		f.Message = fmt.Sprintf("%s cannot be met: the harness alone takes %s %s", criterion, formatNumber(null.Value), null.Unit)
	default:
		return nil
	}
	return []tare.Finding{f}
}

// isForegone reports whether least to most is on the right side of the limit by the factor
// foregone.
func isForegone(rule tare.Rule, least, most float64) bool {
	if rule.AtMost {
		return rule.Limit >= foregone*most
	}
	return foregone*rule.Limit <= least
}

// findUndecidable finds the contenders with an edge inside their interval, if the control's
// half-width is not below margin.
func findUndecidable(in Input, criterion tare.Criterion, margin float64, edges []float64, workload string) []tare.Finding {
	half := tare.NoiseFloor(in.Comparisons, workload, criterion.Metric)
	if half == 0 || half < margin {
		return nil
	}
	var out []tare.Finding
	for _, c := range in.Comparisons {
		open := func(edge float64) bool { return c.Low <= edge && edge <= c.High }
		if c.Workload != workload || c.Metric != criterion.Metric || !in.covers(criterion, c.Contender) || !c.Bounded() || !slices.ContainsFunc(edges, open) {
			continue
		}
		out = append(out, tare.Finding{
			Contender: c.Contender, Workload: workload,
			Message: fmt.Sprintf("%s asks for a difference of %s, but identical code is resolved to ±%s only (the control, %s)",
				criterion, format.Percent(math.Expm1(margin)), format.Percent(math.Expm1(half)), format.Count(c.Rounds, "round")),
		})
	}
	return out
}
