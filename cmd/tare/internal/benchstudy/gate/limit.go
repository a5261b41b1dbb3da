package gate

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/stats"
)

// newLimitMembers returns the members that compare the head's own values on w with limits.
func newLimitMembers(res *tare.Result, index *evidence.Index, held Held, w tare.Workload) []member {
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
		if v, ok := findInconclusive(res, w.ID, c.Metric, rule); ok {
			r.why, r.Needed, m.Effects = v.Sentence, v.RoundsNeeded, nil
		}
		out = append(out, m.markVoid())
	}
	return out
}

// findInconclusive returns the result's own verdict on a limit if it is inconclusive: too few
// requests beyond the quantile, or an interval too wide for a single verdict, and so for one of
// several.
func findInconclusive(res *tare.Result, workload, metric string, rule tare.Rule) (tare.Verdict, bool) {
	for _, v := range res.Verdicts {
		if v.Contender == HeadID && v.Workload == workload && v.Metric == metric && v.Rule == rule {
			return v, v.Verdict == tare.Inconclusive
		}
	}
	return tare.Verdict{}, false
}

// judgeLimit gives the row of a limit its outcome.
func (m member) judgeLimit(s stats.Span) {
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
		// The sign test of this interval needs half as many rounds again as the signed-rank test of
		// the forecast (relative efficiency 2/3 for normal data: E. L. Lehmann, "Nonparametrics",
		// §4.3).
		if n, ok := stats.RoundsNeeded(m.Effects, 1-s.Level, stats.MaxRounds, r.Limit); ok {
			r.Needed = min(max(n*3/2, r.Rounds+1), stats.MaxRounds)
		}
	}
}
