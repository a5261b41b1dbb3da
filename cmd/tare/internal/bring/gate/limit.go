package gate

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/stats"
)

// limits are the members that hold the head's own figures on w to a limit.
func limits(res *tare.Result, index *evidence.Index, held Held, w tare.Workload) []member {
	var out []member
	for _, c := range held.Limits {
		metric, ok := tare.MetricNamed(c.Metric)
		rule, err := c.Rule()
		if !ok || err != nil || rule.Kind != tare.RuleValue || c.Workload != "" && c.Workload != w.ID || !slices.Contains(res.Metrics, c.Metric) || !w.Measures(metric) {
			continue
		}
		r := newMeasuredRow(res, index, held, w.ID, metric)
		r.Limit, r.least = rule.Limit, !rule.AtMost
		m := member{r, judge.Question{Effects: index.PerRound(metric, w.ID, HeadID), Edges: []float64{r.Limit}, Looks: 1, Median: true}, index}
		r.Rounds = len(m.Effects)
		if v, ok := untold(res, w.ID, c.Metric, rule); ok {
			r.why, r.Needed, m.Effects = v.Sentence, v.RoundsNeeded, nil
		}
		out = append(out, m.unlessVoid())
	}
	return out
}

// untold is the result's own verdict on a limit where it could not rule: too
// few answers beyond the quantile, or an interval that is too wide for one
// verdict alone, and so for one of several.
func untold(res *tare.Result, workload, metric string, rule tare.Rule) (tare.Verdict, bool) {
	for _, v := range res.Verdicts {
		if v.Contender == HeadID && v.Workload == workload && v.Metric == metric && v.Rule == rule {
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
		if n, ok := stats.RoundsNeeded(m.Effects, 1-s.Level, stats.MaxRounds, r.Limit); ok {
			r.Needed = min(max(n*3/2, r.Rounds+1), stats.MaxRounds)
		}
	}
}
