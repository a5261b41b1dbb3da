package judge

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file compares contenders, the measured programs, with the baseline. For example, "chi" takes
// 0.88 times the time of the baseline, with an interval of 0.86 to 0.90. Intervals that must hold
// together are a family with a common error level.

// alpha is the error level of a family of comparisons. It bounds the probability that any of the
// decisions of the family is wrong.
const alpha = stats.Alpha

// Compare compares every contender with the baseline, on every workload and metric. One of them is
// the control, which is the baseline measured a second time. Low and High are zero if there are too
// few rounds for an interval. The package documentation describes the level of the intervals.
//
// Comparisons by the primary metric also have ranks and letters. Only for it, the baseline is
// compared with itself (ratio 1).
func Compare(d evidence.Evidence, effects []tare.Effects) []tare.Comparison {
	x := d.Index()
	var out []tare.Comparison
	for _, w := range d.Study.Workloads {
		for _, metric := range evidence.MetricsOf(w, d.Study.Metrics) {
			if metric == d.Primary() {
				if c, ok := compareWithSelf(x, d, w.ID); ok {
					out = append(out, c)
				}
			}
			for _, id := range d.Compared() {
				e, ok := tare.EffectsOf(effects, w.ID, metric, id, d.Study.Baseline)
				if !ok || id == d.Study.Baseline {
					continue
				}
				c := compareWith(x, d, e)
				c.Exploratory = metric != d.Primary() && !isInQuestion(d, id, w.ID, metric)
				out = append(out, c)
			}
		}
	}
	setIntervals(d, effects, out)
	for i := range out {
		c := &out[i]
		if c.Contender != c.Against {
			continue
		}
		// The baseline's ratio to itself has no level. Reports print that of the control.
		if control, ok := tare.FindComparison(out, c.Workload, tare.ControlID, c.Metric); ok {
			c.Level = control.Level
		}
	}
	setRanks(d, effects, out, nil)
	return out
}

// Question is an interval to compute, and the decisions that depend on it. For example, a criterion
// allows a ratio of at most 1.05. Then ln 1.05 is an edge: the question is open while the interval
// contains it.
type Question struct {
	Effects []float64 // one per round; ratios as logarithms
	Edges   []float64 // values at which a decision flips, in the same unit
	Looks   int       // how often the plan lets the values be judged, at least 1
	Median  bool      // use the order-statistic interval of the median; Looks must be 1
}

// Interval returns the interval at error level alpha.
func (q Question) Interval(alpha float64) (s stats.Span) {
	if q.Median {
		s.Low, s.High, s.OK = stats.OrderInterval(q.Effects, alpha)
	} else {
		s.Low, s.High, s.OK = stats.Interval(q.Effects, stats.LookLevel(alpha, q.Looks))
	}
	return s
}

func setIntervals(d evidence.Evidence, effects []tare.Effects, comparisons []tare.Comparison) {
	for _, family := range groupFamilies(comparisons) {
		var questions []Question
		for _, i := range family {
			c := comparisons[i]
			e, _ := tare.EffectsOf(effects, c.Workload, c.Metric, c.Contender, c.Against)
			questions = append(questions, Question{Effects: e.Effects, Edges: decisionEdges(d, c.Contender, c.Workload, c.Metric), Looks: d.Looks()})
		}
		for k, s := range Settle(questions, alpha) {
			c := &comparisons[family[k]]
			c.Level, c.Low, c.High = s.Level, 0, 0
			if s.OK {
				c.Low, c.High = math.Exp(s.Low), math.Exp(s.High)
			}
		}
	}
}

// groupFamilies groups the indexes of comparisons into families with a common error level. An
// exploratory comparison is a family by itself.
func groupFamilies(cs []tare.Comparison) [][]int {
	type key struct {
		contender, metric string
		exploratory       int // 1 + index of an exploratory comparison, else 0
	}
	families := map[key]int{}
	var out [][]int
	for i, c := range cs {
		if c.Contender == c.Against {
			continue
		}
		k := key{contender: c.Contender, metric: c.Metric}
		if c.Exploratory {
			k.exploratory = i + 1
		}
		f, ok := families[k]
		if !ok {
			f = len(out)
			families[k] = f
			out = append(out, nil)
		}
		out[f] = append(out[f], i)
	}
	return out
}

// Settle returns the intervals of the questions of one family, at error level alpha. The package
// documentation describes the step-down procedure.
func Settle(family []Question, alpha float64) []stats.Span {
	return stats.StepDown(len(family), alpha,
		func(i int, alpha float64) stats.Span { return family[i].Interval(alpha) },
		func(i int, s stats.Span) bool { return slices.ContainsFunc(family[i].Edges, s.Holds) })
}

func compareWith(x *evidence.Index, d evidence.Evidence, e tare.Effects) tare.Comparison {
	c := tare.Comparison{
		Workload: e.Workload, Contender: e.A, Metric: e.Metric, Against: e.B,
		Ratio: math.Exp(stats.HodgesLehmann(e.Effects)), Rounds: len(e.Effects),
		Exact: len(e.Effects) > 1 && slices.Min(e.Effects) == slices.Max(e.Effects), // the same in every round
	}
	if len(e.Sums) > 0 {
		c.SumsRatio = math.Exp(stats.HodgesLehmann(e.Sums))
	}
	a, _ := findValue(x, e.Workload, e.Metric, tare.Contender{ID: e.A})
	b, _ := findValue(x, e.Workload, e.Metric, tare.Contender{ID: e.B})
	c.Value, c.AgainstValue, c.Unit = a.Value, b.Value, a.Unit
	return c
}

func compareWithSelf(x *evidence.Index, d evidence.Evidence, workload string) (c tare.Comparison, ok bool) {
	v, ok := findValue(x, workload, d.Primary(), tare.Contender{ID: d.Study.Baseline})
	return tare.Comparison{
		Workload: workload, Contender: d.Study.Baseline, Metric: d.Primary(), Against: d.Study.Baseline,
		Ratio: 1, Low: 1, High: 1, Level: 1 - alpha, Rounds: v.Rounds, Value: v.Value, AgainstValue: v.Value, Unit: v.Unit,
	}, ok
}

// isInQuestion reports whether a criterion or claim is about this comparison.
func isInQuestion(d evidence.Evidence, contender, workload, metric string) bool {
	return len(decisionEdges(d, contender, workload, metric)) > 1 // every comparison has the first edge
}

// decisionEdges returns the ratios, as logarithms, at which a decision flips. The first is 0, no
// difference.
func decisionEdges(d evidence.Evidence, contender, workload, metric string) []float64 {
	s, out := d.Study, []float64{0}
	if effect := d.Plan.Until; effect > 0 && metric == d.Primary() {
		out = append(out, math.Log1p(effect), -math.Log1p(effect))
	}
	for _, c := range s.Criteria {
		if !mayConcern(c, contender, workload) || c.Metric != metric {
			continue
		}
		switch rule, err := c.Rule(); {
		case err != nil: // impossible in a valid study
		case rule.Kind == tare.RuleRatio:
			out = append(out, math.Log(rule.Limit))
		case rule.Kind == tare.RuleEquivalent:
			out = append(out, math.Log1p(rule.Limit), -math.Log1p(rule.Limit))
		}
	}
	for _, c := range s.Claims {
		if c.Contender != contender || c.Workload != workload || c.Metric != metric {
			continue
		}
		switch c.Kind {
		case tare.ClaimRatio:
			out = append(out, claimEdges(c)...)
		case tare.ClaimShare:
			out = append(out, math.Log1p(-c.Value))
		}
	}
	return out
}

// mayConcern reports whether criterion c covers contender and workload. Without a contender it covers
// all except the control.
func mayConcern(c tare.Criterion, contender, workload string) bool {
	if c.Contender == "" && contender == tare.ControlID {
		return false
	}
	coversContender := c.Contender == "" || c.Contender == contender
	coversWorkload := c.Workload == "" || c.Workload == workload
	return coversContender && coversWorkload
}
