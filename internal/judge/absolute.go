package judge

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file decides criteria that limit an absolute value, such as p99 <= 50ms.

// ruleValue decides a criterion that limits an absolute value, such as p99 <= 50ms. It decides only
// once, after the study has stopped.
func (j *judge) ruleValue(v *tare.Verdict, rule tare.Rule) {
	m, _ := tare.MetricNamed(v.Metric)
	values := j.evidence.Index().PerRound(m, v.Workload, v.Contender)
	v.Verdict = tare.Inconclusive
	if !j.evidence.Final {
		v.Sentence = fmt.Sprintf("%s: %s on %s is judged once, at the end.", v.Contender, v.Criterion, v.Workload)
		return
	}
	if j.ruleTooFewRequests(v, v.Workload, v.Contender) {
		return
	}
	lo, hi, ok := stats.OrderInterval(values, alpha)
	if !ok {
		v.RoundsNeeded = minValueRounds
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(len(values), "round"), v.RoundsNeeded)
		return
	}
	switch {
	case rule.AtMost && hi <= rule.Limit, !rule.AtMost && lo >= rule.Limit:
		v.Verdict = tare.Met
	case rule.AtMost && lo > rule.Limit, !rule.AtMost && hi < rule.Limit:
		v.Verdict = tare.NotMet
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s on %s: the median over rounds is %s (%s to %s, %s, %s).",
		v.Contender, v.Criterion, v.Verdict, v.Workload, formatValue(stats.Median(values), m.Unit),
		formatValue(lo, m.Unit), formatValue(hi, m.Unit), formatLevel(1-alpha), format.Count(len(values), "round"))
	if v.Verdict != tare.Inconclusive {
		return
	}
	// stats.RoundsNeeded forecasts the rounds of a signed-rank interval. An order-statistic interval
	// is the inverse of a sign test, which needs 3/2 as many rounds: its relative efficiency is 2/3
	// for normal data (E. L. Lehmann, "Nonparametrics", §4.3).
	if n, ok := stats.RoundsNeeded(values, alpha, stats.MaxRounds, rule.Limit); ok {
		v.RoundsNeeded = min(max(n*3/2, len(values)+1), stats.MaxRounds)
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}
