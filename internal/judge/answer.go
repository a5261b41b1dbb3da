package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Answer returns the headline of a result and the line of figures below it: of the first
// of the study's answers whose condition holds and whose headline, or text, quotes only
// what was measured. If there is none because a contender that the answers name could not
// be measured, the headline says so. Both are "" if no answer fits. quotes are the
// comparisons that both quote.
func Answer(s tare.Study, r *tare.Result) (headline, figures string, quotes []tare.Quote) {
	q := &quoter{s: s, r: r}
	if a, text := q.firstFit(s.Answer); text != "" {
		return text, q.fillParts(a.Figures), q.quotes(a)
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

// quotes returns the comparisons that an answer quotes and that were measured, each once.
func (q *quoter) quotes(a tare.Answer) (out []tare.Quote) {
	parts, _ := tare.SplitFigures(a.Text + a.Headline + a.Figures)
	for _, p := range parts {
		if p.Figure == nil || p.Figure.Contender == "" || p.Figure.Metric == "" {
			continue
		}
		quote := tare.Quote{Contender: p.Figure.Contender, Workload: p.Figure.Workload, Metric: p.Figure.Metric}
		if _, ok := q.comparison(*p.Figure); ok && q.void(*p.Figure) == "" && !slices.Contains(out, quote) {
			out = append(out, quote)
		}
	}
	return out
}

// Recommended returns what a publication recommended and whether that stands, chosen as
// the headline is. It is "" if no sentence fits.
func Recommended(s tare.Study, r *tare.Result) string {
	_, text := (&quoter{s: s, r: r}).firstFit(s.Recommended)
	return text
}

// firstFit returns the first answer whose condition holds and whose figures were all
// measured, and its text with the figures in it; "" if there is none.
func (q *quoter) firstFit(answers []tare.Answer) (tare.Answer, string) {
	for _, a := range answers {
		if text, err := q.fill(a.Text + a.Headline); err == nil && q.came(a) {
			return a, text
		}
	}
	return tare.Answer{}, ""
}

// Quote returns text with the figures that it names in braces, as answers of the study
// have them. The error names a figure that r does not have.
func Quote(s tare.Study, r *tare.Result, text string) (string, error) {
	return (&quoter{s: s, r: r}).fill(text)
}

func (q *quoter) fill(text string) (string, error) {
	parts, err := tare.SplitFigures(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		quoted, ok := p.Text, true
		if p.Figure != nil {
			quoted, ok = q.quote(*p.Figure)
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
		filled, err := q.fill(part)
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

// came reports whether the criteria of an answer, or its comparisons against its
// limit, came out as it says. Each must have a result.
func (q *quoter) came(a tare.Answer) bool {
	if a.When == "" {
		return true
	}
	var results []tare.Ruling
	for _, of := range a.Of {
		some := q.criteria(of)
		switch {
		case a.Ratio != "":
			some = q.limited(a, of)
		case a.To != "":
			some = q.unchanged(a, of)
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

// criteria are the results of the criteria that of names.
func (q *quoter) criteria(of string) (out []tare.Ruling) {
	for _, v := range q.r.Verdicts {
		about := v.Workload + " " + v.Metric
		if v.Criterion != "" && (of == v.Contender+" "+about || of == "* "+about) {
			out = append(out, v.Verdict)
		}
	}
	return out
}

// limited is the result of the comparison that of names against the limit of an
// answer; none where it was not measured. What lies on one side of 1 by less
// than the control shows is inconclusive.
func (q *quoter) limited(a tare.Answer, of string) []tare.Ruling {
	w := strings.Fields(of)
	rule, err := a.Rule()
	if err != nil || len(w) != 3 {
		return nil // a valid study has none
	}
	f := tare.Figure{Contender: w[0], Workload: w[1], Metric: w[2]}
	c, ok := q.comparison(f)
	switch {
	case q.void(f) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !ok:
		return nil
	case rule.Limit == 1 && !c.Exact && c.Differs(tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)) != tare.Significant:
		return []tare.Ruling{tare.Inconclusive}
	}
	return []tare.Ruling{ruling(rule, c)}
}

// unchanged returns met if no change is shown of the comparison that of names to that on
// the other workload of an answer, not met if one is, and nil if one of them was not
// measured.
func (q *quoter) unchanged(a tare.Answer, of string) []tare.Ruling {
	w := strings.Fields(of)
	f := tare.Figure{Contender: w[0], Workload: w[1], Metric: w[2]}
	to := f
	to.Workload = a.To
	x, ok := q.comparison(f)
	y, also := q.comparison(to)
	switch {
	case q.void(f) != "" || q.void(to) != "":
		return []tare.Ruling{tare.VoidRuling}
	case !ok || !also:
		return nil
	case isMoved(x, y):
		return []tare.Ruling{tare.NotMet}
	}
	return []tare.Ruling{tare.Met}
}

// quote writes a figure; false: it was not measured, or it is void and the form
// cannot say so.
func (q *quoter) quote(f tare.Figure) (string, bool) {
	switch f.Form {
	case tare.FigureShare, tare.FigureWhole:
		return q.decomposed(f)
	case tare.FigureLeast:
		return q.least(f.Workload, f.Metric)
	case tare.FigureValue:
		return q.value(f)
	case tare.FigureChanges:
		return q.changes(f.Contender)
	case tare.FigureNoise:
		floor := tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)
		return "±" + format.Percent(math.Expm1(floor)), floor > 0
	}
	if f.Form == tare.FigureVoid {
		return "is void", q.void(f) != ""
	}
	c, ok := q.comparison(f)
	floor := tare.NoiseFloor(q.r.Comparisons, f.Workload, f.Metric)
	if f.Form == tare.FigureWords || f.Form == tare.FigureBrief {
		switch why := q.void(f); {
		case why != "" && f.Form == tare.FigureBrief:
			return "is void", true
		case why != "":
			return why, true
		case !ok:
			return "", false
		case f.Form == tare.FigureBrief:
			return brief(c, floor), true
		}
		return predicate(c, floor), true
	}
	if !ok || q.void(f) != "" {
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
		to, ok := q.comparison(other)
		if !ok || q.void(other) != "" {
			return "", false
		}
		return moved(c, to), true
	}
	return times(c, q.within(c)), true
}

// within says that a ratio is on one side of 1 by less than the control shows,
// which its interval does not; empty where it is not so.
func (q *quoter) within(c tare.Comparison) string {
	control := tare.NoiseFloor(q.r.Comparisons, c.Workload, c.Metric)
	if c.Exact || c.Differs(control) != tare.WithinNoise {
		return ""
	}
	return ", noise ±" + format.Percent(math.Expm1(control))
}

// comparison is a contender against the baseline, where there is an interval.
func (q *quoter) comparison(f tare.Figure) (tare.Comparison, bool) {
	c, ok := tare.FindComparison(q.r.Comparisons, f.Workload, f.Contender, f.Metric)
	return c, ok && c.Contender != c.Against && (c.Bounded() || c.Exact)
}

// void says why a ratio does not count, as a predicate; empty where it does, and
// where the workload was left out: a contender that is void altogether may be so
// because it can do no other.
func (q *quoter) void(f tare.Figure) string {
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

// sure is how narrow an interval is, as a share of the ratio, for the ratio to be
// printed alone.
const sure = 1e-3

// times is a ratio with its interval, and what else is to be said of it:
// "1.24× (1.19 to 1.30)".
func times(c tare.Comparison, more string) string {
	if c.Exact || c.High-c.Low < sure*c.Ratio {
		return significant(c.Ratio) + "×"
	}
	ratio, lo, hi := formatInterval(c.Ratio, c.Low, c.High, 1)
	return fmt.Sprintf("%s× (%s%s)", ratio, format.Interval(lo, hi), more)
}

// predicate says what a comparison shows: a difference with its size, or that
// there is no significant one.
func predicate(c tare.Comparison, control float64) string {
	w := tare.MetricFor(c.Metric)
	if c.Exact || c.Differs(control) == tare.Significant {
		return fmt.Sprintf("%s %s %s %s", w.Verb, times(c, ""), w.Of, c.Against)
	}
	ratio, lo, hi := formatInterval(c.Ratio, c.Low, c.High, 1)
	if c.Differs(control) == tare.WithinNoise {
		return fmt.Sprintf("does not differ from %s in %s by more than the control does (%s×, %s; control ±%s)",
			c.Against, w.Noun, ratio, format.Interval(lo, hi), format.Percent(math.Expm1(control)))
	}
	return fmt.Sprintf("does not differ significantly from %s in %s (%s×)", c.Against, w.Noun, format.Interval(lo, hi))
}

// brief is predicate without the interval, for headlines: "uses 56 % more CPU", "is 2.7×
// as fast", "shows no difference".
func brief(c tare.Comparison, control float64) string {
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

// changes returns the number of test cases in which another value arrives than the
// reference's. It is false if there is none.
func (q *quoter) changes(contender string) (string, bool) {
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

// moved says how a ratio changes from one workload to another.
func moved(from, to tare.Comparison) string {
	change := "no significant change"
	if isMoved(from, to) {
		change = "a significant change"
	}
	return fmt.Sprintf("from %s to %s, %s", times(from, ""), times(to, ""), change)
}

// value is what a contender takes itself, with its interval.
func (q *quoter) value(f tare.Figure) (string, bool) {
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

// least names who can be first on a workload by the primary metric: one with
// its ratio, or all that do not differ significantly. Fewer than two that were
// ranked have no first.
func (q *quoter) least(workload, metric string) (string, bool) {
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
			name += " " + times(c, "")
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return names[0], true
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + ", which over all pairs do not differ significantly", true
}

// decomposed quotes a decomposition: its whole ratio, or the share of a step. A
// contender that was left out ends the chain early, or leaves its cause to the
// step after it: neither is what the answer speaks of.
func (q *quoter) decomposed(f tare.Figure) (string, bool) {
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
		return times(tare.Comparison{Ratio: d.Whole.Ratio, Low: d.Whole.Low, High: d.Whole.High}, ""), true
	}
	for _, step := range d.Steps {
		if step.To == f.Contender && slices.Contains(asked, tare.DecomposeStep{To: step.To, Cause: step.Cause}) && (step.ShareLow != 0 || step.ShareHigh != 0) {
			share, lo, hi := formatShares(step.Share, step.ShareLow, step.ShareHigh, 0)
			return fmt.Sprintf("%s %% (%s)", share, format.Interval(lo, hi)), true
		}
	}
	return "", false
}
