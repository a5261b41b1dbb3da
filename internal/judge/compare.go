package judge

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// alpha is the error level of a family.
const alpha = stats.Alpha

// Compare compares every contender, also those of role apart, and the control with the baseline on
// every workload and metric, with intervals at the level that the package documentation describes.
// With too few rounds for an interval Low and High are zero. On the primary metric it sets ranks
// and letters, and the baseline has a row against itself (ratio 1) with its own.
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
	settleFamilies(d, effects, out)
	for i := range out {
		if c := &out[i]; c.Contender == c.Against { // true at any level; use the control's level
			if j := slices.IndexFunc(out, func(o tare.Comparison) bool {
				return o.Contender == tare.ControlID && o.Workload == c.Workload && o.Metric == c.Metric
			}); j >= 0 {
				c.Level = out[j].Level
			}
		}
	}
	setRanks(d, effects, out, nil)
	return out
}

// Question holds the values of an interval, one per round, and the edges at which a decision by it
// flips. For a comparison both are logarithms of ratios.
type Question struct {
	Effects []float64
	Edges   []float64
	Looks   int  // at the values, 1 or more
	Median  bool // the interval is that of the median over rounds, which is looked at once
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

// settleFamilies sets the intervals of all comparisons. Those of a baseline with itself have
// theirs.
func settleFamilies(d evidence.Evidence, effects []tare.Effects, comparisons []tare.Comparison) {
	for _, family := range groupFamilies(comparisons) {
		var of []Question
		for _, i := range family {
			c := comparisons[i]
			e, _ := tare.EffectsOf(effects, c.Workload, c.Metric, c.Contender, c.Against)
			of = append(of, Question{Effects: e.Effects, Edges: decisionEdges(d, c.Contender, c.Workload, c.Metric), Looks: d.Looks()})
		}
		for k, s := range Settle(of, alpha) {
			c := &comparisons[family[k]]
			if c.Level, c.Low, c.High = s.Level, 0, 0; s.OK {
				c.Low, c.High = math.Exp(s.Low), math.Exp(s.High)
			}
		}
	}
}

// groupFamilies groups the comparisons whose error is controlled together.
func groupFamilies(cs []tare.Comparison) [][]int {
	type key struct {
		contender, metric string
		alone             int // 1 + its own index: a family of one
	}
	at := map[key]int{}
	var out [][]int
	for i, c := range cs {
		if c.Contender == c.Against {
			continue
		}
		k := key{contender: c.Contender, metric: c.Metric}
		if c.Exploratory {
			k.alone = i + 1
		}
		f, ok := at[k]
		if !ok {
			f = len(out)
			at[k] = f
			out = append(out, nil)
		}
		out[f] = append(out[f], i)
	}
	return out
}

// Settle returns the intervals of one family, whose error level is alpha. A member is open while
// its interval contains one of its edges.
func Settle(family []Question, alpha float64) []stats.Span {
	return stats.StepDown(len(family), alpha,
		func(i int, alpha float64) stats.Span { return family[i].Interval(alpha) },
		func(i int, s stats.Span) bool { return slices.ContainsFunc(family[i].Edges, s.Holds) })
}

// compareWith returns everything about a pair except its interval. b of e is the baseline.
func compareWith(x *evidence.Index, d evidence.Evidence, e tare.Effects) tare.Comparison {
	c := tare.Comparison{
		Workload: e.Workload, Contender: e.A, Metric: e.Metric, Against: e.B,
		Ratio: math.Exp(stats.HodgesLehmann(e.Effects)), Rounds: len(e.Effects),
		Exact: len(e.Effects) > 1 && slices.Min(e.Effects) == slices.Max(e.Effects),
	}
	if len(e.Sums) > 0 {
		c.SumsRatio = math.Exp(stats.HodgesLehmann(e.Sums))
	}
	a, _ := findValue(x, e.Workload, e.Metric, tare.Contender{ID: e.A})
	b, _ := findValue(x, e.Workload, e.Metric, tare.Contender{ID: e.B})
	c.Value, c.AgainstValue, c.Unit = a.Value, b.Value, a.Unit
	return c
}

// compareWithSelf returns the baseline's row against itself.
func compareWithSelf(x *evidence.Index, d evidence.Evidence, workload string) (tare.Comparison, bool) {
	v, ok := findValue(x, workload, d.Primary(), tare.Contender{ID: d.Study.Baseline})
	return tare.Comparison{
		Workload: workload, Contender: d.Study.Baseline, Metric: d.Primary(), Against: d.Study.Baseline,
		Ratio: 1, Low: 1, High: 1, Level: 1 - alpha, Rounds: v.Rounds, Value: v.Value, AgainstValue: v.Value, Unit: v.Unit,
	}, ok
}

// isInQuestion reports whether a criterion or claim is about this comparison.
func isInQuestion(d evidence.Evidence, contender, workload, metric string) bool {
	return len(decisionEdges(d, contender, workload, metric)) > 1
}

// decisionEdges returns the logarithms of the ratios at which a decision about a comparison flips.
// The first is 0, no difference.
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
		case err != nil:
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

// mayConcern reports whether criterion c names contender and workload or leaves them open.
func mayConcern(c tare.Criterion, contender, workload string) bool {
	if c.Contender == "" && contender == tare.ControlID {
		return false
	}
	return (c.Contender == "" || c.Contender == contender) && (c.Workload == "" || c.Workload == workload)
}
