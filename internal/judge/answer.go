package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file writes the answer to the question of a study. For example, a study has the answer "Yes:
// chi takes {chi static time less} less time". Braces mark a measured figure, so the result is "Yes:
// chi takes 12 % less time".

// Answer answers the question of study s by result r. It returns a headline, a line of figures, and
// the comparisons that both quote. It uses the first answer of the study that fits: its condition
// holds, and its figures were measured.
//
// If none fits because a contender could not be measured, the headline states that. Otherwise both
// texts are "".
func Answer(s tare.Study, r *tare.Result) (headline, figures string, quotes []tare.Quote) {
	q := &quoter{study: s, result: r}
	if a, text := q.firstFit(s.Answer); text != "" {
		return text, q.fillParts(a.Figures), q.collectQuotes(a)
	}
	for _, a := range s.Answer {
		parts, _ := a.Parts() // no error: the study is valid
		for _, p := range parts {
			if p.Figure == nil {
				continue
			}
			if c, ok := r.Contender(p.Figure.Contender); ok && c.Error != "" {
				return "No answer: " + c.ID + " could not be measured.", format.Line(c.Error, format.LineLimit), nil
			}
		}
	}
	return "", "", nil
}

type quoter struct {
	study  tare.Study
	result *tare.Result
}

func (q *quoter) collectQuotes(a tare.Answer) (out []tare.Quote) {
	parts, _ := tare.SplitFigures(a.Text + a.Headline + a.Figures)
	for _, p := range parts {
		if p.Figure == nil || p.Figure.Contender == "" || p.Figure.Metric == "" {
			continue
		}
		quote := tare.Quote{Contender: p.Figure.Contender, Workload: p.Figure.Workload, Metric: p.Figure.Metric}
		_, isMeasured := q.findComparison(*p.Figure)
		if isMeasured && q.whyVoid(*p.Figure) == "" && !slices.Contains(out, quote) {
			out = append(out, quote)
		}
	}
	return out
}

// Recommended returns a sentence that says whether the result confirms what the publication
// recommends. It chooses the sentence as Answer does, and returns "" if none fits.
func Recommended(s tare.Study, r *tare.Result) string {
	_, text := (&quoter{study: s, result: r}).firstFit(s.Recommended)
	return text
}

// firstFit returns the first answer that fits, and its text with figures. text is "" if none fits.
func (q *quoter) firstFit(answers []tare.Answer) (a tare.Answer, text string) {
	for _, a := range answers {
		if text, err := q.fillFigures(a.Text + a.Headline); err == nil && q.matchesOutcome(a) {
			return a, text
		}
	}
	return tare.Answer{}, ""
}

// Quote replaces the figures in braces in text by their values in r. It returns an error if r lacks
// one.
func Quote(s tare.Study, r *tare.Result, text string) (string, error) {
	return (&quoter{study: s, result: r}).fillFigures(text)
}

func (q *quoter) fillFigures(text string) (string, error) {
	parts, err := tare.SplitFigures(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Figure == nil {
			b.WriteString(p.Text)
			continue
		}
		value, ok := q.formatFigure(*p.Figure)
		if !ok {
			return "", fmt.Errorf("%s has no figure for %+v", q.result.Study, *p.Figure)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// fillParts fills in the figures of a text whose parts are separated by semicolons. It omits parts
// with an unmeasured figure, and returns "" if no part with a figure remains.
func (q *quoter) fillParts(text string) string {
	var filledParts []string
	hasFigure := false
	for i, part := range strings.Split(strings.TrimSuffix(text, "."), "; ") {
		filled, err := q.fillFigures(part)
		if err != nil {
			continue
		}
		if len(filledParts) == 0 && i > 0 { // the part begins the line now: capitalize it
			filled = strings.ToUpper(filled[:1]) + filled[1:]
		}
		filledParts = append(filledParts, filled)
		hasFigure = hasFigure || strings.Contains(part, "{")
	}
	if !hasFigure {
		return ""
	}
	return strings.Join(filledParts, "; ") + "."
}

// matchesOutcome reports whether the condition of an answer holds: the worst ruling on the criteria or
// ratios in a.Of is a.When. A ruling is met, not met, inconclusive or void. It returns false if one
// of them has no ruling.
func (q *quoter) matchesOutcome(a tare.Answer) bool {
	if a.When == "" {
		return true
	}
	var rulings []tare.Ruling
	for _, name := range a.Of {
		var rulingsOfName []tare.Ruling
		switch {
		case a.Ratio != "": // the answer itself limits the ratios
			rulingsOfName = q.limitRulings(a, name)
		case a.To != "": // the condition is about how the ratios change from their workload to a.To
			rulingsOfName = q.changeRulings(a, name)
		default:
			rulingsOfName = q.criterionRulings(name)
		}
		if len(rulingsOfName) == 0 {
			return false
		}
		rulings = append(rulings, rulingsOfName...)
	}
	for _, worst := range []tare.Ruling{tare.NotMet, tare.VoidRuling, tare.Inconclusive, tare.Met} { // the worst first
		if slices.Contains(rulings, worst) {
			return worst == a.When
		}
	}
	return false
}

// criterionRulings returns the rulings on the criteria that name refers to. It has the form
// "CONTENDER WORKLOAD METRIC"; the contender "*" means all.
func (q *quoter) criterionRulings(name string) (out []tare.Ruling) {
	for _, v := range q.result.Verdicts {
		subject := v.Workload + " " + v.Metric
		if v.Criterion != "" && (name == v.Contender+" "+subject || name == "* "+subject) {
			out = append(out, v.Verdict)
		}
	}
	return out
}

// limitRulings returns the ruling on the ratio "CONTENDER WORKLOAD METRIC" by the limit of answer a,
// or nil if the ratio was not measured. With the limit 1, a difference within the noise is
// inconclusive.
func (q *quoter) limitRulings(a tare.Answer, name string) []tare.Ruling {
	words := strings.Fields(name)
	rule, err := a.Rule()
	if err != nil || len(words) != 3 {
		return nil
	}
	f := tare.Figure{Contender: words[0], Workload: words[1], Metric: words[2]}
	c, ok := q.findComparison(f)
	floor := tare.NoiseFloor(q.result.Comparisons, f.Workload, f.Metric)
	isSignificant := c.Exact || c.Differs(floor) == tare.Significant
	switch {
	case q.whyVoid(f) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !ok:
		return nil
	case rule.Limit == 1 && !isSignificant:
		return []tare.Ruling{tare.Inconclusive}
	}
	return []tare.Ruling{decideRule(rule, c, floor)}
}

// changeRulings returns met if the ratio "CONTENDER WORKLOAD METRIC" is the same on workload a.To, and
// not met if it changes. It returns nil if the ratio was not measured on one of the workloads.
func (q *quoter) changeRulings(a tare.Answer, name string) []tare.Ruling {
	words := strings.Fields(name)
	first := tare.Figure{Contender: words[0], Workload: words[1], Metric: words[2]}
	second := first
	second.Workload = a.To
	x, okFirst := q.findComparison(first)
	y, okSecond := q.findComparison(second)
	switch {
	case q.whyVoid(first) != "" || q.whyVoid(second) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !okFirst || !okSecond:
		return nil
	case areDisjoint(x, y):
		return []tare.Ruling{tare.NotMet}
	}
	return []tare.Ruling{tare.Met}
}

// formatFigure returns figure f in the form f.Form. It returns false if the figure was not measured,
// or if it is void and the form has no words for that.
func (q *quoter) formatFigure(f tare.Figure) (text string, ok bool) {
	switch f.Form {
	case tare.FigureShare, tare.FigureWhole:
		return q.formatDecomposed(f)
	case tare.FigureClaim:
		return q.describeClaim(f.Claim)
	case tare.FigureHere:
		return q.describeMeasured(f.Claim)
	case tare.FigureFactor:
		return q.formatClaimFactor(f.Claim)
	case tare.FigureLeast:
		return q.nameBest(f.Workload, f.Metric)
	case tare.FigureValue:
		return q.formatAbsoluteValue(f)
	case tare.FigureChanges:
		return q.countChanges(f.Contender)
	case tare.FigureNoise:
		floor := tare.NoiseFloor(q.result.Comparisons, f.Workload, f.Metric)
		return "±" + format.Percent(math.Expm1(floor)), floor > 0
	case tare.FigureVoid:
		return "is void", q.whyVoid(f) != ""
	}
	return q.formatComparison(f)
}

func (q *quoter) formatComparison(f tare.Figure) (text string, ok bool) {
	c, ok := q.findComparison(f)
	floor := tare.NoiseFloor(q.result.Comparisons, f.Workload, f.Metric)
	why := q.whyVoid(f)
	switch {
	case f.Form == tare.FigureBrief && why != "":
		return "is void", true
	case f.Form == tare.FigureWords && why != "":
		return why, true
	}
	if !ok || why != "" {
		return "", false
	}
	switch f.Form {
	case tare.FigureBrief:
		return headlineComparison(c, floor), true
	case tare.FigureWords:
		return describeComparison(c, floor), true
	case tare.FigureFast:
		return format.Times(1 / c.Ratio), c.Ratio > 0
	case tare.FigureTimes:
		return format.Times(c.Ratio), true
	case tare.FigureLess:
		isShown := c.Exact || c.Differs(floor) == tare.Significant
		return format.Percent(1 - c.Ratio), c.Ratio < 1 && isShown
	case tare.FigureTo:
		other := f
		other.Workload = f.To
		second, ok := q.findComparison(other)
		if !ok || q.whyVoid(other) != "" {
			return "", false
		}
		return describeRatioChange(c, second), true
	}
	return formatTimes(c, q.noiseNote(c)), true
}

// noiseNote returns ", noise ±2 %" if the interval of a ratio excludes 1 although the control differs
// as much. The control is a second copy of the baseline.
func (q *quoter) noiseNote(c tare.Comparison) string {
	control := tare.NoiseFloor(q.result.Comparisons, c.Workload, c.Metric)
	if c.Exact || c.Differs(control) != tare.WithinNoise {
		return ""
	}
	return ", noise ±" + format.Percent(math.Expm1(control))
}

// findComparison returns the comparison of f.Contender with the baseline, if it has an interval.
func (q *quoter) findComparison(f tare.Figure) (c tare.Comparison, ok bool) {
	c, ok = tare.FindComparison(q.result.Comparisons, f.Workload, f.Contender, f.Metric)
	hasInterval := c.Bounded() || c.Exact
	return c, ok && c.Contender != c.Against && hasInterval
}

// whyVoid returns why the ratio of f is void, e.g. "is void (CHECK)", or "". It ignores workloads
// that the run omitted: a contender without other workloads is void only for lack of measurements.
func (q *quoter) whyVoid(f tare.Figure) string {
	if !slices.ContainsFunc(q.result.Workloads, func(w tare.Workload) bool { return w.ID == f.Workload }) {
		return ""
	}
	if fs := q.result.VoidsMetric(f.Contender, f.Workload, f.Metric); len(fs) > 0 {
		return "is void (" + fs[0].Check + ")"
	}
	base := q.result.Baseline()
	if fs := q.result.VoidsMetric(base, f.Workload, f.Metric); base != "" && len(fs) > 0 {
		return fmt.Sprintf("has no ratio, because %s is void (%s)", base, fs[0].Check)
	}
	return ""
}

// minRelativeWidth is the least width of an interval that is printed, as a share of the ratio.
const minRelativeWidth = 1e-3

// formatTimes returns a ratio, its interval and note: "1.24× (1.19 to 1.30, noise ±2 %)". It returns
// only the ratio if the interval is narrower than minRelativeWidth.
func formatTimes(c tare.Comparison, note string) string {
	if c.Exact || c.High-c.Low < minRelativeWidth*c.Ratio {
		return format.Plain(c.Ratio)
	}
	ratio, lo, hi := format.Estimate(c.Ratio, c.Low, c.High, 1)
	return fmt.Sprintf("%s× (%s%s)", ratio, format.Interval(lo, hi), note)
}

// describeComparison returns a predicate about the difference, or that there is none. control is the
// difference that two copies of the baseline show, as a logarithm.
func describeComparison(c tare.Comparison, control float64) string {
	m := tare.MetricFor(c.Metric)
	if c.Exact || c.Differs(control) == tare.Significant {
		return fmt.Sprintf("%s %s %s %s", m.Verb, formatTimes(c, ""), m.Of, c.Against)
	}
	ratio, lo, hi := format.Estimate(c.Ratio, c.Low, c.High, 1)
	if c.Differs(control) == tare.WithinNoise {
		return fmt.Sprintf("does not differ from %s in %s by more than the control does (%s×, %s; control ±%s)",
			c.Against, m.Noun, ratio, format.Interval(lo, hi), format.Percent(math.Expm1(control)))
	}
	return fmt.Sprintf("does not differ significantly from %s in %s (%s×)", c.Against, m.Noun, format.Interval(lo, hi))
}

// headlineComparison is describeComparison for headlines, e.g. "uses 56 % more CPU" or "is 2.7× as
// fast".
func headlineComparison(c tare.Comparison, control float64) string {
	m := tare.MetricFor(c.Metric)
	shortener := strings.NewReplacer("CPU time", "CPU")
	isShown := c.Exact || c.Differs(control) == tare.Significant
	if c.Ratio == 1 || !isShown {
		return "shows no difference"
	}
	verb := m.Verb
	if m.IsLatency() || m.Key == tare.KeyStop {
		verb = "has"
	}
	switch {
	case m.Faster != "" && c.Ratio <= 1/minTimesFaster:
		return "is " + format.Times(1/c.Ratio) + " as fast"
	case c.Ratio < 1:
		return verb + " " + format.Percent(1-c.Ratio) + " " + shortener.Replace(m.Less)
	case c.Ratio < 2:
		return verb + " " + format.Percent(c.Ratio-1) + " " + shortener.Replace(m.More)
	}
	return verb + " " + format.Times(c.Ratio) + " the " + shortener.Replace(m.Noun)
}

// countChanges returns the number of edge cases for which contender outputs another value than the
// reference, e.g. "3 odd values". It returns false if there are none.
func (q *quoter) countChanges(contender string) (text string, ok bool) {
	n := 0
	for _, s := range q.result.Semantics {
		for _, d := range s.Differences {
			if s.Contender == contender && d.Class == tare.DiffersInValue {
				n++
			}
		}
	}
	return format.Count(n, "odd value"), n > 0
}

// areDisjoint reports whether the intervals of two ratios do not overlap. This test is strict, because
// intervals of significantly different ratios may overlap.
func areDisjoint(a, b tare.Comparison) bool { return a.High < b.Low || b.High < a.Low }

// describeRatioChange returns e.g. "from 1.24× (1.19 to 1.30) to 2.1× (2.0 to 2.2), a significant
// change".
func describeRatioChange(first, second tare.Comparison) string {
	change := "no significant change"
	if areDisjoint(first, second) {
		change = "a significant change"
	}
	return fmt.Sprintf("from %s to %s, %s", formatTimes(first, ""), formatTimes(second, ""), change)
}

// formatAbsoluteValue returns the value of one contender, e.g. "31.2 MB (30.1 to 33 MB)".
func (q *quoter) formatAbsoluteValue(f tare.Figure) (text string, ok bool) {
	v, ok := q.result.Value(f.Workload, f.Contender, f.Metric)
	isMeasured := ok && v.Rounds > 0
	isVoid := v.Struck || len(q.result.VoidsMetric(f.Contender, f.Workload, f.Metric)) > 0
	if !isMeasured || isVoid {
		return "", false
	}
	unit := strings.TrimSuffix(v.Unit, "/op")
	text, low, high := formatValue(v.Value, unit), formatValue(v.Low, unit), formatValue(v.High, unit)
	if low == high {
		return text, true
	}
	if i := strings.IndexByte(low, ' '); i >= 0 && strings.HasSuffix(high, low[i:]) {
		low = low[:i] // print a common unit once
	}
	return fmt.Sprintf("%s (%s)", text, format.Interval(low, high)), true
}

// nameBest names the contenders that can have the first rank on a workload, each with its ratio.
func (q *quoter) nameBest(workload, metric string) (text string, ok bool) {
	var names []string
	ranked := 0
	for _, c := range q.result.Comparisons {
		if c.Workload != workload || c.Metric != metric || c.RankLow == 0 {
			continue
		}
		ranked++
		if c.RankLow > 1 {
			continue
		}
		name := c.Contender
		if c.Contender != c.Against {
			name += " " + formatTimes(c, "")
		}
		names = append(names, name)
	}
	if ranked < 2 || len(names) == 0 {
		return "", false
	}
	if len(names) == 1 {
		return names[0], true
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + ", which over all pairs do not differ significantly", true
}

// formatDecomposed quotes the total ratio of a decomposition, or the share of a step. A decomposition
// splits a difference along a chain of contenders. It returns false if a contender is missing from
// the chain and the figure therefore has another meaning.
func (q *quoter) formatDecomposed(f tare.Figure) (text string, ok bool) {
	measuredIndex := slices.IndexFunc(q.result.Decomposition, func(d tare.Decomposition) bool { return d.ID == f.Decomposition })
	plannedIndex := slices.IndexFunc(q.study.Decompose, func(d tare.Decompose) bool { return d.ID == f.Decomposition })
	if measuredIndex < 0 || plannedIndex < 0 {
		return "", false
	}
	d := q.result.Decomposition[measuredIndex]
	planned := q.study.Decompose[plannedIndex].Steps
	if f.Form == tare.FigureWhole {
		hasInterval := d.Whole.Low > 0
		if !hasInterval || d.Whole.To != planned[len(planned)-1].To {
			return "", false
		}
		return formatTimes(tare.Comparison{Ratio: d.Whole.Ratio, Low: d.Whole.Low, High: d.Whole.High}, ""), true
	}
	for _, step := range d.Steps {
		isPlanned := slices.Contains(planned, tare.DecomposeStep{To: step.To, Cause: step.Cause})
		hasShare := step.ShareLow != 0 || step.ShareHigh != 0
		if step.To == f.Contender && isPlanned && hasShare {
			share, lo, hi := formatShares(step.Share, step.ShareLow, step.ShareHigh, 0)
			return fmt.Sprintf("%s %% (%s)", share, format.Interval(lo, hi)), true
		}
	}
	return "", false
}
