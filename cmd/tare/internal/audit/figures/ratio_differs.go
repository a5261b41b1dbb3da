package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule ratio-differs. It finds ratios and percentages that the figures of the page
// do not have. For example, "b is 3x slower (4 ms vs 2 ms)" should say 2x.

// ratioDiffers finds "3x faster" and the like if the figures have another ratio.
func ratioDiffers() rule {
	return rule{Rule: audit.Rule{
		ID: "ratio-differs", Severity: tare.Warn,
		Title:   "A ratio in the text is not that of the figures.",
		Why:     "Readers keep the ratio and forget the figures; one that does not follow from them is of other runs, or of the best of many rows.",
		Do:      "compute it from the figures, and give its interval",
		Command: benchCommand,
		Bad:     "| codec | time |\n|---|---|\n| plain | 1800 ns |\n| fast | 1200 ns |\n\nThe fast codec is 3x faster than the plain one.\n",
		Good:    "| codec | time |\n|---|---|\n| plain | 1800 ns |\n| fast | 1200 ns |\n\nThe fast codec is 1.5x faster than the plain one.\n",
		Seen:    []string{"users", "https://github.com/jamesyang124/tasks-service-demo"},
	}, find: findRatioDiffers}
}

// findRatioDiffers reports ratios and percentages that the figures of the page do not support. The
// rule wrong-base reports percentages of the wrong base.
func findRatioDiffers(d *document, report reportFunc) {
	for _, t := range d.tables {
		findWrongChanges(t, report)
	}
	d.findNumberedRatios(report)
	d.findWrongMeans(report)
	compared := 0 // claims without two figures next to them
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if isGoal(s.text, c) {
				continue
			}
			why := ""
			if p, ok := s.pairOf(c, claims); ok {
				why = c.whyNotOfPair(p)
			} else {
				if compared++; compared > maxCompared {
					return
				}
				why = d.whyClaimDiffers(c, claims)
			}
			if why != "" {
				report(s.lineAt(c.start), quote(c.text)+": "+why)
			}
		}
	}
}

// whyNotOfPair returns the text of a finding if the two figures next to a claim have another ratio,
// else "".
func (c claim) whyNotOfPair(p pair) string {
	isOfOtherBase := percentOfOtherBase(c, p.a.value, p.b.value) > 0
	if c.matchesPair(p.a.value, p.b.value) || isOfOtherBase {
		return ""
	}
	return fmt.Sprintf("the figures next to it, %s and %s, have %s", formatValue(p.a), formatValue(p.b), c.describeActual(p.a.value, p.b.value))
}

// whyClaimDiffers compares a claim with the figures of the page, and returns the text of a finding.
// It returns "" if the claim is correct or another rule reports it.
func (d *document) whyClaimDiffers(c claim, claims []claim) string {
	line := c.sentence.line
	if q, ok := c.sentence.figureBefore(c); ok {
		reference, isWrong := c.findReference(q, d.nearGroups(line))
		if !isWrong {
			return ""
		}
		return fmt.Sprintf("%s next to it and %s of %s (line %d) have %s", formatValue(q), formatValue(reference.quantity), quote(reference.subject), reference.line, c.describeActual(q.value, reference.value))
	}
	v := d.judgeClaim(c, claims)
	if u := d.findWrongInRow(c, claims); u != nil && v.reversed == nil && v.wrongBase == nil && v.rawUnits == nil {
		return u.describeRow(c)
	}
	if v.isSupported || v.reversed != nil || v.wrongBase != nil || v.rawUnits != nil {
		return ""
	}
	if u := d.findWrongReference(c, claims); u != nil && u.otherBase == nil {
		return u.describeReference(c)
	}
	if p := d.findWrongRows(c, claims); p != nil {
		return fmt.Sprintf("of the two rows that it names %s and %s (line %d) have %s", formatValue(p.a.quantity), formatValue(p.b.quantity), p.b.line, c.describeActual(p.a.value, p.b.value))
	}
	if u := d.findUnexplained(c, claims); u != nil {
		if u.otherBase != nil {
			return "" // a finding of wrong-base
		}
		return u.describe(c)
	}
	index := d.tableBefore(c.sentence)
	isOfTableBefore := slices.ContainsFunc(v.pairs, func(p tablePair) bool { return p.a.origin == index })
	if !isOfTableBefore && d.isExplainedBefore(c) {
		return ""
	}
	_, after, _ := c.splitClause(claims)
	clause := newWordSet(forTimesRE.ReplaceAllString(after, ""))
	groups := slices.DeleteFunc(slices.Clone(d.nearGroups(line)), func(g *figureGroup) bool { return d.isOtherMetric(g, clause) })
	return c.whyUnsupported(groups, v.pairs)
}

// forTimesRE matches " for 16 times the jobs" after a claim. The words name no metric.
var forTimesRE = lazyregexp.New(`(?i)\bfor (?:about |around )?\d+(?:\.\d+)? ?(?:x|×|times)\b.*`)

// These limit the comparison of sentences with the page.
const (
	maxCompared    = 2000 // sentences
	maxNamed       = 12   // sides that a sentence names
	maxSideFigures = 100  // figures of these sides; a table may have thousands
	nameReach      = 60   // bytes after "than" for the name of a side
	maxTextGap     = 8    // lines between a table and a sentence that names no side
)

// findReference checks a claim after a figure, such as "607 ns/op (49x slower than b)". q is 607 ns.
// If no figure of b has the claimed ratio to q, it returns the nearest one and true.
func (c claim) findReference(q quantity, groups []*figureGroup) (nearest figure, isWrong bool) {
	_, after, ok := strings.Cut(c.sentence.text[c.end:], " than ")
	if !ok {
		return figure{}, false
	}
	reference := newWordSet(firstBytes(after, nameReach))
	// distance is from the claimed percentage or ratio.
	distance := func(f figure) float64 {
		ratio := max(q.value, f.value) / min(q.value, f.value)
		if c.isPercent {
			return math.Abs(100*(ratio-1) - c.low)
		}
		return math.Abs(math.Log(ratio / c.low))
	}
	for _, g := range groups {
		if g.kind != q.kind || g.matcher.isEmpty() {
			continue
		}
		labels := g.matcher.findNamed(reference)
		if len(labels) != 1 {
			continue
		}
		for _, f := range g.figures {
			if f.subject != labels[0] {
				continue
			}
			if c.matchesPair(q.value, f.value) {
				return figure{}, false
			}
			if !isWrong || distance(f) < distance(nearest) {
				nearest, isWrong = f, true
			}
		}
	}
	return nearest, isWrong
}

// isGoal reports whether a claim is a target or an expectation.
func isGoal(text string, c claim) bool {
	const reach = 40 // bytes around the claim
	before := strings.ToLower(text[max(0, c.start-reach):c.start])
	after := strings.ToLower(firstBytes(text[c.end:], reach))
	if i := strings.IndexAny(after, ",;:"); i >= 0 {
		after = after[:i]
	}
	words := []string{"target", "goal", "expect", "aim", "require", "should", "could", "would", "may be", "might", "can be", "at scale"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(before, word) || strings.Contains(after, " "+word) })
}

// describeActual returns the ratio or percentage of two figures.
func (c claim) describeActual(a, b float64) string {
	small, great := min(a, b), max(a, b)
	if !c.isPercent {
		return "a ratio of " + formatNumber(great/small)
	}
	if c.isMore() {
		return formatNumber(100*(great-small)/small) + " %"
	}
	return formatNumber(100*(great-small)/great) + " %"
}

// restrictionRE matches words that restrict a claim to some of the figures, such as "for".
var restrictionRE = lazyregexp.New(`(?i)\b(?:for|when|if|with|without|on|under|depending|in most|generally|typically)\b`)

// whyUnsupported returns a text if too few of the figures that the sentence names have the claimed
// ratio, else "".
func (c claim) whyUnsupported(groups []*figureGroup, pairs []tablePair) string {
	var ratios [][2]float64 // smaller and greater figure
	line, m := 0, newMention(c.sentence)
	for _, p := range pairs {
		ratios = append(ratios, [2]float64{min(p.a.value, p.b.value), max(p.a.value, p.b.value)})
		line = p.a.line
	}
	for _, g := range groups {
		if !slices.Contains(c.kinds, g.kind) || g.matcher.isEmpty() {
			continue
		}
		for _, p := range g.namedPairs(m) {
			ratios = append(ratios, [2]float64{min(p[0].value, p[1].value), max(p[0].value, p[1].value)})
			line = p[0].line
		}
	}
	if len(ratios) == 0 {
		return ""
	}
	var actual valueRange
	matching := 0 // ratios as claimed
	for _, r := range ratios {
		actual.add(r[1] / r[0])
		if c.matchesPair(r[0], r[1]) {
			matching++
		}
	}
	isExactRange := c.low != c.high && !c.atMost && !c.isApproximate
	isMinority := matching*2 < len(ratios)
	switch {
	case matching == 0 && isNear(actual.low, actual.high, 1e-9):
		return fmt.Sprintf("the figures (line %d) have %s", line, c.formatRatio(actual.low))
	case matching == 0:
		return fmt.Sprintf("the figures (e.g. line %d) have %s to %s", line, c.formatRatio(actual.low), c.formatRatio(actual.high))
	case isExactRange && isMinority && !restrictionRE.MatchString(c.sentence.text[c.end:]):
		return fmt.Sprintf("of %d ratios of the figures %d lie in that range; they go from %s to %s", len(ratios), matching, c.formatRatio(actual.low), c.formatRatio(actual.high))
	}
	return ""
}

// formatRatio formats a ratio of figures in the form of the claim: 1.5 is 50 % more.
func (c claim) formatRatio(x float64) string {
	switch {
	case !c.isPercent:
		return formatNumber(x)
	case c.isMore():
		return formatNumber(100*(x-1)) + " %"
	}
	return formatNumber(100*(1-1/x)) + " %"
}

// amountBeforeRE matches "more" before "than" as in "more than 3x".
var amountBeforeRE = lazyregexp.New(`(?i)\b(?:more|less|fewer|other|rather|higher|greater)$`)

// namedPairs returns the pairs of figures whose sides the sentence names. A sentence right after two
// figures may leave their sides unnamed.
func (g *figureGroup) namedPairs(m mention) [][2]figure {
	if m.hasThan {
		subjects, references := g.matcher.findNamed(m.before), g.matcher.findNamed(m.after)
		if len(subjects) > 0 && len(references) > 0 {
			return g.pairsOf(subjects, references)
		}
		if m.isSided {
			return nil // one side has no figures in the group
		}
	}
	labels := g.matcher.findNamed(m.all)
	switch {
	case len(labels) >= 2:
		return g.pairsOf(labels, labels)
	case len(labels) == 0 && g.isPairBefore(m.sentence):
		return [][2]figure{{g.figures[0], g.figures[1]}}
	}
	return nil
}

// mention holds the words of a sentence that may name sides, which are the compared things.
type mention struct {
	sentence
	all           wordSet
	before, after wordSet // around "than"
	hasThan       bool
	isSided       bool // unlike "more than 3x"
}

// newMention collects the words of a sentence that may name sides.
func newMention(s sentence) mention {
	m := mention{sentence: s, all: newWordSet(s.text)}
	before, after, ok := strings.Cut(strings.ToLower(s.text), " than ")
	if m.hasThan = ok; ok {
		// newWordSet needs the upper-case letters of camelCase.
		m.before, m.after = newWordSet(s.text[:len(before)]), newWordSet(s.text[len(s.text)-len(after):])
		m.isSided = !amountBeforeRE.MatchString(before)
	}
	return m
}

// isPairBefore reports whether the group's only two figures are right before a sentence.
func (g *figureGroup) isPairBefore(s sentence) bool {
	if len(g.figures) != 2 || g.figures[0].subject == g.figures[1].subject {
		return false
	}
	return strings.ToLower(s.heading) == g.figures[0].heading && s.isRightAfter(g.figures[1].line)
}

// pairsOf returns the pairs of a figure of firsts and a figure of others, which list sides. It
// returns each pair once.
func (g *figureGroup) pairsOf(firsts, others []string) [][2]figure {
	if len(firsts) > maxNamed || len(others) > maxNamed {
		return nil
	}
	figuresOf := func(labels []string) []figure {
		var out []figure
		for _, f := range g.figures {
			if len(out) < maxSideFigures && slices.Contains(labels, f.subject) {
				out = append(out, f)
			}
		}
		return out
	}
	firstFigures, otherFigures := figuresOf(firsts), figuresOf(others)
	var out [][2]figure
	for _, a := range firstFigures {
		for _, b := range otherFigures {
			isMirrored := slices.Contains(firsts, b.subject) && slices.Contains(others, a.subject)
			if a.subject != b.subject && (!isMirrored || a.subject < b.subject) {
				out = append(out, [2]figure{a, b})
			}
		}
	}
	return out
}
