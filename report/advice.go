package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// addRecommendation adds a sentence per workload about what the ranks support, the trade-offs of the
// contenders that it names, and the limits of such advice.
func (s *Section) addRecommendation(r *tare.Result) {
	if len(r.Workloads) == 0 || len(r.Metrics) == 0 {
		s.addOnly(forMarkdown, func() { s.addText(Plain, "None: nothing was measured.") })
		return
	}
	supported, priced, seen := false, false, map[string]bool{}
	var items, sentences []Item
	for _, w := range r.Workloads {
		var price []string
		text, first := adviseOn(r, w.ID)
		if len(first) == 0 {
			shown, chosen := newView(r, w.ID, map[string]bool{}).compareBaseline()
			text, price = "not decided. "+text+shown, newView(r, w.ID, seen).listTradeoffs(w.Op, chosen)
		} else {
			supported, price = true, newView(r, w.ID, seen).listTradeoffs(w.Op, first)
		}
		priced = priced || len(price) > 0
		items = append(items, Item{Label: w.ID, Mark: Code, Text: upperFirst(text), Under: price})
		sentences = append(sentences, Item{parts: []Field{{Text: "On "}, codeField(w.ID), {Text: ": "}, {Text: text}}, Under: price})
	}
	s.addOnly(forHTML, func() { s.addList("", items...) })
	s.addOnly(forMarkdown, func() { s.addList("", sentences...) })
	switch {
	case priced:
		s.addText(Dim, fmt.Sprintf("Places are by %s alone. What comes with a contender is said beside its place and in the trade-offs below; what that weighs against %[1]s is the reader's to say.", primaryMetric(r)))
	case supported:
		s.addText(Dim, fmt.Sprintf("It measures %s alone: the trade-offs below do not enter it.", primaryMetric(r)))
	}
}

// adviseOn returns the conclusion that the ranks of the primary metric support on one workload and the
// contenders that it names, or the reason why they support none. Ranks are ranges: no contender was proven
// better than those whose range begins at 1, and one with the range 1 to 1 was proven better than all others.
func adviseOn(r *tare.Result, workload string) (text string, first []ranking) {
	v := newView(r, workload, map[string]bool{})
	metric, base := primaryMetric(v.r), v.baseline
	if check := v.voidCheck(); check != "" {
		return "Everything on it is void by the check " + check + ".", nil
	}
	if v.leadingMetric() != metric {
		return "Contenders are ranked by " + metric + ", which is not measured on it; what is stands among the results.", nil
	}
	if voids := v.voidsMetric(base, metric); len(voids) > 0 {
		return "The baseline is void by the check " + voids[0].Check + ", so nothing can be compared with it.", nil
	}
	first, places := v.findFirst()
	switch {
	case places == 0:
		return "No ranking after " + countNoun(r.RoundsDone, "round") + ".", nil
	case places == 1:
		return "Only one contender was ranked on it.", nil
	case len(first) == 0: // each proven worse than another, all the way round
		return "By these ranks no contender is first.", nil
	case !v.hasIntervals():
		return "No ratio has an interval after " + countNoun(r.RoundsDone, "round") + ".", nil
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
	case len(first) > 1 && stays && !slices.ContainsFunc(rest, v.beatsBaseline):
		text = fmt.Sprintf("no reason in %s to leave %s. It can be first: over all pairs at once it did not differ significantly from %s.", metric, base, joinNames(rest))
	case len(first) > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, and over all pairs at once they did not differ significantly: the trade-offs decide.", strings.Join(names, " or "), metric)
	case first[0].high > 1:
		text = fmt.Sprintf("%s. None was proven better in %s, but neither was it proven better than %s.", names[0], metric, others)
	case stays:
		text = fmt.Sprintf("stay with %s. It was proven better in %s than %s.", base, metric, others)
	default:
		text = fmt.Sprintf("%s. It was proven better in %s than %s.", names[0], metric, others)
	}
	return text + v.describeStanding(first), first
}

// maxChoices is the number of contenders, except the baseline, up to which each one gets a recommendation;
// more are only listed by result.
const maxChoices = 3

// compareBaseline describes each contender against the baseline alone by the leading metric, for a workload on
// which the ranks name no contender. For up to maxChoices contenders it recommends to use or avoid each, and
// returns those that take less.
func (v *view) compareBaseline() (text string, chosen []ranking) {
	metric := v.leadingMetric()
	if len(v.voidsMetric(v.baseline, metric)) > 0 || v.voidCheck() != "" {
		return "", nil
	}
	m := findMetric(metric)
	sides := []struct {
		than string
		ids  []string
	}{{than: m.Less}, {than: m.More}, {than: "no significant difference"}}
	n, questions := 0, ""
	for _, c := range v.ranked {
		x, ok := v.findComparison(c.ID, metric)
		if !ok || c.ID == v.baseline || !x.Bounded() || len(v.voidsMetric(c.ID, metric)) > 0 {
			continue
		}
		n++
		side := 2
		switch {
		case !v.isDifferent(x):
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
	if n <= maxChoices {
		return questions, chosen
	}
	var parts []string
	for _, side := range sides {
		if len(side.ids) > 0 {
			parts = append(parts, side.than+": "+joinNames(side.ids))
		}
	}
	return fmt.Sprintf(" Each against %s: %s.", v.baseline, strings.Join(parts, "; ")), nil
}

// voidCheck returns the check that voids everything on the workload, or "".
func (v *view) voidCheck() string {
	for _, f := range v.r.Findings {
		if f.Severity == tare.Void && f.Contender == "" && (f.Workload == "" || f.Workload == v.workload) && f.Metric == "" {
			return f.Check
		}
	}
	return ""
}

// beatsBaseline reports whether id differs significantly from the baseline by the primary metric. This can be
// true although the comparison over all pairs, which has wider intervals, shows no difference.
func (v *view) beatsBaseline(id string) bool {
	x, ok := v.findComparison(id, primaryMetric(v.r))
	return ok && v.isDifferent(x)
}

// hasIntervals reports whether any contender's ratio to the baseline by the primary metric has an interval.
func (v *view) hasIntervals() bool {
	return slices.ContainsFunc(v.ranked, func(c tare.Contender) bool {
		x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r))
		return ok && c.ID != v.baseline && x.Bounded()
	})
}

// ranking is a contender's range of ranks, 1 being the best.
type ranking struct {
	contender tare.Contender
	low, high int
}

// rankRanges returns the rank ranges by the primary metric, the best first. Void contenders are skipped.
func (v *view) rankRanges() []ranking {
	var out []ranking
	for _, c := range v.ranked {
		if len(v.voidsMetric(c.ID, primaryMetric(v.r))) > 0 {
			continue
		}
		if x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r)); ok && x.RankLow > 0 {
			out = append(out, ranking{c, x.RankLow, x.RankHigh})
		}
	}
	slices.SortStableFunc(out, func(a, b ranking) int { return a.low - b.low })
	return out
}

// findFirst returns the contenders whose rank range begins at 1 by the primary metric, and the number of
// ranked contenders.
func (v *view) findFirst() (first []ranking, places int) {
	all := v.rankRanges()
	for _, p := range all {
		if p.low == 1 {
			first = append(first, p)
		}
	}
	return first, len(all)
}

// describeStanding describes the ratios of first to the baseline, their results on the criteria, and the
// warnings of checks about them.
func (v *view) describeStanding(first []ranking) string {
	var b strings.Builder
	for _, f := range first {
		id := f.contender.ID
		_, listed := findBehaviour(v.r, id) // in listTradeoffs
		if x, ok := v.findComparison(id, primaryMetric(v.r)); ok && id != v.baseline && x.Ratio > 0 {
			fmt.Fprintf(&b, " %s / %s in %s: %s.", id, v.baseline, primaryMetric(v.r), formatRatio(x))
		}
		for _, verdict := range v.r.Verdicts {
			if verdict.Criterion != "" && verdict.Contender == id && verdict.Workload == v.workload {
				fmt.Fprintf(&b, " Asked of %s, %s: %s.", id, verdict.Criterion, verdict.Verdict)
			}
		}
		for _, finding := range v.r.Findings {
			if finding.Check == semanticDiff && listed {
				continue
			}
			if finding.Severity == tare.Warn && finding.Contender == id && finding.Covers(id, v.workload) {
				b.WriteString(" " + describeWarning(finding))
			}
		}
	}
	return b.String()
}

// semanticDiff is the check that warns of semantic differences.
const semanticDiff = "semantic-diff"

// describeWarning returns a finding as a sentence.
func describeWarning(f tare.Finding) string {
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

// joinNames returns a list as in a sentence: a, b and c.
func joinNames(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
