package figures

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// ratioDiffers returns the rule about this mistake: a ratio in the text is not that of the figures.
func ratioDiffers() rule {
	return rule{audit.Rule{
		ID: "ratio-differs", Severity: tare.Warn, Title: "A ratio in the text is not that of the figures.",
		Why:     "Readers keep the ratio and forget the figures; one that does not follow from them is of other runs, or of the best of many rows.",
		Do:      "compute it from the figures, and give its interval",
		Command: benchCommand, Lang: "text",
		Bad:  "| codec | time |\n|---|---|\n| plain | 1800 ns |\n| fast | 1200 ns |\n\nThe fast codec is 3x faster than the plain one.\n",
		Good: "| codec | time |\n|---|---|\n| plain | 1800 ns |\n| fast | 1200 ns |\n\nThe fast codec is 1.5x faster than the plain one.\n",
		Seen: []string{"users", "https://github.com/jamesyang124/tasks-service-demo"},
	}, findRatioDiffers}
}

func findRatioDiffers(d *document, report reportFunc) {
	for _, t := range d.tables {
		findWrongChanges(t, report)
	}
	judged := 0
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if isGoal(s.text, c) {
				continue
			}
			if p, ok := s.pairOf(c, claims); ok {
				if !c.canBeOf(p.a.value, p.b.value) && otherBase(c, p.a.value, p.b.value) == 0 {
					report(s.line, fmt.Sprintf("%s: the figures beside it, %s and %s, have %s", quote(c.text), formatValue(p.a), formatValue(p.b), c.describeActual(p.a.value, p.b.value)))
				}
				continue
			}
			if judged++; judged > maxJudged {
				return
			}
			if q, ok := s.figureBefore(c); ok {
				if m, n := c.misses(q, d.groups); n > 0 {
					report(s.line, fmt.Sprintf("%s: %s beside it and %s of %s (line %d) have %s", quote(c.text), formatValue(q), formatValue(m.quantity), quote(m.subject), m.line, c.describeActual(q.value, m.value)))
				}
				continue
			}
			if what := c.whyUnsupported(d.groups); what != "" {
				report(s.line, fmt.Sprintf("%s: %s", quote(c.text), what))
			}
		}
	}
}

// maxJudged limits the statements of a page that are compared with all of its figures.
const maxJudged = 2000

// misses returns, of the figures that a claim compares q with, the one that is nearest to the
// claim, and their number, if the claim fits none of them. They are those of the side that the
// text after "than" names.
func (c claim) misses(q quantity, groups []*comparison) (nearest measure, n int) {
	_, after, ok := strings.Cut(c.sentence.text[c.to:], " than ")
	if !ok {
		return nearest, 0
	}
	distance := func(m measure) float64 {
		ratio := max(q.value, m.value) / min(q.value, m.value)
		if c.percent {
			return math.Abs(100*(ratio-1) - c.low)
		}
		return math.Abs(math.Log(ratio / c.low))
	}
	for _, g := range groups {
		if g.kind != q.kind || g.naming.words == nil {
			continue
		}
		named := g.naming.findNamed(firstChars(after, 60))
		if len(named) != 1 {
			continue
		}
		for _, m := range g.measures {
			if m.subject != named[0] {
				continue
			}
			if c.canBeOf(q.value, m.value) {
				return measure{}, 0
			}
			if n++; n == 1 || distance(m) < distance(nearest) {
				nearest = m
			}
		}
	}
	return nearest, n
}

// isGoal reports whether a claim is what somebody aims at, and not what came out.
func isGoal(text string, c claim) bool {
	before := strings.ToLower(text[max(0, c.from-40):c.from])
	after := strings.ToLower(firstChars(text[c.to:], 40))
	for _, word := range []string{"target", "goal", "expect", "aim", "require", "should", "could", "would", "may be", "might", "can be", "at scale"} {
		if strings.Contains(before, word) || strings.Contains(after, " "+word) {
			return true
		}
	}
	return false
}

// describeActual returns what the claim should say of two figures.
func (c claim) describeActual(a, b float64) string {
	small, great := min(a, b), max(a, b)
	if !c.percent {
		return "a ratio of " + formatNumber(great/small)
	}
	if c.isMore() {
		return formatNumber(100*(great-small)/small) + " %"
	}
	return formatNumber(100*(great-small)/great) + " %"
}

// restricted matches words that narrow a claim to some of the figures.
var restricted = regexp.MustCompile(`(?i)\b(?:for|when|if|with|without|on|under|depending|in most|generally|typically)\b`)

// against compares a claim with the figures of the page that it names, and returns what is
// wrong; "" if a figure supports it, or it is not clear which figures it is about.
func (c claim) whyUnsupported(groups []*comparison) string {
	var ratios [][2]float64 // smaller and greater figure
	line := 0
	for _, g := range groups {
		if !slices.Contains(c.kinds, g.kind) || g.naming.words == nil {
			continue
		}
		for _, p := range g.namedPairs(c.sentence) {
			ratios = append(ratios, [2]float64{min(p[0].value, p[1].value), max(p[0].value, p[1].value)})
			line = p[0].line
		}
	}
	if len(ratios) == 0 {
		return ""
	}
	low, high, fitting := math.Inf(1), 0.0, 0
	for _, r := range ratios {
		x := r[1] / r[0]
		low, high = min(low, x), max(high, x)
		if c.canBeOf(r[0], r[1]) {
			fitting++
		}
	}
	text := func(x float64) string {
		switch {
		case !c.percent:
			return formatNumber(x)
		case c.isMore():
			return formatNumber(100*(x-1)) + " %"
		}
		return formatNumber(100*(1-1/x)) + " %"
	}
	isRange := c.low != c.high
	switch {
	case fitting == 0 && isNear(low, high, 1e-9):
		return fmt.Sprintf("the figures (line %d) have %s", line, text(low))
	case fitting == 0:
		return fmt.Sprintf("the figures (e.g. line %d) have %s to %s", line, text(low), text(high))
	case isRange && !c.atMost && !c.about && fitting*2 < len(ratios) && !restricted.MatchString(c.sentence.text[c.to:]):
		return fmt.Sprintf("of %d ratios of the figures %d lie in that range; they go from %s to %s", len(ratios), fitting, text(low), text(high))
	}
	return ""
}

// namedPairs returns the figures of which a sentence names both sides. If the sentence names
// none, those are the figures of the block right before it, if it has two sides only.
func (g *comparison) namedPairs(s sentence) [][2]measure {
	if before, after, ok := strings.Cut(strings.ToLower(s.text), " than "); ok {
		firsts, others := g.naming.findNamed(s.text[:len(before)]), g.naming.findNamed(s.text[len(s.text)-len(after):])
		if len(firsts) > 0 && len(others) > 0 {
			return g.pairsOf(firsts, others)
		}
	}
	named := g.naming.findNamed(s.text)
	if len(named) < 2 {
		subjects := map[string]bool{}
		for _, m := range g.measures {
			subjects[m.subject] = true
		}
		last := g.measures[len(g.measures)-1].line
		if len(named) > 0 || len(subjects) != 2 || len(g.measures) != 2 || strings.ToLower(s.heading) != g.measures[0].heading || s.line <= last || s.line-last > 8 {
			return nil
		}
		return [][2]measure{{g.measures[0], g.measures[1]}}
	}
	return g.pairsOf(named, named)
}

// pairsOf returns the figures of each of firsts with those of each of others.
func (g *comparison) pairsOf(firsts, others []string) [][2]measure {
	if len(firsts) > 12 || len(others) > 12 {
		return nil
	}
	// Statements are about few figures of a side; a table may have thousands.
	const most = 100
	of := func(labels []string) []measure {
		var out []measure
		for _, m := range g.measures {
			if len(out) < most && slices.Contains(labels, m.subject) {
				out = append(out, m)
			}
		}
		return out
	}
	first, other := of(firsts), of(others)
	var out [][2]measure
	for _, a := range first {
		for _, b := range other {
			both := slices.Contains(firsts, b.subject) && slices.Contains(others, a.subject)
			if a.subject != b.subject && (!both || a.subject < b.subject) {
				out = append(out, [2]measure{a, b})
			}
		}
	}
	return out
}
