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

// ratioDiffers returns the rule ratio-differs, which findRatioDiffers applies.
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

// findRatioDiffers reports ratios and percentages that neither the figures next to them nor
// the figures of the page support. Percentages of the wrong base belong to wrong-base.
func findRatioDiffers(d *document, report reportFunc) {
	for _, t := range d.tables {
		findWrongChanges(t, report)
	}
	compared := 0
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if isGoal(s.text, c) {
				continue
			}
			if p, ok := s.pairOf(c, claims); ok {
				isWrongBase := percentOfOtherBase(c, p.a.value, p.b.value) > 0
				if !c.canBeOf(p.a.value, p.b.value) && !isWrongBase {
					report(s.lineAt(c.start), fmt.Sprintf("%s: the figures next to it, %s and %s, have %s", quote(c.text), formatValue(p.a), formatValue(p.b), c.describeActual(p.a.value, p.b.value)))
				}
				continue
			}
			if compared++; compared > maxCompared {
				return
			}
			if q, ok := s.figureBefore(c); ok {
				if m, ok := c.findMissed(q, d.nearGroups(s.line)); ok {
					report(s.lineAt(c.start), fmt.Sprintf("%s: %s next to it and %s of %s (line %d) have %s", quote(c.text), formatValue(q), formatValue(m.quantity), quote(m.subject), m.line, c.describeActual(q.value, m.value)))
				}
				continue
			}
			v := d.judgeClaim(c, claims)
			if v.fits || v.reversed != nil || v.wrongBase != nil || v.rawUnits != nil {
				continue
			}
			_, after, _ := c.splitClause(claims)
			clause := newWordSet(after)
			groups := slices.DeleteFunc(slices.Clone(d.nearGroups(s.line)), func(g *comparison) bool { return d.isOtherMetric(g, clause) })
			if why := c.whyUnsupported(groups, v.pairs); why != "" {
				report(s.lineAt(c.start), fmt.Sprintf("%s: %s", quote(c.text), why))
			}
		}
	}
}

// Limits of comparing statements with the figures of a page.
const (
	maxCompared    = 2000 // statements
	maxNamed       = 12   // sides that a statement names
	maxSideFigures = 100  // figures of the named sides; a table may have thousands
	nameReach      = 60   // bytes after "than" with the name of a side
	maxTextGap     = 8    // lines between two figures and a statement that names no side
)

// findMissed finds the figures that a claim compares q with, those of the side named after "than".
// If the claim fits none of them, findMissed returns the one that comes nearest, and true.
func (c claim) findMissed(q quantity, groups []*comparison) (nearest measure, missed bool) {
	_, after, ok := strings.Cut(c.sentence.text[c.end:], " than ")
	if !ok {
		return measure{}, false
	}
	reference := newWordSet(firstChars(after, nameReach))
	distance := func(m measure) float64 {
		ratio := max(q.value, m.value) / min(q.value, m.value)
		if c.isPercent {
			return math.Abs(100*(ratio-1) - c.low)
		}
		return math.Abs(math.Log(ratio / c.low))
	}
	for _, g := range groups {
		if g.kind != q.kind || g.naming.words == nil {
			continue
		}
		named := g.naming.findNamed(reference)
		if len(named) != 1 {
			continue
		}
		for _, m := range g.measures {
			if m.subject != named[0] {
				continue
			}
			if c.canBeOf(q.value, m.value) {
				return measure{}, false
			}
			if !missed || distance(m) < distance(nearest) {
				nearest, missed = m, true
			}
		}
	}
	return nearest, missed
}

// isGoal reports whether a claim is a target or an expectation and not a result, by the
// words within 40 bytes of it, up to the next clause.
func isGoal(text string, c claim) bool {
	const reach = 40
	before := strings.ToLower(text[max(0, c.start-reach):c.start])
	after := strings.ToLower(firstChars(text[c.end:], reach))
	if i := strings.IndexAny(after, ",;:"); i >= 0 {
		after = after[:i]
	}
	words := []string{"target", "goal", "expect", "aim", "require", "should", "could", "would", "may be", "might", "can be", "at scale"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(before, word) || strings.Contains(after, " "+word) })
}

// describeActual returns the ratio or percentage of two figures that the claim should state.
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

// restricted matches words that narrow a claim to some of the figures.
var restricted = lazyregexp.New(`(?i)\b(?:for|when|if|with|without|on|under|depending|in most|generally|typically)\b`)

// whyUnsupported compares a claim with the figures of the page whose sides the sentence
// names, and with pairs of a row, and describes how they differ. It returns "" if figures support
// the claim, or if the page has no such figures.
func (c claim) whyUnsupported(groups []*comparison, pairs []tablePair) string {
	var ratios [][2]float64 // smaller and greater figure of each pair
	line, m := 0, newMention(c.sentence)
	for _, p := range pairs {
		ratios = append(ratios, [2]float64{min(p.a.value, p.b.value), max(p.a.value, p.b.value)})
		line = p.a.line
	}
	for _, g := range groups {
		if !slices.Contains(c.kinds, g.kind) || g.naming.words == nil {
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
	low, high, fitting := math.Inf(1), 0.0, 0 // least and greatest ratio, number of those that fit
	for _, r := range ratios {
		x := r[1] / r[0]
		low, high = min(low, x), max(high, x)
		if c.canBeOf(r[0], r[1]) {
			fitting++
		}
	}
	formatRatio := func(x float64) string {
		switch {
		case !c.isPercent:
			return formatNumber(x)
		case c.isMore():
			return formatNumber(100*(x-1)) + " %"
		}
		return formatNumber(100*(1-1/x)) + " %"
	}
	isExactRange := c.low != c.high && !c.atMost && !c.isAbout
	isMinority := fitting*2 < len(ratios)
	switch {
	case fitting == 0 && isNear(low, high, 1e-9):
		return fmt.Sprintf("the figures (line %d) have %s", line, formatRatio(low))
	case fitting == 0:
		return fmt.Sprintf("the figures (e.g. line %d) have %s to %s", line, formatRatio(low), formatRatio(high))
	case isExactRange && isMinority && !restricted.MatchString(c.sentence.text[c.end:]):
		return fmt.Sprintf("of %d ratios of the figures %d lie in that range; they go from %s to %s", len(ratios), fitting, formatRatio(low), formatRatio(high))
	}
	return ""
}

// amountBefore matches a word before "than" that says nothing of two sides: "more than 3x".
var amountBefore = lazyregexp.New(`(?i)\b(?:more|less|fewer|other|rather|higher|greater)$`)

// namedPairs returns the pairs of figures whose two sides a sentence names. For a sentence that
// names no side, it returns the two figures right before the sentence, if the group has no others.
func (g *comparison) namedPairs(m mention) [][2]measure {
	if m.hasThan {
		firsts, others := g.naming.findNamed(m.before), g.naming.findNamed(m.after)
		if len(firsts) > 0 && len(others) > 0 {
			return g.pairsOf(firsts, others)
		}
		if m.isSided {
			return nil // one of the sides has no figures in the group
		}
	}
	named := g.naming.findNamed(m.all)
	switch {
	case len(named) >= 2:
		return g.pairsOf(named, named)
	case len(named) == 0 && g.isPairBefore(m.sentence):
		return [][2]measure{{g.measures[0], g.measures[1]}}
	}
	return nil
}

// mention holds the words of a sentence by which it names sides.
type mention struct {
	sentence
	all           wordSet
	before, after wordSet // before and after "than"
	hasThan       bool
	isSided       bool // "than" compares two sides, unlike that of "more than 3x"
}

func newMention(s sentence) mention {
	m := mention{sentence: s, all: newWordSet(s.text)}
	before, after, ok := strings.Cut(strings.ToLower(s.text), " than ")
	if m.hasThan = ok; ok {
		// The cases of letters separate words.
		m.before, m.after = newWordSet(s.text[:len(before)]), newWordSet(s.text[len(s.text)-len(after):])
		m.isSided = !amountBefore.MatchString(before)
	}
	return m
}

// isPairBefore reports whether the group has exactly two figures, of two sides, and they
// are right before a sentence under the same heading.
func (g *comparison) isPairBefore(s sentence) bool {
	if len(g.measures) != 2 || g.measures[0].subject == g.measures[1].subject {
		return false
	}
	return strings.ToLower(s.heading) == g.measures[0].heading && s.isRightAfter(g.measures[1].line)
}

// pairsOf returns the pairs of a figure of firsts and a figure of others, which are labels.
// Two sides that are in both lists make one pair, not two.
func (g *comparison) pairsOf(firsts, others []string) [][2]measure {
	if len(firsts) > maxNamed || len(others) > maxNamed {
		return nil
	}
	figuresOf := func(labels []string) []measure {
		var out []measure
		for _, m := range g.measures {
			if len(out) < maxSideFigures && slices.Contains(labels, m.subject) {
				out = append(out, m)
			}
		}
		return out
	}
	firstFigures, otherFigures := figuresOf(firsts), figuresOf(others)
	var out [][2]measure
	for _, a := range firstFigures {
		for _, b := range otherFigures {
			isMirrored := slices.Contains(firsts, b.subject) && slices.Contains(others, a.subject)
			if a.subject != b.subject && (!isMirrored || a.subject < b.subject) {
				out = append(out, [2]measure{a, b})
			}
		}
	}
	return out
}
