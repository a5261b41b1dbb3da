package judge

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file splits the difference between two programs into causes. For example, one server takes
// 50 µs more than another: the framework is 18 % of that and a log 82 %.

// Decompose splits differences into causes. A decomposition is a chain of contenders. Each step of
// the chain adds one cause, such as a line of log. For each step Decompose computes a ratio, and
// the step's share in the difference between the ends ([stats.Share]).
//
// The n steps together have an error level of 5 %. By Bonferroni's inequality, each interval is at
// 5 %/n. The interval of the total difference is at 5 %. Shares are computed only if that
// difference is significant and exceeds the noise floor. The noise floor is the difference between
// two copies of the baseline.
//
// A contender without valid measurements is removed from the chain. Its cause is added to the next
// step, and the sentence of the decomposition names it. If no step remains, the sentence has the
// reason.
//
// Source: O. J. Dunn, "Multiple comparisons among means", J. Amer. Statist. Assoc. 56 (1961) 52–64.
func Decompose(d evidence.Evidence, effects []tare.Effects, comparisons []tare.Comparison, findings []tare.Finding) []tare.Decomposition {
	j := &judge{evidence: d.Indexed(), comparisons: comparisons, findings: findings}
	var out []tare.Decomposition
	for _, planned := range d.Study.Decompose {
		if len(planned.Steps) > 0 { // always true in a valid study
			out = append(out, j.decomposeOne(planned, effects))
		}
	}
	return out
}

func (j *judge) decomposeOne(planned tare.Decompose, effects []tare.Effects) tare.Decomposition {
	out := tare.Decomposition{
		ID: planned.ID, Question: planned.Question, Workload: planned.Workload, Metric: cmp.Or(planned.Metric, j.evidence.Primary()),
		Whole: tare.Cause{From: planned.From, To: planned.Steps[len(planned.Steps)-1].To}, Steps: []tare.Cause{},
	}
	noun := tare.MetricFor(out.Metric).Noun
	withoutSteps := func(why string) tare.Decomposition {
		out.Steps = []tare.Cause{}
		out.Sentence = fmt.Sprintf("The difference in %s of %s against %s on %s is not taken apart: %s.", noun, out.Whole.To, out.Whole.From, out.Workload, why)
		return out
	}
	if why, ok := j.evidence.Measures(out.Workload, out.Metric); !ok {
		return withoutSteps(why)
	}
	chain, omitted, why := j.buildChain(planned, out.Metric)
	if why != "" {
		return withoutSteps(why)
	}
	out.Whole.To = chain[len(chain)-1].To
	setRatio := func(c *tare.Cause, level float64) bool {
		return j.setCauseRatio(c, out.Workload, out.Metric, effects, level)
	}
	if !setRatio(&out.Whole, alpha) {
		return withoutSteps(fmt.Sprintf("there is no ratio of %s to %s", out.Whole.To, out.Whole.From))
	}
	for _, step := range chain {
		if !setRatio(&step, alpha/float64(len(chain))) {
			return withoutSteps(fmt.Sprintf("there is no ratio of %s to %s", step.To, step.From))
		}
		out.Steps = append(out.Steps, step)
	}
	out.Sentence = j.addShares(&out) + omitted
	return out
}

// buildChain returns the steps between the contenders of a chain that can be compared. omitted is a
// sentence about the others, or "". If no step remains, it returns only why.
func (j *judge) buildChain(planned tare.Decompose, metric string) (steps []tare.Cause, omitted, why string) {
	if why := j.whyAbsent(planned.From, planned.Workload, metric); why != "" {
		return nil, "", why
	}
	from, causes := planned.From, "" // last comparable contender, and the causes since then
	var whys []string
	for _, s := range planned.Steps {
		if causes != "" {
			causes += " and "
		}
		causes += s.Cause
		if why := j.whyAbsent(s.To, planned.Workload, metric); why != "" {
			whys = append(whys, why)
			continue
		}
		steps = append(steps, tare.Cause{Cause: causes, From: from, To: s.To})
		from, causes = s.To, ""
	}
	switch {
	case len(steps) == 0:
		return nil, "", strings.Join(whys, "; ")
	case len(whys) > 0 && causes != "":
		return steps, fmt.Sprintf(" Left out: %s; the chain ends at %s.", strings.Join(whys, "; "), from), ""
	case len(whys) > 0:
		return steps, fmt.Sprintf(" Left out: %s.", strings.Join(whys, "; ")), ""
	}
	return steps, "", ""
}

// whyAbsent returns why a contender cannot be part of a chain, or "".
func (j *judge) whyAbsent(id, workload, metric string) string {
	contender, ok := j.evidence.Contender(id)
	if !ok {
		return id + " was not measured"
	}
	if contender.Absent() {
		return id + " is " + contender.Error
	}
	if fs := tare.VoidsMetric(j.findings, id, workload, metric); len(fs) > 0 {
		return fmt.Sprintf("%s is void by %s: %s", id, fs[0].Check, fs[0].Message)
	}
	if contender.Role == tare.RoleTrap {
		return id + " is a trap, and traps are not compared"
	}
	if m, _ := tare.MetricNamed(metric); len(j.evidence.Index().PerRound(m, workload, id)) == 0 {
		return fmt.Sprintf("%s has no %s on %s", id, tare.MetricFor(metric).Noun, workload)
	}
	return ""
}

// setCauseRatio sets the ratio of one step, with its interval at error level level. It returns false
// without a ratio. Low and High stay zero if there are too few rounds for an interval.
func (j *judge) setCauseRatio(c *tare.Cause, workload, metric string, effects []tare.Effects, level float64) bool {
	x := j.evidence.Index()
	e, ok := tare.EffectsOf(effects, workload, metric, c.To, c.From)
	if !ok {
		e = computeEffects(x, j.evidence, workload, metric, c.To, c.From)
	}
	if len(e.Effects) == 0 {
		return false
	}
	c.Ratio = math.Exp(stats.HodgesLehmann(e.Effects))
	c.Rounds = len(e.Effects)
	c.Level = 1 - level
	if lo, hi, ok := stats.Interval(e.Effects, stats.LookLevel(level, j.evidence.Looks())); ok {
		c.Low, c.High = math.Exp(lo), math.Exp(hi)
	}
	from, _ := findValue(x, workload, metric, tare.Contender{ID: c.From})
	to, _ := findValue(x, workload, metric, tare.Contender{ID: c.To})
	c.FromValue, c.ToValue, c.Unit = from.Value, to.Value, to.Unit
	return true
}

// addShares sets the share of each step of out and returns a sentence about them. If they cannot be
// computed, the sentence has the reason.
func (j *judge) addShares(out *tare.Decomposition) string {
	total := tare.Comparison{
		Ratio: out.Whole.Ratio, Low: out.Whole.Low, High: out.Whole.High, Level: out.Whole.Level, Rounds: out.Whole.Rounds,
		Exact: out.Whole.Low == out.Whole.High,
	}
	ids := []string{out.Whole.From} // contenders of the chain
	for _, s := range out.Steps {
		ids = append(ids, s.To)
	}
	pair := fmt.Sprintf("of %s against %s on %s", out.Whole.To, out.Whole.From, out.Workload)
	level := stats.LookLevel(1-out.Steps[0].Level, j.evidence.Looks())
	if sentence := j.whyNoShares(*out, total, ids, pair, level); sentence != "" {
		return sentence
	}
	if !j.computeShares(out, ids, level) {
		return fmt.Sprintf("The %s are not taken apart yet: more rounds are needed.", describeTotal(out.Metric, total, pair))
	}
	return fmt.Sprintf("Of the %s, %s.", describeTotal(out.Metric, total, pair), listShares(out.Steps))
}

// describeTotal returns e.g. "56 % more CPU time of a against b on w (1.56×, 1.5 to 1.6, 95 %, 20
// rounds)".
func describeTotal(metric string, total tare.Comparison, pair string) string {
	m := tare.MetricFor(metric)
	direction := m.More
	if total.Ratio < 1 {
		direction = m.Less
	}
	ratio, interval := formatInterval(total, 1)
	return fmt.Sprintf("%s %s %s (%s×, %s)", format.Percent(math.Abs(total.Ratio-1)), direction, pair, ratio, interval)
}

// whyNoShares returns a sentence that says why the total difference must not be split, or "". ids are
// the contenders of the chain, pair names its ends, and level is the error level of a share.
func (j *judge) whyNoShares(d tare.Decomposition, total tare.Comparison, ids []string, pair string, level float64) string {
	noun := tare.MetricFor(d.Metric).Noun
	if minRounds := stats.MinRounds(level); !total.Bounded() || total.Rounds < minRounds {
		return fmt.Sprintf("The difference in %s %s is not taken apart: no interval after %s; it takes %d.", noun, pair, format.Count(total.Rounds, "round"), minRounds)
	}
	ratio, interval := formatRatio(total, 1)
	noiseFloor := tare.NoiseFloor(j.comparisons, d.Workload, d.Metric)
	switch total.Differs(noiseFloor) {
	case tare.NotShown:
		return fmt.Sprintf("No difference in %s %s is shown, so none is taken apart; the ratio is %s %s.", noun, pair, ratio, interval)
	case tare.WithinNoise:
		return fmt.Sprintf("No difference in %s %s is shown, so none is taken apart; the ratio %s %s is within what the control shows here (±%s).",
			noun, pair, ratio, interval, format.Percent(math.Expm1(noiseFloor)))
	}
	if why, _ := j.whyTooFewRequests(d.Metric, d.Workload, ids...); why != "" {
		return fmt.Sprintf("The difference in %s %s is not taken apart: %s is thin: %s.", noun, pair, d.Metric, why)
	}
	return ""
}

// computeShares sets the share of each step. If one has no interval, it sets none and returns false.
// ids are the contenders of the chain.
func (j *judge) computeShares(out *tare.Decomposition, ids []string, level float64) bool {
	index := j.evidence.Index()
	m, _ := tare.MetricNamed(out.Metric)
	var totals []float64                       // total difference in each round
	parts := make([][]float64, len(out.Steps)) // by step and round: part of the difference
	for _, r := range index.Rounds() {
		var values []float64
		for _, id := range ids {
			if v, ok := index.InRound(m, evidence.At(r, out.Workload, id)); ok {
				values = append(values, v)
			}
		}
		if len(values) < len(ids) { // a contender was not measured in this round
			continue
		}
		totals = append(totals, values[len(ids)-1]-values[0])
		for i := range parts {
			parts[i] = append(parts[i], values[i+1]-values[i])
		}
	}
	steps := make([]tare.Cause, len(out.Steps))
	for i, c := range out.Steps {
		var ok bool
		if c.Share, c.ShareLow, c.ShareHigh, ok = stats.Share(parts[i], totals, level); !ok {
			return false
		}
		steps[i] = c
	}
	copy(out.Steps, steps)
	return true
}

// listShares returns e.g. "the framework is 18 % (15 to 21) and a line of log 82 % (79 to 85), each
// at 97.5 %".
func listShares(steps []tare.Cause) string {
	s := ""
	for i, c := range steps {
		share, lo, hi := formatShares(c.Share, c.ShareLow, c.ShareHigh, 0)
		switch {
		case i > 0 && i == len(steps)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += c.Cause
		if i == 0 {
			s += " is"
		}
		s += " " + share + " %"
		if c.ShareLow != c.ShareHigh {
			s += fmt.Sprintf(" (%s to %s)", lo, hi)
		}
	}
	if len(steps) > 1 {
		s += ", each at " + formatLevel(steps[0].Level)
	}
	return s
}
