package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Answer returns the headline of a result and the line of figures below it: of the first of the
// study's answers whose condition holds and whose headline, or text, quotes only measured figures.
// If there is none because a contender that the answers name could not be measured, the headline
// states that. Both are "" if no answer fits. quotes are the comparisons that both quote.
func Answer(s tare.Study, r *tare.Result) (headline, figures string, quotes []tare.Quote) {
	q := &quoter{s: s, r: r}
	if a, text := q.firstFit(s.Answer); text != "" {
		return text, q.fillParts(a.Figures), q.collectQuotes(a)
	}
	for _, a := range s.Answer {
		parts, _ := a.Parts() // those of a valid study can be read
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

// collectQuotes returns the measured comparisons that an answer quotes, each once.
func (q *quoter) collectQuotes(a tare.Answer) (out []tare.Quote) {
	parts, _ := tare.SplitFigures(a.Text + a.Headline + a.Figures)
	for _, p := range parts {
		if p.Figure == nil || p.Figure.Contender == "" || p.Figure.Metric == "" {
			continue
		}
		quote := tare.Quote{Contender: p.Figure.Contender, Workload: p.Figure.Workload, Metric: p.Figure.Metric}
		if _, ok := q.findComparison(*p.Figure); ok && q.whyVoid(*p.Figure) == "" && !slices.Contains(out, quote) {
			out = append(out, quote)
		}
	}
	return out
}

// Recommended returns a publication's recommendation and whether it is confirmed, chosen like the
// headline. It is "" if no sentence fits.
func Recommended(s tare.Study, r *tare.Result) string {
	_, text := (&quoter{s: s, r: r}).firstFit(s.Recommended)
	return text
}

// firstFit returns the first answer whose condition holds and whose figures were all measured, and
// its text with the figures in it, or "".
func (q *quoter) firstFit(answers []tare.Answer) (tare.Answer, string) {
	for _, a := range answers {
		if text, err := q.fillFigures(a.Text + a.Headline); err == nil && q.matchesOutcome(a) {
			return a, text
		}
	}
	return tare.Answer{}, ""
}

// Quote returns text with the figures that it names in braces, as answers of the study
// have them. The error names a figure that r does not have.
func Quote(s tare.Study, r *tare.Result, text string) (string, error) {
	return (&quoter{s: s, r: r}).fillFigures(text)
}

func (q *quoter) fillFigures(text string) (string, error) {
	parts, err := tare.SplitFigures(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		quoted, ok := p.Text, true
		if p.Figure != nil {
			quoted, ok = q.formatFigure(*p.Figure)
		}
		if !ok {
			return "", fmt.Errorf("%s has no figure for %+v", q.r.Study, *p.Figure)
		}
		b.WriteString(quoted)
	}
	return b.String(), nil
}

// fillParts fills the parts of text between semicolons, without those of which a figure
// is missing. It returns "" if no part with a figure is left.
func (q *quoter) fillParts(text string) string {
	var kept []string
	measured := false
	for i, part := range strings.Split(strings.TrimSuffix(text, "."), "; ") {
		filled, err := q.fillFigures(part)
		if err != nil {
			continue
		}
		if len(kept) == 0 && i > 0 { // the line begins with a part that did not
			filled = strings.ToUpper(filled[:1]) + filled[1:]
		}
		kept, measured = append(kept, filled), measured || strings.Contains(part, "{")
	}
	if !measured {
		return ""
	}
	return strings.Join(kept, "; ") + "."
}

// quoter quotes figures of a result of study s.
type quoter struct {
	s tare.Study
	r *tare.Result
}

// matchesOutcome reports whether the worst result of the criteria or limits in a.Of is a.When. It
// is true if a.When is empty, and false if one of them has no result.
func (q *quoter) matchesOutcome(a tare.Answer) bool {
	if a.When == "" {
		return true
	}
	var results []tare.Ruling
	for _, of := range a.Of {
		some := q.criterionRulings(of)
		switch {
		case a.Ratio != "":
			some = q.limitRulings(a, of)
		case a.To != "":
			some = q.changeRulings(a, of)
		}
		if len(some) == 0 {
			return false
		}
		results = append(results, some...)
	}
	for _, worst := range []tare.Ruling{tare.NotMet, tare.VoidRuling, tare.Inconclusive, tare.Met} {
		if slices.Contains(results, worst) {
			return worst == a.When
		}
	}
	return false
}

// criterionRulings returns the results of the criteria that of names.
func (q *quoter) criterionRulings(of string) (out []tare.Ruling) {
	for _, v := range q.r.Verdicts {
		about := v.Workload + " " + v.Metric
		if v.Criterion != "" && (of == v.Contender+" "+about || of == "* "+about) {
			out = append(out, v.Verdict)
		}
	}
	return out
}

// limitRulings returns the result of the comparison that of names against the limit of an answer,
// or nil if it was not measured. A ratio on one side of 1 by less than the control shows is
// inconclusive.
func (q *quoter) limitRulings(a tare.Answer, of string) []tare.Ruling {
	w := strings.Fields(of)
	rule, err := a.Rule()
	if err != nil || len(w) != 3 {
		return nil // a valid study has none
	}
	f := tare.Figure{Contender: w[0], Workload: w[1], Metric: w[2]}
	c, ok := q.findComparison(f)
	switch {
	case q.whyVoid(f) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !ok:
		return nil
	case rule.Limit == 1 && !c.Exact && c.Differs(tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)) != tare.Significant:
		return []tare.Ruling{tare.Inconclusive}
	}
	return []tare.Ruling{decideRule(rule, c)}
}

// changeRulings returns met if the comparison that of names shows no change to that on the other
// workload of an answer, not met if it does, and nil if one of them was not measured.
func (q *quoter) changeRulings(a tare.Answer, of string) []tare.Ruling {
	w := strings.Fields(of)
	f := tare.Figure{Contender: w[0], Workload: w[1], Metric: w[2]}
	to := f
	to.Workload = a.To
	x, ok := q.findComparison(f)
	y, also := q.findComparison(to)
	switch {
	case q.whyVoid(f) != "" || q.whyVoid(to) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !ok || !also:
		return nil
	case isMoved(x, y):
		return []tare.Ruling{tare.NotMet}
	}
	return []tare.Ruling{tare.Met}
}

// formatFigure returns a figure as text. It returns false if the figure was not measured, or is
// void and its form cannot express that.
func (q *quoter) formatFigure(f tare.Figure) (string, bool) {
	switch f.Form {
	case tare.FigureShare, tare.FigureWhole:
		return q.formatDecomposed(f)
	case tare.FigureLeast:
		return q.nameFirst(f.Workload, f.Metric)
	case tare.FigureValue:
		return q.formatOwnValue(f)
	case tare.FigureChanges:
		return q.countChanges(f.Contender)
	case tare.FigureNoise:
		floor := tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)
		return "±" + format.Percent(math.Expm1(floor)), floor > 0
	}
	if f.Form == tare.FigureVoid {
		return "is void", q.whyVoid(f) != ""
	}
	c, ok := q.findComparison(f)
	floor := tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)
	if f.Form == tare.FigureWords || f.Form == tare.FigureBrief {
		switch why := q.whyVoid(f); {
		case why != "" && f.Form == tare.FigureBrief:
			return "is void", true
		case why != "":
			return why, true
		case !ok:
			return "", false
		case f.Form == tare.FigureBrief:
			return headlineComparison(c, floor), true
		}
		return describeComparison(c, floor), true
	}
	if !ok || q.whyVoid(f) != "" {
		return "", false
	}
	switch f.Form {
	case tare.FigureFast:
		return format.Times(1 / c.Ratio), c.Ratio > 0
	case tare.FigureTimes:
		return format.Times(c.Ratio), true
	case tare.FigureLess:
		return format.Percent(1 - c.Ratio), c.Ratio < 1 && (c.Exact || c.Differs(floor) == tare.Significant)
	}
	if f.Form == tare.FigureTo {
		other := f
		other.Workload = f.To
		to, ok := q.findComparison(other)
		if !ok || q.whyVoid(other) != "" {
			return "", false
		}
		return describeMove(c, to), true
	}
	return formatTimes(c, q.noiseNote(c)), true
}

// noiseNote returns the note that a ratio is on one side of 1 by less than the control shows,
// although its interval excludes 1, or "" if that is not so.
func (q *quoter) noiseNote(c tare.Comparison) string {
	control := tare.NoiseFloor(q.r.Comparisons, c.Workload, c.Metric)
	if c.Exact || c.Differs(control) != tare.WithinNoise {
		return ""
	}
	return ", noise ±" + format.Percent(math.Expm1(control))
}

// findComparison returns the comparison of a contender against the baseline if it has an interval.
func (q *quoter) findComparison(f tare.Figure) (tare.Comparison, bool) {
	c, ok := tare.FindComparison(q.r.Comparisons, f.Workload, f.Contender, f.Metric)
	return c, ok && c.Contender != c.Against && (c.Bounded() || c.Exact)
}

// whyVoid returns why a ratio does not count, as a predicate, or "" if it counts. It also returns
// "" if the workload was omitted: a contender that is void altogether may be so because it can do
// no other.
func (q *quoter) whyVoid(f tare.Figure) string {
	if !slices.ContainsFunc(q.r.Workloads, func(w tare.Workload) bool { return w.ID == f.Workload }) {
		return ""
	}
	if fs := q.r.VoidsMetric(f.Contender, f.Workload, f.Metric); len(fs) > 0 {
		return "is void (" + fs[0].Check + ")"
	}
	base := q.r.Baseline()
	if fs := q.r.VoidsMetric(base, f.Workload, f.Metric); base != "" && len(fs) > 0 {
		return fmt.Sprintf("has no ratio, because %s is void (%s)", base, fs[0].Check)
	}
	return ""
}

// minRelativeWidth is the width of an interval, as a share of the ratio, below which only the ratio
// is printed.
const minRelativeWidth = 1e-3

// formatTimes returns a ratio with its interval and a remark: "1.24× (1.19 to 1.30)".
func formatTimes(c tare.Comparison, more string) string {
	if c.Exact || c.High-c.Low < minRelativeWidth*c.Ratio {
		return formatSignificant(c.Ratio) + "×"
	}
	ratio, lo, hi := formatInterval(c.Ratio, c.Low, c.High, 1)
	return fmt.Sprintf("%s× (%s%s)", ratio, format.Interval(lo, hi), more)
}

// describeComparison returns the difference of a comparison with its size, or that there is no
// significant one, as a predicate.
func describeComparison(c tare.Comparison, control float64) string {
	w := tare.MetricFor(c.Metric)
	if c.Exact || c.Differs(control) == tare.Significant {
		return fmt.Sprintf("%s %s %s %s", w.Verb, formatTimes(c, ""), w.Of, c.Against)
	}
	ratio, lo, hi := formatInterval(c.Ratio, c.Low, c.High, 1)
	if c.Differs(control) == tare.WithinNoise {
		return fmt.Sprintf("does not differ from %s in %s by more than the control does (%s×, %s; control ±%s)",
			c.Against, w.Noun, ratio, format.Interval(lo, hi), format.Percent(math.Expm1(control)))
	}
	return fmt.Sprintf("does not differ significantly from %s in %s (%s×)", c.Against, w.Noun, format.Interval(lo, hi))
}

// headlineComparison is describeComparison without the interval, for headlines: "uses 56 % more
// CPU", "is 2.7× as fast", "shows no difference".
func headlineComparison(c tare.Comparison, control float64) string {
	m := tare.MetricFor(c.Metric)
	cpu := strings.NewReplacer("CPU time", "CPU") // shorter, and as clear
	if c.Ratio == 1 || !c.Exact && c.Differs(control) != tare.Significant {
		return "shows no difference"
	}
	verb := m.Verb
	if m.IsLatency() || m.Key == tare.KeyStop {
		verb = "has"
	}
	switch {
	case m.Faster != "" && c.Ratio <= 1/1.5:
		return "is " + format.Times(1/c.Ratio) + " as fast"
	case c.Ratio < 1:
		return verb + " " + format.Percent(1-c.Ratio) + " " + cpu.Replace(m.Less)
	case c.Ratio < 2:
		return verb + " " + format.Percent(c.Ratio-1) + " " + cpu.Replace(m.More)
	}
	return verb + " " + format.Times(c.Ratio) + " the " + cpu.Replace(m.Noun)
}

// countChanges returns the number of test cases in which the value differs from the reference's. It
// returns false if there is none.
func (q *quoter) countChanges(contender string) (string, bool) {
	n := 0
	for _, s := range q.r.Semantics {
		for _, d := range s.Differences {
			if s.Contender == contender && d.Class == tare.DiffersInValue {
				n++
			}
		}
	}
	return format.Count(n, "value"), n > 0
}

// isMoved reports whether the intervals of a ratio on two workloads do not overlap. That
// errs on the side of showing no change.
func isMoved(from, to tare.Comparison) bool { return from.High < to.Low || to.High < from.Low }

// describeMove returns how a ratio changes from one workload to another.
func describeMove(from, to tare.Comparison) string {
	change := "no significant change"
	if isMoved(from, to) {
		change = "a significant change"
	}
	return fmt.Sprintf("from %s to %s, %s", formatTimes(from, ""), formatTimes(to, ""), change)
}

// formatOwnValue returns the value of one contender with its interval.
func (q *quoter) formatOwnValue(f tare.Figure) (string, bool) {
	v, ok := q.r.Value(f.Workload, f.Contender, f.Metric)
	if !ok || v.Struck || v.Rounds == 0 || len(q.r.VoidsMetric(f.Contender, f.Workload, f.Metric)) > 0 {
		return "", false
	}
	unit := strings.TrimSuffix(v.Unit, "/op")
	text, low, high := formatValue(v.Value, unit), formatValue(v.Low, unit), formatValue(v.High, unit)
	if low == high {
		return text, true
	}
	if at := strings.IndexByte(low, ' '); at >= 0 && strings.HasSuffix(high, low[at:]) {
		low = low[:at] // one unit for both
	}
	return fmt.Sprintf("%s (%s)", text, format.Interval(low, high)), true
}

// nameFirst names the contenders that can be first on a workload by the primary metric: one with
// its ratio, or all that do not differ significantly. It returns false if fewer than two were
// ranked.
func (q *quoter) nameFirst(workload, metric string) (string, bool) {
	var first []tare.Comparison
	ranked := 0
	for _, c := range q.r.Comparisons {
		if c.Workload != workload || c.Metric != metric || c.RankLow == 0 {
			continue
		}
		if ranked++; c.RankLow == 1 {
			first = append(first, c)
		}
	}
	if ranked < 2 || len(first) == 0 {
		return "", false
	}
	var names []string
	for _, c := range first {
		name := c.Contender
		if c.Contender != c.Against {
			name += " " + formatTimes(c, "")
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return names[0], true
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + ", which over all pairs do not differ significantly", true
}

// formatDecomposed quotes a decomposition: its total ratio, or the share of a step. It returns
// false if an omitted contender ends the chain early or passes its cause to the next step: the
// answer means neither.
func (q *quoter) formatDecomposed(f tare.Figure) (string, bool) {
	i := slices.IndexFunc(q.r.Decomposition, func(d tare.Decomposition) bool { return d.ID == f.Decomposition })
	k := slices.IndexFunc(q.s.Decompose, func(d tare.Decompose) bool { return d.ID == f.Decomposition })
	if i < 0 || k < 0 {
		return "", false
	}
	d, asked := q.r.Decomposition[i], q.s.Decompose[k].Steps
	if f.Form == tare.FigureWhole {
		if !(d.Whole.Low > 0) || d.Whole.To != asked[len(asked)-1].To {
			return "", false
		}
		return formatTimes(tare.Comparison{Ratio: d.Whole.Ratio, Low: d.Whole.Low, High: d.Whole.High}, ""), true
	}
	for _, step := range d.Steps {
		if step.To == f.Contender && slices.Contains(asked, tare.DecomposeStep{To: step.To, Cause: step.Cause}) && (step.ShareLow != 0 || step.ShareHigh != 0) {
			share, lo, hi := formatShares(step.Share, step.ShareLow, step.ShareHigh, 0)
			return fmt.Sprintf("%s %% (%s)", share, format.Interval(lo, hi)), true
		}
	}
	return "", false
}
