package judge

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// ruleValue rules on an absolute value: the order-statistic interval for the median over rounds,
// once, when the study has stopped.
func (b *rulingData) ruleValue(v *tare.Verdict, rule tare.Rule) {
	m, _ := tare.MetricNamed(v.Metric)
	per := b.d.Index().PerRound(m, v.Workload, v.Contender)
	v.Verdict = tare.Inconclusive
	if !b.d.Final {
		v.Sentence = fmt.Sprintf("%s: %s on %s is judged once, at the end.", v.Contender, v.Criterion, v.Workload)
		return
	}
	if b.ruleTooFewRequests(v, v.Workload, v.Contender) {
		return
	}
	lo, hi, ok := stats.OrderInterval(per, alpha)
	if !ok {
		v.RoundsNeeded = minValueRounds
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(len(per), "round"), v.RoundsNeeded)
		return
	}
	switch {
	case rule.AtMost && hi <= rule.Limit, !rule.AtMost && lo >= rule.Limit:
		v.Verdict = tare.Met
	case rule.AtMost && lo > rule.Limit, !rule.AtMost && hi < rule.Limit:
		v.Verdict = tare.NotMet
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s on %s: the median over rounds is %s (%s to %s, %s, %s).",
		v.Contender, v.Criterion, v.Verdict, v.Workload, formatValue(stats.Median(per), m.Unit),
		formatValue(lo, m.Unit), formatValue(hi, m.Unit), formatLevel(1-alpha), format.Count(len(per), "round"))
	if v.Verdict != tare.Inconclusive {
		return
	}
	// The forecast is that of the signed-rank interval; the sign test behind
	// an order-statistic interval needs half as many rounds again (relative
	// efficiency 2/3 for normal data: E. L. Lehmann, "Nonparametrics", §4.3).
	if n, ok := stats.RoundsNeeded(per, alpha, stats.MaxRounds, rule.Limit); ok {
		v.RoundsNeeded = min(max(n*3/2, len(per)+1), stats.MaxRounds)
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}
