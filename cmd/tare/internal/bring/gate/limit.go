package gate

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// limits are the members that hold the head's own figures on w to a limit.
func limits(res *tare.Result, held Held, w tare.Workload) []member {
	var out []member
	for _, c := range held.Limits {
		metric, ok := tare.MetricNamed(c.Metric)
		rule, err := c.Rule()
		if !ok || err != nil || rule.Kind != tare.RuleValue || c.Workload != "" && c.Workload != w.ID || !slices.Contains(res.Metrics, c.Metric) || !w.Measures(metric) {
			continue
		}
		r := newRow(res, held, w.ID, metric)
		r.Limit, r.least = rule.Limit, !rule.AtMost
		m := member{row: r, effects: samples(res, w.ID, HeadID, metric), looks: 1, limit: true}
		r.Rounds = len(m.effects)
		if v, ok := untold(res, w.ID, c); ok {
			r.why, r.Needed, m.effects = v.Sentence, v.RoundsNeeded, nil
		}
		out = append(out, m.unlessVoid())
	}
	return out
}

// untold is the result's own verdict on a limit where it could not rule: too
// few answers beyond the quantile, or an interval that is too wide for one
// verdict alone, and so for one of several.
func untold(res *tare.Result, workload string, c tare.Criterion) (tare.Verdict, bool) {
	for _, v := range res.Verdicts {
		if v.Contender == HeadID && v.Workload == workload && v.Metric == c.Metric && v.Criterion == c.String() {
			return v, v.Verdict == tare.Inconclusive
		}
	}
	return tare.Verdict{}, false
}

// ruleLimit gives a limit its word.
func (m member) ruleLimit(s stats.Span) {
	r := m.row
	r.Outcome, r.Level = Open, s.Level
	if !s.OK {
		return
	}
	r.Low, r.High = s.Low, s.High
	above, below := s.Low > r.Limit, s.High <= r.Limit
	if r.least {
		above, below = s.High < r.Limit, s.Low >= r.Limit
	}
	switch {
	case above:
		r.Outcome = Worse
	case below:
		r.Outcome = NoWorse
	default:
		// The sign test behind this interval needs half as many rounds again as
		// the signed-rank one that the forecast is made for (relative efficiency
		// 2/3 for normal data: E. L. Lehmann, "Nonparametrics", §4.3).
		if n, ok := stats.RoundsNeeded(m.effects, 1-s.Level, stats.MaxRounds, r.Limit); ok {
			r.Needed = min(max(n*3/2, r.Rounds+1), stats.MaxRounds)
		}
	}
}
