package judge

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file decides criteria that limit the difference from the baseline as a share of something
// else. For example, a router may take at most 5 % of an entire request more than the baseline.

// difference is the additional cost of a contender, as a share of another cost of the baseline. For
// example, a router takes 2 µs more than the baseline to find a route. That is 0.4 % of the 500 µs
// that the baseline takes for an entire request.
type difference struct {
	workload string     // workload on which the contender costs more, e.g. finding a route
	total    string     // workload on which the baseline's cost is 100 %, e.g. an entire request
	question Question   // Effects are the shares by round, Edges the limits of criteria
	interval stats.Span // of the share; OK is false if there are too few rounds
}

type differenceKey struct{ contender, metric string }

// ruleDifference decides a criterion that limits a difference, and sets the ruling and the sentence of
// v. A contender that is proven to take less than the baseline meets it.
func (j *judge) ruleDifference(v *tare.Verdict, criterion tare.Criterion, rule tare.Rule) {
	baseline := j.evidence.Study.Baseline
	if f, ok := j.findVoid(baseline, criterion.Of, v.Metric); ok {
		v.Verdict, v.Sentence = tare.VoidRuling, voidSentence(baseline, criterion.Of, f)
		return
	}
	if j.ruleTooFewRequests(v, criterion.Of, baseline) {
		return
	}
	d := j.findDifference(v.Contender, v.Metric, v.Workload, criterion.Of)
	shares, level := d.question.Effects, stats.LookLevel(1-d.interval.Level, j.evidence.Looks())
	v.Verdict = tare.Inconclusive
	switch {
	case len(shares) == 0:
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: there is no difference in %s to take a share of %s of.",
			v.Contender, v.Criterion, v.Workload, tare.MetricFor(v.Metric).Noun, criterion.Of)
		return
	case !d.interval.OK:
		v.RoundsNeeded = stats.MinRounds(level)
		v.Sentence = fmt.Sprintf("%s: %s is inconclusive on %s: no interval after %s; it takes %d.",
			v.Contender, v.Criterion, v.Workload, format.Count(len(shares), "round"), v.RoundsNeeded)
		return
	case d.interval.High <= rule.Limit*(1+roundingTolerance):
		v.Verdict = tare.Met
	case d.interval.Low > rule.Limit:
		v.Verdict = tare.NotMet
	}
	v.Sentence = fmt.Sprintf("%s: %s is %s: %s.", v.Contender, v.Criterion, v.Verdict, j.describeDifference(d, *v, rule.Limit))
	if v.Verdict != tare.Inconclusive {
		return
	}
	if n, ok := stats.RoundsNeeded(shares, level, stats.MaxRounds, rule.Limit); ok {
		v.RoundsNeeded = n
	}
	v.Sentence += " " + forecastSentence(v.RoundsNeeded)
}

// findDifference returns the difference on workload as a share of the baseline on workload total. It
// returns the zero value if no round has it.
func (j *judge) findDifference(contender, metric, workload, total string) difference {
	for _, d := range j.computeDifferences(contender, metric) {
		if d.workload == workload && d.total == total {
			return d
		}
	}
	return difference{}
}

// computeDifferences computes the differences of one contender and metric that criteria limit. Their
// intervals are one family with a common error level. It stores them in j.differences for later
// calls.
func (j *judge) computeDifferences(contender, metric string) []difference {
	key := differenceKey{contender, metric}
	if family, ok := j.differences[key]; ok {
		return family
	}
	var family []difference
	for _, c := range j.evidence.Study.Criteria {
		rule, err := c.Rule()
		isCovered := c.Metric == metric && (c.Contender == "" || c.Contender == contender)
		if err != nil || rule.Kind != tare.RuleDifference || !isCovered {
			continue
		}
		for _, w := range j.evidence.Study.Workloads {
			if c.Workload == "" || c.Workload == w.ID {
				family = j.addDifference(family, c, rule.Limit, contender, w.ID)
			}
		}
	}
	var questions []Question
	for _, d := range family {
		questions = append(questions, d.question)
	}
	for i, s := range Settle(questions, alpha) {
		family[i].interval = s
	}
	if j.differences == nil {
		j.differences = map[differenceKey][]difference{}
	}
	j.differences[key] = family
	return family
}

// addDifference adds the difference that criterion c limits to family. If family has it already,
// addDifference only adds limit to its edges, the values at which a decision flips.
func (j *judge) addDifference(family []difference, c tare.Criterion, limit float64, contender, workload string) []difference {
	if !isMeasuredOn(j.evidence, c, workload) {
		return family
	}
	for i := range family {
		if family[i].workload == workload && family[i].total == c.Of {
			family[i].question.Edges = append(family[i].question.Edges, limit)
			return family
		}
	}
	shares := sharesByRound(j.evidence.Index(), c.Metric, workload, c.Of, contender, j.evidence.Study.Baseline)
	if len(shares) == 0 {
		return family
	}
	question := Question{Effects: shares, Edges: []float64{0, limit}, Looks: j.evidence.Looks()} // 0: no difference
	return append(family, difference{workload: workload, total: c.Of, question: question})
}

// sharesByRound returns (contender − baseline) on workload over the baseline on workload total, for
// each round that has all three values.
func sharesByRound(x *evidence.Index, metric, workload, total, contender, baseline string) []float64 {
	m, _ := tare.MetricNamed(metric)
	var out []float64
	for _, r := range x.Rounds() {
		value, okValue := x.InRound(m, evidence.At(r, workload, contender))
		base, okBase := x.InRound(m, evidence.At(r, workload, baseline))
		denominator, okDenominator := x.InRound(m, evidence.At(r, total, baseline))
		areMeasured := okValue && okBase && okDenominator
		if areMeasured && denominator > 0 {
			out = append(out, (value-base)/denominator)
		}
	}
	return out
}

// describeDifference returns e.g. "it costs 0.4 % of socket/health more CPU time than nethttp on
// five/param (0.3 to 0.5 %, 95 %, 18 rounds)".
func (j *judge) describeDifference(d difference, v tare.Verdict, limit float64) string {
	metric := tare.MetricFor(v.Metric)
	share, lo, hi := stats.HodgesLehmann(d.question.Effects), d.interval.Low, d.interval.High
	base := fmt.Sprintf("%s on %s", j.evidence.Study.Baseline, v.Workload)
	if includesZero := d.interval.Holds(0); includesZero {
		s, span := formatShareInterval(share, lo, hi, d, 0, limit)
		return fmt.Sprintf("no difference in %s from %s is shown; the estimate is %s of %s %s", metric.Noun, base, s, d.total, span)
	}
	than, edges := metric.More, []float64{0, limit}
	if share < 0 { // print it as a positive share that the contender saves
		share, lo, hi, than, edges = -share, -hi, -lo, metric.Less, []float64{0}
	}
	s, span := formatShareInterval(share, lo, hi, d, edges...)
	note := ""
	control := sharesByRound(j.evidence.Index(), v.Metric, v.Workload, d.total, tare.ControlID, j.evidence.Study.Baseline)
	if floor, ok := stats.HalfWidth(control, stats.LookLevel(1-d.interval.Level, j.evidence.Looks())); ok && !(share > floor) {
		note = fmt.Sprintf(", which is within what the control shows here (±%s)", format.Percent(floor))
	}
	return fmt.Sprintf("it costs %s of %s %s than %s %s%s", s, d.total, than, base, span, note)
}

// formatShareInterval returns a share in per cent, and its interval in brackets. Rounding moves no
// bound across one of edges.
func formatShareInterval(share, lo, hi float64, d difference, edges ...float64) (s, span string) {
	s, l, h := formatShares(share, lo, hi, edges...)
	rounds := format.Count(len(d.question.Effects), "round")
	if lo == hi {
		return s + " %", fmt.Sprintf("(the same in each of %s)", rounds)
	}
	return s + " %", fmt.Sprintf("(%s to %s %%, %s, %s)", l, h, formatLevel(d.interval.Level), rounds)
}

// formatShares formats a share and its interval in per cent. The width of the interval determines the
// number of decimals: none from 1 % on, one from 0.1 % on, and at most five. There are more decimals
// if rounding would move a bound across one of edges, the values at which a decision flips.
func formatShares(share, lo, hi float64, edges ...float64) (s, l, h string) {
	decimals := format.Decimals(math.Abs(100 * share))
	if width := 100 * (hi - lo); width > 0 {
		decimals = min(max(0, int(math.Ceil(-math.Log10(width)))), 5)
	}
	percents := make([]float64, len(edges))
	for i, e := range edges {
		percents[i] = 100 * e
	}
	for decimals < 5 && format.CrossesEdge(100*lo, 100*hi, decimals, percents) {
		decimals++
	}
	formatNumber := format.Fixed
	if lo == hi {
		formatNumber = format.Trimmed
	}
	formatSigned := func(x float64) string {
		s := formatNumber(math.Abs(100*x), decimals)
		if x < 0 && s != formatNumber(0, decimals) { // no sign before a rounded 0
			return "−" + s
		}
		return s
	}
	return formatSigned(share), formatSigned(lo), formatSigned(hi)
}
