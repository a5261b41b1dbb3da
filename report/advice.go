package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// addRecommendation adds a recommendation per workload, with the trade-offs of the named contenders. Below it are
// the limits of such advice.
func (s *Section) addRecommendation(r *tare.Result) {
	if len(r.Workloads) == 0 || len(r.Metrics) == 0 {
		s.addOnly(forMarkdown, func() { s.addText(Plain, "None: nothing was measured.") })
		return
	}
	isDecided, hasTradeoffs := false, false // true if true on any workload
	shown := map[string]bool{}              // shared by all workloads, to explain a trade-off once
	var items, sentences []Item
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		v.shown = shown
		text, named := adviseOn(r, w.ID)
		if len(named) > 0 {
			isDecided = true
		} else {
			comparison, chosen := v.compareBaseline()
			text, named = "not decided. "+text+comparison, chosen
		}
		tradeoffs := v.listTradeoffs(w.Op, named)
		hasTradeoffs = hasTradeoffs || len(tradeoffs) > 0
		items = append(items, Item{Label: w.ID, Mark: Code, Text: upperFirst(text), Under: tradeoffs})
		sentences = append(sentences, Item{parts: []Field{{Text: "On "}, codeField(w.ID), {Text: ": "}, {Text: text}}, Under: tradeoffs})
	}
	s.addOnly(forHTML, func() { s.addList("", items...) })
	s.addOnly(forMarkdown, func() { s.addList("", sentences...) })
	switch {
	case hasTradeoffs:
		s.addText(Dim, fmt.Sprintf("Places are by %s alone. What else a contender brings is said next to its place and in the trade-offs below; how much that weighs against %[1]s is for the reader to decide.", primaryMetric(r)))
	case isDecided:
		s.addText(Dim, fmt.Sprintf("It measures %s alone: the trade-offs below do not enter it.", primaryMetric(r)))
	}
}

// adviseOn returns the recommendation on one workload and the contenders in it. Without one, text is the reason
// and first is nil.
//
// Ranks are ranges. From 1 on means that no contender was proven better. 1 to 1 means proven better than all
// others.
func adviseOn(r *tare.Result, workload string) (text string, first []ranking) {
	v := newView(r, workload)
	metric, base := primaryMetric(r), v.baseline
	if check := v.voidCheck(); check != "" {
		return "Everything on it is void by the check " + check + ".", nil
	}
	if v.leadingMetric() != metric {
		return "Contenders are ranked by " + metric + ", which is not measured on it; what is stands among the results.", nil
	}
	if voids := v.voidsMetric(base, metric); len(voids) > 0 {
		return "The baseline is void by the check " + voids[0].Check + ", so nothing can be compared with it.", nil
	}
	first, ranked := v.findFirst()
	switch {
	case ranked == 0:
		return "No ranking after " + countNoun(r.RoundsDone, "round") + ".", nil
	case ranked == 1:
		return "Only one contender was ranked on it.", nil
	case len(first) == 0: // each was proven worse than another one: the comparisons form a circle
		return "By these ranks no contender is first.", nil
	case !v.hasIntervals():
		return "No ratio has an interval after " + countNoun(r.RoundsDone, "round") + ".", nil
	}
	return v.recommendFirst(first, ranked) + v.describeStanding(first), first
}

// recommendFirst recommends first, the contenders that may rank first. first is not empty. ranked counts all
// ranked contenders.
func (v *view) recommendFirst(first []ranking, ranked int) string {
	metric, base := primaryMetric(v.r), v.baseline
	ids := listContenderIDs(first)
	challengers := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == base })
	canStay := len(challengers) < len(ids) // the baseline is one of first
	others := fmt.Sprintf("each of the %d others ranked", ranked-1)
	if ranked == 2 {
		others = "the other one ranked"
	}
	switch {
	case len(first) > 1 && canStay && !slices.ContainsFunc(challengers, v.differsFromBaseline):
		return fmt.Sprintf("no reason in %s to leave %s. It can be first: over all pairs at once it did not differ significantly from %s.", metric, base, joinNames(challengers))
	case len(first) > 1:
		return fmt.Sprintf("%s. None was proven better in %s, and over all pairs at once they did not differ significantly: the trade-offs decide.", strings.Join(ids, " or "), metric)
	case first[0].high > 1:
		return fmt.Sprintf("%s. None was proven better in %s, but neither was it proven better than %s.", ids[0], metric, others)
	case canStay:
		return fmt.Sprintf("stay with %s. It was proven better in %s than %s.", base, metric, others)
	}
	return fmt.Sprintf("%s. It was proven better in %s than %s.", ids[0], metric, others)
}

// maxChoices is the number of contenders that compareBaseline can describe one by one.
const maxChoices = 3

// compareBaseline compares each contender with the baseline if the ranks support no recommendation.
//
// For few contenders text has sentences such as " Use chi? Not for this: 40 % more time.". chosen then has those
// that take less. For many, text lists them by result: " Each against mux: less time: a and b; no significant
// difference: c.".
func (v *view) compareBaseline() (text string, chosen []ranking) {
	metric := v.leadingMetric()
	if len(v.voidsMetric(v.baseline, metric)) > 0 || v.voidCheck() != "" {
		return "", nil
	}
	m := findMetric(metric)
	var less, more, same []string // ids
	recommendations := ""
	for _, c := range v.ranked {
		x, ok := v.findComparison(c.ID, metric)
		if !ok || c.ID == v.baseline || !x.Bounded() || len(v.voidsMetric(c.ID, metric)) > 0 {
			continue
		}
		switch {
		case !v.isDifferent(x):
			same = append(same, c.ID)
			recommendations += fmt.Sprintf(" Use %s? No difference in %s is shown: what it brings decides.", c.ID, m.Noun)
		case x.Ratio < 1:
			less = append(less, c.ID)
			recommendations += fmt.Sprintf(" Use %s? Yes, if what it brings is acceptable: %s %s.", c.ID, format.Percent(1-x.Ratio), m.Less)
			chosen = append(chosen, ranking{contender: c})
		default:
			more = append(more, c.ID)
			recommendations += fmt.Sprintf(" Use %s? Not for this: %s %s.", c.ID, format.Percent(x.Ratio-1), m.More)
		}
	}
	if len(less)+len(more)+len(same) <= maxChoices {
		return recommendations, chosen
	}
	var parts []string
	addPart := func(label string, ids []string) {
		if len(ids) > 0 {
			parts = append(parts, label+": "+joinNames(ids))
		}
	}
	addPart(m.Less, less)
	addPart(m.More, more)
	addPart("no significant difference", same)
	return fmt.Sprintf(" Each against %s: %s.", v.baseline, strings.Join(parts, "; ")), nil
}

// voidCheck returns the check that voids the complete workload, or "".
func (v *view) voidCheck() string {
	for _, f := range v.r.Findings {
		isAboutAll := f.Contender == "" && f.Metric == "" && (f.Workload == "" || f.Workload == v.workload)
		if f.Severity == tare.Void && isAboutAll {
			return f.Check
		}
	}
	return ""
}

// differsFromBaseline reports whether id differs significantly from the baseline. Ranks can still be equal: they
// compare all pairs and need stronger evidence.
func (v *view) differsFromBaseline(id string) bool {
	x, ok := v.findComparison(id, primaryMetric(v.r))
	return ok && v.isDifferent(x)
}

func (v *view) hasIntervals() bool {
	return slices.ContainsFunc(v.ranked, func(c tare.Contender) bool {
		x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r))
		return ok && c.ID != v.baseline && x.Bounded()
	})
}

// ranking is a contender's range of ranks; 1 is the best.
type ranking struct {
	contender tare.Contender
	low, high int
}

// rankRanges returns the ranges of ranks by the primary metric, the best first.
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

// findFirst returns the contenders that may rank first, and the number of ranked contenders.
func (v *view) findFirst() (first []ranking, ranked int) {
	all := v.rankRanges()
	for _, p := range all {
		if p.low == 1 {
			first = append(first, p)
		}
	}
	return first, len(all)
}

// describeStanding returns facts about each contender of first. It has the ratio to the baseline, results of
// criteria, and warnings. If listTradeoffs lists semantic differences, their warning is omitted.
func (v *view) describeStanding(first []ranking) string {
	var b strings.Builder
	for _, f := range first {
		id := f.contender.ID
		_, isTested := findBehaviour(v.r, id)
		if x, ok := v.findComparison(id, primaryMetric(v.r)); ok && id != v.baseline && x.Ratio > 0 {
			fmt.Fprintf(&b, " %s / %s in %s: %s.", id, v.baseline, primaryMetric(v.r), formatRatio(x))
		}
		for _, verdict := range v.r.Verdicts {
			if verdict.Criterion != "" && verdict.Contender == id && verdict.Workload == v.workload {
				fmt.Fprintf(&b, " Asked of %s, %s: %s.", id, verdict.Criterion, verdict.Verdict)
			}
		}
		for _, finding := range v.r.Findings {
			if finding.Check == semanticDiff && isTested {
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
	return text + ": " + strings.TrimSuffix(writeDurations(f.Message), ".") + explainWarning(f) + "."
}

// explainWarning explains a warning to a reader who does not know the check, as the end of a sentence.
func explainWarning(f tare.Finding) string {
	switch {
	case f.Check == "sink" && strings.HasSuffix(f.Message, "pool is 1"):
		return ", so that all requests have the same body, and caches may help all contenders"
	case f.Check == "machine":
		return ", as intervals get wider"
	}
	return ""
}

var longNanoseconds = lazyregexp.New(`\b(\d{4,}) and (\d{4,}) ns\b`)

// writeDurations converts ranges of many ns in text to other units: 4.4ms and 105ms.
func writeDurations(text string) string {
	return longNanoseconds.ReplaceAllStringFunc(text, func(found string) string {
		m := longNanoseconds.FindStringSubmatch(found)
		return formatLong(m[1]) + " and " + formatLong(m[2])
	})
}

func formatLong(digits string) string {
	ns, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return digits + " ns"
	}
	s := newScale("ns", []float64{ns})
	return format.Digits(ns/s.divisor, 3) + " " + s.unit
}

func joinNames(names []string) string { return format.List(names, "and") }
