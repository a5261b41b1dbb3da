package judge

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// Verdicts states for every contender and workload the difference found on
// the primary metric (a verdict without a criterion), and rules on every
// criterion for every contender and workload it covers. A criterion that names
// no contender covers all of them, and as an absolute value the baseline too;
// traps, control and null it does not cover. Ratios are ruled at any look,
// absolute values once, when the study has stopped. What a finding voids, for
// the contender or for the baseline, is void.
func Verdicts(d Data, comparisons []tare.Comparison, findings []tare.Finding) []tare.Verdict {
	b := &bench{d: d, comparisons: comparisons, findings: findings}
	var out []tare.Verdict
	for _, w := range d.Study.Workloads {
		for _, c := range d.Contenders {
			if c.Role != tare.RoleContender {
				continue
			}
			if v, ok := b.difference(c.ID, w.ID); ok {
				out = append(out, v)
			}
		}
	}
	for _, criterion := range d.Study.Criteria {
		rule, err := criterion.Rule()
		if err != nil {
			continue // a valid study has none
		}
		for _, w := range d.Study.Workloads {
			for _, c := range d.Contenders {
				if !covers(criterion, rule, c, w.ID) {
					continue
				}
				v := tare.Verdict{Contender: c.ID, Workload: w.ID, Metric: criterion.Metric, Criterion: criterion.String()}
				if b.rule(&v, criterion, rule, c) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// covers reports whether the criterion is about c on workload.
func covers(criterion tare.Criterion, rule tare.Rule, c tare.Contender, workload string) bool {
	if criterion.Workload != "" && criterion.Workload != workload {
		return false
	}
	if criterion.Contender != "" {
		return criterion.Contender == c.ID
	}
	return c.Role == tare.RoleContender || c.Role == tare.RoleBaseline && rule.Kind == tare.RuleValue
}

// Decided reports whether more rounds could change nothing: every ratio
// criterion is met or not met and no claim is inconclusive. What is void, not
// measured or absolute does not hold a study up; a study with nothing else is
// never decided and runs to its budget.
func Decided(verdicts []tare.Verdict, claims []tare.ClaimResult) bool {
	settled := 0
	for _, v := range verdicts {
		if !strings.HasPrefix(v.Criterion, v.Metric+" ratio ") && !strings.HasPrefix(v.Criterion, v.Metric+" equivalent ") {
			continue
		}
		switch v.Verdict {
		case tare.Inconclusive:
			return false
		case tare.Met, tare.NotMet:
			settled++
		}
	}
	for _, c := range claims {
		if c.Kind == tare.ClaimStatement { // answered before the first round
			continue
		}
		switch c.Outcome {
		case tare.ClaimOpen:
			return false
		case tare.NotMeasured, tare.VoidAsPublished:
		default:
			settled++
		}
	}
	return settled > 0
}

// bench is what rulings are read from; what few of them need is worked out
// when first asked for.
type bench struct {
	d           Data
	comparisons []tare.Comparison
	findings    []tare.Finding
	evidence    *index
}

func (b *bench) index() *index {
	if b.evidence == nil {
		b.evidence = newIndex(b.d)
	}
	return b.evidence
}

func (b *bench) comparison(contender, workload, metric string) (tare.Comparison, bool) {
	i := slices.IndexFunc(b.comparisons, func(c tare.Comparison) bool {
		return c.Contender == contender && c.Workload == workload && c.Metric == metric
	})
	if i < 0 {
		return tare.Comparison{}, false
	}
	return b.comparisons[i], true
}

// void returns the finding that voids contender on workload, or else, where a
// ratio is asked for, the baseline on it.
func (b *bench) void(contender, workload string, ratio bool) (tare.Finding, bool) {
	fs := tare.Voids(b.findings, contender, workload)
	if len(fs) == 0 && ratio {
		fs = tare.Voids(b.findings, b.d.Study.Baseline, workload)
	}
	if len(fs) == 0 {
		return tare.Finding{}, false
	}
	return fs[0], true
}

// difference is the verdict without a criterion.
func (b *bench) difference(contender, workload string) (tare.Verdict, bool) {
	v := tare.Verdict{Contender: contender, Workload: workload, Metric: b.d.primary()}
	if f, ok := b.void(contender, workload, true); ok {
		v.Sentence = voided(contender, workload, f)
		return v, true
	}
	c, ok := b.comparison(contender, workload, v.Metric)
	if !ok {
		return v, false
	}
	control := halfWidth(b.comparisons, workload, v.Metric)
	v.Sentence = difference(c, control, b.d.looks())
	if differs(c, control) == shown {
		v.Sentence = withPrice(v.Sentence, b.d.price(contender, workload))
	}
	return v, true
}
