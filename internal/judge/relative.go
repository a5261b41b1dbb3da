package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// member is one difference in the family of a contender: on a workload, as a
// share of what the baseline takes on the workload of.
type member struct {
	workload, of string
	Question
	stats.Span
}

// ruleDifference rules on the excess over the baseline as a share of the baseline's value on
// another workload: a router's overhead compared with an entire request. The rule is one-sided: a
// contender that takes less meets it.
func (b *rulingData) ruleDifference(v *tare.Verdict, criterion tare.Criterion, rule tare.Rule) {
	baseline := b.d.Study.Baseline
	if f, ok := b.findVoid(baseline, criterion.Of, v.Metric, false); ok {
		v.Verdict, v.Sentence = tare.VoidRuling, voidSentence(baseline, criterion.Of, f)
		return
	}
	if b.ruleTooFewRequests(v, criterion.Of, baseline) {
		return
	}
	var m member
	for _, one := range b.resolveDifferences(v.Contender, v.Metric) {
		if one.workload == v.Workload && one.of == criterion.Of {
			m = one
		}
	}
	v.Verdict = tare.Inconclusive
	if !m.OK {
		if len(m.Effects) == 0 {
			v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: there is no difference in %s to take a share of %s of.",
				v.Contender, v.Criterion, v.Workload, tare.MetricFor(v.Metric).Noun, criterion.Of)
			return
		}
		v.RoundsNeeded = stats.MinRounds(stats.LookLevel(1-m.Level, b.d.Looks()))
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(len(m.Effects), "round"), v.RoundsNeeded)
		return
	}
	switch {
	case m.High <= rule.Limit*(1+slack):
		v.Verdict = tare.Met
	case m.Low > rule.Limit:
		v.Verdict = tare.NotMet
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s: %s.", v.Contender, v.Criterion, v.Verdict, b.describeDifference(m, *v, rule.Limit))
	if v.Verdict != tare.Inconclusive {
		return
	}
	at := stats.LookLevel(1-m.Level, b.d.Looks())
	if n, ok := stats.RoundsNeeded(m.Effects, at, stats.MaxRounds, rule.Limit); ok {
		v.RoundsNeeded = n
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}

// resolveDifferences computes the intervals of all differences that criteria set limits to, for one
// metric of one contender. They step down together, as ratios do.
func (b *rulingData) resolveDifferences(contender, metric string) []member {
	key := [2]string{contender, metric}
	if ms, ok := b.differences[key]; ok {
		return ms
	}
	var ms []member
	for _, c := range b.d.Study.Criteria {
		rule, err := c.Rule()
		if err != nil || rule.Kind != tare.RuleDifference || c.Metric != metric || c.Contender != "" && c.Contender != contender {
			continue
		}
		for _, w := range b.d.Study.Workloads {
			if c.Workload == "" || c.Workload == w.ID {
				ms = b.addDifference(ms, c, rule.Limit, contender, w.ID)
			}
		}
	}
	var of []Question
	for _, m := range ms {
		of = append(of, m.Question)
	}
	for i, s := range Settle(of, alpha) {
		ms[i].Span = s
	}
	if b.differences == nil {
		b.differences = map[[2]string][]member{}
	}
	b.differences[key] = ms
	return ms
}

// addDifference adds the difference that a criterion limits on workload to those of a family, or
// only its limit if the difference is there.
func (b *rulingData) addDifference(ms []member, c tare.Criterion, limit float64, contender, workload string) []member {
	if !isMeasuredOn(b.d, c, workload) {
		return ms
	}
	for i := range ms {
		if ms[i].workload == workload && ms[i].of == c.Of {
			ms[i].Edges = append(ms[i].Edges, limit)
			return ms
		}
	}
	per := sharesByRound(b.d.Index(), c.Metric, workload, c.Of, contender, b.d.Study.Baseline)
	if len(per) == 0 {
		return ms
	}
	return append(ms, member{workload: workload, of: c.Of, Question: Question{Effects: per, Edges: []float64{0, limit}, Looks: b.d.Looks()}})
}

// sharesByRound returns (contender − baseline) on workload over what the baseline
// took on workload of, one per round in which all three were measured.
func sharesByRound(x *evidence.Index, metric, workload, of, contender, baseline string) []float64 {
	m, _ := tare.MetricNamed(metric)
	var out []float64
	for _, r := range x.Rounds() {
		own, ok1 := x.InRound(m, evidence.At(r, workload, contender))
		base, ok2 := x.InRound(m, evidence.At(r, workload, baseline))
		whole, ok3 := x.InRound(m, evidence.At(r, of, baseline))
		if ok1 && ok2 && ok3 && whole > 0 {
			out = append(out, (own-base)/whole)
		}
	}
	return out
}

// describeDifference returns the difference in words: "it costs 0.4 % of socket/health more CPU
// time than nethttp on five/param (0.3 to 0.5 %, 95 %, 18 rounds)". If the interval includes no
// difference, or is within what the control shows, it claims none.
func (b *rulingData) describeDifference(m member, v tare.Verdict, limit float64) string {
	w := tare.MetricFor(v.Metric)
	share, lo, hi := stats.HodgesLehmann(m.Effects), m.Low, m.High
	on := fmt.Sprintf("%s on %s", b.d.Study.Baseline, v.Workload)
	if m.Holds(0) {
		s, span := formatShareInterval(share, lo, hi, m, 0, limit)
		return fmt.Sprintf("no difference in %s from %s is shown; the estimate is %s of %s %s", w.Noun, on, s, m.of, span)
	}
	than, edges := w.More, []float64{0, limit}
	if share < 0 {
		share, lo, hi, than, edges = -share, -hi, -lo, w.Less, []float64{0}
	}
	s, span := formatShareInterval(share, lo, hi, m, edges...)
	tail := ""
	control := sharesByRound(b.d.Index(), v.Metric, v.Workload, m.of, tare.ControlID, b.d.Study.Baseline)
	if cl, ch, ok := stats.Interval(control, stats.LookLevel(1-m.Level, b.d.Looks())); ok && !(share > (ch-cl)/2) {
		tail = fmt.Sprintf(", which is within what the control shows here (±%s)", format.Percent((ch-cl)/2))
	}
	return fmt.Sprintf("it costs %s of %s %s than %s %s%s", s, m.of, than, on, span, tail)
}

// formatShareInterval returns a share, and its interval in brackets.
func formatShareInterval(share, lo, hi float64, m member, edges ...float64) (s, span string) {
	s, l, h := formatShares(share, lo, hi, edges...)
	if lo == hi {
		return s + " %", fmt.Sprintf("(the same in each of %s)", format.Count(len(m.Effects), "round"))
	}
	return s + " %", fmt.Sprintf("(%s to %s %%, %s, %s)", l, h, formatLevel(m.Level), format.Count(len(m.Effects), "round"))
}

// formatShares writes a share and its interval in per cent, with as many
// decimals as the width of the interval bears, and more where rounding would
// carry a bound across one of the edges.
func formatShares(share, lo, hi float64, edges ...float64) (s, l, h string) {
	decimals := format.Decimals(math.Abs(100 * share))
	if width := 100 * (hi - lo); width > 0 {
		decimals = min(max(0, int(math.Ceil(-math.Log10(width)))), 5)
	}
	percents := make([]float64, len(edges))
	for i, e := range edges {
		percents[i] = 100 * e
	}
	for decimals < 5 && crossesEdge(100*lo, 100*hi, decimals, percents) {
		decimals++
	}
	write := formatFixed
	if lo == hi {
		write = format.Trimmed
	}
	signed := func(x float64) string {
		s := write(math.Abs(100*x), decimals)
		if x < 0 && s != write(0, decimals) {
			return "−" + s
		}
		return s
	}
	return signed(share), signed(lo), signed(hi)
}
