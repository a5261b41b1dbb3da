package gate

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/stats"
)

// This file judges limits, such as p99 <= 20ms. They apply to the values of the head, not to its
// ratio to the base.

func newLimitMembers(res *tare.Result, index *evidence.Index, required Requirements, w tare.Workload) []member {
	var out []member
	for _, c := range required.Limits {
		metric, ok := tare.MetricNamed(c.Metric)
		rule, err := c.Rule()
		if !ok || err != nil || rule.Kind != tare.RuleValue {
			continue
		}
		isMeasured := slices.Contains(res.Metrics, c.Metric) && w.Measures(metric)
		isForWorkload := c.Workload == "" || c.Workload == w.ID
		if !isMeasured || !isForWorkload {
			continue
		}
		r := newMeasuredRow(res, index, required, w.ID, metric)
		r.Limit, r.isMin = rule.Limit, !rule.AtMost
		question := judge.Question{Effects: index.PerRound(metric, w.ID, HeadID), Edges: []float64{r.Limit}, Looks: 1, Median: true}
		m := member{row: r, Question: question, index: index}
		r.Rounds = len(m.Effects)
		if v, ok := findInconclusive(res, w.ID, c.Metric, rule); ok {
			r.why, r.RoundsNeeded, m.Effects = v.Sentence, v.RoundsNeeded, nil
		}
		out = append(out, m.markVoid())
	}
	return out
}

// findInconclusive returns the study's own verdict on a limit. ok means that it is inconclusive.
// Then the row is undecided, too, because its interval at the stricter level of all rows is even
// wider.
func findInconclusive(res *tare.Result, workload, metric string, rule tare.Rule) (verdict tare.Verdict, ok bool) {
	for _, v := range res.Verdicts {
		if v.Contender == HeadID && v.Workload == workload && v.Metric == metric && v.Rule == rule {
			return v, v.Verdict == tare.Inconclusive
		}
	}
	return tare.Verdict{}, false
}

// judgeLimit sets the outcome of a row with a limit. span is the interval of the head's median over
// rounds.
func (m member) judgeLimit(span stats.Span) {
	r := m.row
	r.Outcome, r.Level = Open, span.Level
	if !span.OK {
		return
	}
	r.Low, r.High = span.Low, span.High
	isExceeded, isMet := span.Low > r.Limit, span.High <= r.Limit
	if r.isMin {
		isExceeded, isMet = span.High < r.Limit, span.Low >= r.Limit
	}
	switch {
	case isExceeded:
		r.Outcome = Worse
	case isMet:
		r.Outcome = NoWorse
	default:
		// RoundsNeeded forecasts for the signed-rank test. This interval inverts the sign test,
		// which needs 3/2 as many rounds. (Its relative efficiency is 2/3 for normal data: E. L.
		// Lehmann, "Nonparametrics", §4.3.)
		if n, ok := stats.RoundsNeeded(m.Effects, 1-span.Level, stats.MaxRounds, r.Limit); ok {
			r.RoundsNeeded = min(max(n*3/2, r.Rounds+1), stats.MaxRounds)
		}
	}
}
