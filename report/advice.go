package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// recommendation says for each workload what the ranks support, and nothing
// where they support nothing; what comes with who is named; and what the advice
// does not measure.
func (s *Section) recommendation(r *tare.Result) {
	if len(r.Workloads) == 0 || len(r.Metrics) == 0 {
		s.only(forMarkdown, func() { s.say(Plain, "None: nothing was measured.") })
		return
	}
	supported, priced, told := false, false, map[string]bool{}
	var items, sentences []Item
	for _, w := range r.Workloads {
		var price []string
		text, first := advice(r, w.ID)
		if len(first) == 0 {
			shown, chosen := look(r, w.ID, map[string]bool{}).againstBaseline()
			text, price = "not decided. "+text+shown, look(r, w.ID, told).price(w.Op, chosen)
		} else {
			supported, price = true, look(r, w.ID, told).price(w.Op, first)
		}
		priced = priced || len(price) > 0
		items = append(items, Item{Label: w.ID, Mark: Code, Text: capital(text), Under: price})
		sentences = append(sentences, Item{parts: []Field{{Text: "On "}, coded(w.ID), {Text: ": "}, {Text: text}}, Under: price})
	}
	s.only(forHTML, func() { s.list("", items...) })
	s.only(forMarkdown, func() { s.list("", sentences...) })
	switch {
	case priced:
		s.say(Dim, fmt.Sprintf("Places are by %s alone. What comes with a contender is said beside its place and in the trade-offs below; what that weighs against %[1]s is the reader's to say.", primaryMetric(r)))
	case supported:
		s.say(Dim, fmt.Sprintf("It measures %s alone: the trade-offs below do not enter it.", primaryMetric(r)))
	}
}

// advice is what the ranks of the primary metric support on one workload and
// whom they name, or why they support nothing. Ranks are ranges: nobody was proven better than who
// can be first, and everybody was proven worse than who can be first only.
func advice(r *tare.Result, workload string) (text string, first []ranking) {
	v := look(r, workload, map[string]bool{})
	metric, base := primaryMetric(v.r), v.baseline
	if check := v.voidBy(); check != "" {
		return "Everything on it is void by the check " + check + ".", nil
	}
	if v.leading() != metric {
		return "Contenders are ranked by " + metric + ", which is not measured on it; what is stands among the results.", nil
	}
	if voids := v.voidsOf(base, metric); len(voids) > 0 {
		return "The baseline is void by the check " + voids[0].Check + ", so nothing can be compared with it.", nil
	}
	first, places := v.first()
	switch {
	case places == 0:
		return "No ranking after " + plural(r.RoundsDone, "round") + ".", nil
	case places == 1:
		return "Only one contender was ranked on it.", nil
	case len(first) == 0: // each proven worse than another, all the way round
		return "By these ranks no contender is first.", nil
	case !v.intervals():
		return "No ratio has an interval after " + plural(r.RoundsDone, "round") + ".", nil
	}
	names := make([]string, len(first))
	for i, c := range first {
		names[i] = c.contender.ID
	}
	others := fmt.Sprintf("each of the %d others ranked", places-1)
	if places == 2 {
		others = "the other one ranked"
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == base })
	switch stays := len(rest) < len(names); {
	case len(first) > 1 && stays && !slices.ContainsFunc(rest, v.beats):
		text = fmt.Sprintf("no reason in %s to leave %s. It can be first: over all pairs at once it did not differ significantly from %s.", metric, base, inWords(rest))
	case len(first) > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, and over all pairs at once they did not differ significantly: the trade-offs decide.", strings.Join(names, " or "), metric)
	case first[0].high > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, but neither was it proven better than %s.", names[0], metric, others)
	case stays:
		text = fmt.Sprintf("stay with %s. It was proven better in %s than %s.", base, metric, others)
	default:
		text = fmt.Sprintf("%s. It was proven better in %s than %s.", names[0], metric, others)
	}
	return text + v.standing(first), first
}

// choicesMost is the number of contenders beside the baseline of each of which it is said
// whether to use it; more are listed by what was shown.
const choicesMost = 3

// againstBaseline says what was shown of each contender against the baseline alone, by the
// metric that leads on the workload, for a workload on which the ranks name nobody. Of a
// few it says whether to use them, and returns those that take less.
func (v *view) againstBaseline() (text string, chosen []ranking) {
	metric := v.leading()
	if len(v.voidsOf(v.baseline, metric)) > 0 || v.voidBy() != "" {
		return "", nil
	}
	m := metricNamed(metric)
	sides := []struct {
		than string
		ids  []string
	}{{than: m.Less}, {than: m.More}, {than: "no significant difference"}}
	n, questions := 0, ""
	for _, c := range v.ranked {
		x, ok := v.comparison(c.ID, metric)
		if !ok || c.ID == v.baseline || !x.Bounded() || len(v.voidsOf(c.ID, metric)) > 0 {
			continue
		}
		n++
		side := 2
		switch {
		case !v.differs(x):
			questions += fmt.Sprintf(" Use %s? No difference in %s is shown: what it brings decides.", c.ID, m.Noun)
		case x.Ratio < 1:
			side = 0
			questions += fmt.Sprintf(" Use %s? Yes, if what it brings is acceptable: %s %s.", c.ID, format.Percent(1-x.Ratio), m.Less)
			chosen = append(chosen, ranking{contender: c})
		default:
			side = 1
			questions += fmt.Sprintf(" Use %s? Not for this: %s %s.", c.ID, format.Percent(x.Ratio-1), m.More)
		}
		sides[side].ids = append(sides[side].ids, c.ID)
	}
	if n <= choicesMost {
		return questions, chosen
	}
	var parts []string
	for _, side := range sides {
		if len(side.ids) > 0 {
			parts = append(parts, side.than+": "+inWords(side.ids))
		}
	}
	return fmt.Sprintf(" Each against %s: %s.", v.baseline, strings.Join(parts, "; ")), nil
}

// voidBy returns the check by which everything on the workload is void, or "".
func (v *view) voidBy() string {
	for _, f := range v.r.Findings {
		if f.Severity == tare.Void && f.Contender == "" && (f.Workload == "" || f.Workload == v.workload) && f.Metric == "" {
			return f.Check
		}
	}
	return ""
}

// beats reports whether a difference to the baseline was shown for id by the
// primary metric. Compared with the baseline alone it may be where it is not
// over all pairs at once.
func (v *view) beats(id string) bool {
	x, ok := v.comparison(id, primaryMetric(v.r))
	return ok && v.differs(x)
}

// intervals reports whether any contender was compared with the baseline with
// an interval by the primary metric.
func (v *view) intervals() bool {
	return slices.ContainsFunc(v.ranked, func(c tare.Contender) bool {
		x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r))
		return ok && c.ID != v.baseline && x.Bounded()
	})
}

// ranking is a contender's range of places.
type ranking struct {
	contender tare.Contender
	low, high int
}

// places are the ranges of places by the primary metric, the best first.
func (v *view) places() []ranking {
	var out []ranking
	for _, c := range v.ranked {
		if len(v.voidsOf(c.ID, primaryMetric(v.r))) > 0 {
			continue
		}
		if x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r)); ok && x.RankLow > 0 {
			out = append(out, ranking{c, x.RankLow, x.RankHigh})
		}
	}
	slices.SortStableFunc(out, func(a, b ranking) int { return a.low - b.low })
	return out
}

// first are those that can be first by the primary metric, and how many were
// ranked.
func (v *view) first() (first []ranking, places int) {
	all := v.places()
	for _, p := range all {
		if p.low == 1 {
			first = append(first, p)
		}
	}
	return first, len(all)
}

// standing says how those who can be first stand to the baseline and to what was
// asked of them, and what the checks warn of.
func (v *view) standing(first []ranking) string {
	var b strings.Builder
	for _, f := range first {
		id := f.contender.ID
		_, told := conductOf(v.r, id) // by price
		if x, ok := v.comparison(id, primaryMetric(v.r)); ok && id != v.baseline && x.Ratio > 0 {
			fmt.Fprintf(&b, " %s / %s in %s: %s.", id, v.baseline, primaryMetric(v.r), measured(x))
		}
		for _, verdict := range v.r.Verdicts {
			if verdict.Criterion != "" && verdict.Contender == id && verdict.Workload == v.workload {
				fmt.Fprintf(&b, " Asked of %s, %s: %s.", id, verdict.Criterion, verdict.Verdict)
			}
		}
		for _, finding := range v.r.Findings {
			if finding.Check == semanticDiff && told {
				continue
			}
			if finding.Severity == tare.Warn && finding.Contender == id && finding.Covers(id, v.workload) {
				b.WriteString(" " + warning(finding))
			}
		}
	}
	return b.String()
}

// semanticDiff is the check that warns of differences in meaning.
const semanticDiff = "semantic-diff"

// warning is a finding as a sentence.
func warning(f tare.Finding) string {
	text := "The check " + f.Check + " warns"
	if f.Contender != "" {
		text += " of " + f.Contender
	}
	if f.Workload != "" {
		text += " on " + f.Workload
	}
	if f.Metric != "" {
		text += " in " + f.Metric
	}
	return text + ": " + strings.TrimSuffix(f.Message, ".") + "."
}

// inWords is a list as people say it: a, b and c.
func inWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
