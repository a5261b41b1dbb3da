package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule direction-differs. It finds sentences that name the wrong side. For example,
// "a is slower than b" stands below a table with 38 ms for a and 44 ms for b.

// directionDiffers finds "slower" and the like if the figures say faster.
func directionDiffers() rule {
	return rule{Rule: audit.Rule{
		ID: "direction-differs", Severity: tare.Warn,
		Title:   "The text states slower, and the figure is smaller; or the other way round.",
		Why:     "A small difference has the sign that chance gave it; the sentence names another side than the figures do.",
		Do:      "take the sentence from the figures, and call a difference that may be none a tie",
		Command: benchCommand,
		Bad:     "The safe mode is slower than the plain one (4,120 ns vs 4,150 ns).\n",
		Good:    "The safe mode is slower than the plain one (4,190 ns vs 4,150 ns).\n",
		Seen:    []string{"json-encode"},
	}, find: findDirectionDiffers}
}

var (
	// speedOrderRE matches "faster for large files than". The group is "faster". amountOrderRE
	// matches "less memory than". The groups are "less" and "memory".
	speedOrderRE  = lazyregexp.New(`(?i)\b(slower|faster|quicker|more slowly|more quickly)\b\*{0,2}(?:\s+(?:at|for|on|in|with|to)\s+[\w-]+(?:\s+[\w-]+){0,2}?)?\s+than\b`)
	amountOrderRE = lazyregexp.New(`(?i)\b(less|fewer|more|higher|lower)\b\*{0,2}\s+(memory|ram|allocations?|allocs|bytes|latency|throughput|time|(?:requests|operations|events|messages|queries|transactions|orders|rows|records) (?:per|a|each) second)\b\*{0,2}\s+than\b`)
	// negationRE matches words of sentences that are negative, conditional or merely possible.
	negationRE = lazyregexp.New(`(?i)n['’]t\b|\b(?:not|never|no|neither|nor|if|when|unless|whether|why|should|can|may|might|could|would|become|becomes)\b`)
)

// statedOrder is the order of two sides in a sentence, e.g. "a is slower than b".
type statedOrder struct {
	word           string // e.g. slower, or more memory
	before         string // text before the word, which names the first side
	subject        string // names the first side; the previous sentence if before is "it is"
	after          string // after "than"; names the second side
	kinds          []kind // figures that are compared
	firstIsGreater bool   // the first side has the greater figure; for rates by speed the smaller one
	isSpeed        bool   // the word compares speed, not an amount
}

// orders returns the orders that a sentence states: at most one by speed and one by an amount.
func (s sentence) orders() (out []statedOrder) {
	if m := speedOrderRE.FindStringSubmatchIndex(s.text); m != nil {
		word := strings.ToLower(s.text[m[2]:m[3]])
		o := newSpeedOrder(word)
		o.before, o.after = s.text[:m[0]], s.text[m[1]:]
		out = append(out, o)
	}
	m := amountOrderRE.FindStringSubmatchIndex(s.text)
	if m == nil {
		return out
	}
	word, noun := strings.ToLower(s.text[m[2]:m[3]]), strings.ToLower(s.text[m[4]:m[5]])
	isGreater := word == "more" || word == "higher"
	o := statedOrder{word: word + " " + noun, before: s.text[:m[0]], after: s.text[m[1]:], firstIsGreater: isGreater}
	switch {
	case strings.HasPrefix(noun, "alloc"):
		o.kinds = []kind{allocKind}
	case noun == "latency", noun == "time":
		o.kinds = []kind{timeKind}
	case noun == "throughput", strings.HasSuffix(noun, "second"):
		o.kinds = []kind{rateKind}
	default:
		o.kinds = []kind{byteKind}
	}
	return append(out, o)
}

// newSpeedOrder returns the order that a word states, such as slower or more quickly.
func newSpeedOrder(word string) statedOrder {
	isSlower := word == "slower" || word == "more slowly"
	return statedOrder{word: word, kinds: []kind{timeKind, rateKind}, firstIsGreater: isSlower, isSpeed: true}
}

// isContradictedBy reports whether figures of kind k are in the opposite order.
func (o statedOrder) isContradictedBy(k kind, first, second float64) bool {
	isGreater := o.firstIsGreater
	if o.isSpeed && (k == rateKind || k == byteRateKind) {
		isGreater = !isGreater
	}
	return first != second && (first > second) != isGreater
}

// findDirectionDiffers reports sentences that name the wrong side as faster or smaller.
func findDirectionDiffers(d *document, report reportFunc) {
	compared := 0
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if compared++; compared > maxCompared {
				return
			}
			if why := d.whyReversed(c, claims); why != "" {
				report(s.lineAt(c.start), quote(c.text)+": "+why)
			}
		}
		reportAt := func(offset int, why string) {
			if why != "" {
				report(s.lineAt(offset), why)
			}
		}
		reportAt(s.whyWrongPair())
		reportAt(s.whyWrongInBrackets())
		reportAt(d.whyWrongColumn(s))
		reportAt(d.whyWrongExtreme(s))
		d.findWrongBecame(s, report)
		d.findWrongToo(s, claims, report)
		d.findWrongRank(s, report)
		for _, o := range s.orders() {
			if negationRE.MatchString(o.before) {
				continue
			}
			if compared++; compared > maxCompared {
				return
			}
			o.subject = o.before
			if s.previous != "" { // "It is slower than b."
				o.subject = s.previous
			}
			if why := o.whyContradicted(d, s); why != "" {
				report(s.line, why)
			}
		}
	}
}

// whyReversed checks a claim such as "18 % slower" against the figures. It returns the text of a
// finding if they have the opposite direction, else "".
func (d *document) whyReversed(c claim, claims []claim) string {
	isStated := func() bool { return !isGoal(c.sentence.text, c) && !negationRE.MatchString(c.clauseBefore()) }
	if p, ok := c.sentence.pairOf(c, claims); ok && c.isReversedBy(p) && isStated() {
		return fmt.Sprintf("the first figure next to it is %s, and the other side has %s", formatValue(p.a), formatValue(p.b))
	}
	if p := d.judgeClaim(c, claims).reversed; p != nil && isStated() {
		return fmt.Sprintf("%s goes with %s, and the other side has %s (line %d)", formatValue(p.b.quantity), quote(p.b.name()), formatValue(p.a.quantity), p.b.line)
	}
	return ""
}

// clauseBefore returns the start of the claim's clause.
func (c claim) clauseBefore() string {
	text := c.sentence.text[:c.start]
	if all := conjunctionRE.FindAllStringIndex(text, maxFigures); len(all) > 0 {
		return text[all[len(all)-1][1]:]
	}
	return text
}

// isReversedBy reports whether a pair after the claim contradicts it, as in "18 % slower, 41.2 µs
// against the other's 50.3 µs". The first figure belongs to the claim's subject.
func (c claim) isReversedBy(p pair) bool {
	if p.start < c.end || !c.isSpeed() || !p.comparesSides() {
		return false
	}
	hasRatio := c.matchesPair(p.a.value, p.b.value)
	if c.isPercent {
		hasRatio = c.matchesValue(computeShare(p.b.value, p.a.value), reversedTolerance)
	}
	sign := c.expectedSign(p.a.kind) // 1 means that the subject's figure should be greater
	isOpposite := sign != 0 && p.a.value != p.b.value && (p.a.value > p.b.value) != (sign > 0)
	return hasRatio && isOpposite
}

// theSlowerRE matches "is the slower". The group is "slower".
var theSlowerRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:again |still |clearly )?the (slower|faster|quicker)\b`)

// whyWrongPair checks "A is the slower (38 ms vs 44 ms)". It returns the text of a finding and its
// offset in the sentence.
func (s sentence) whyWrongPair() (offset int, why string) {
	m := theSlowerRE.FindStringSubmatchIndex(s.text)
	if m == nil || negationRE.MatchString(s.text[:m[0]]) {
		return 0, ""
	}
	o := newSpeedOrder(strings.ToLower(s.text[m[2]:m[3]]))
	for _, p := range s.pairs() {
		isAfter := p.start >= m[1] && p.start-m[1] < maxPairDistance
		if !isAfter || !slices.Contains(o.kinds, p.a.kind) || !p.comparesSides() {
			continue
		}
		if o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
			return m[2], fmt.Sprintf("the %s is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
		}
		return 0, ""
	}
	return 0, ""
}

// theSlowerSideRE matches "is wire the slower of the two" and "wire is the slower". The group is
// "slower".
var theSlowerSideRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays)(?: [^\s,.;:]+){0,3}? the (slower|faster|quicker)(?: one)?(?: of the two\b|[,.;)]|$)`)

// whyWrongColumn checks "On tagged records wire is the slower of the two". The sentence names rows,
// and one of two columns.
func (d *document) whyWrongColumn(s sentence) (offset int, why string) {
	m := theSlowerSideRE.FindStringSubmatchIndex(s.text)
	if m == nil || negationRE.MatchString(s.text[:m[1]]) {
		return 0, ""
	}
	o := newSpeedOrder(strings.ToLower(s.text[m[2]:m[3]]))
	clauseText := s.text[strings.LastIndexAny(s.text[:m[0]], ".;:,")+1 : m[1]]
	clause := newWordSet(clauseText)
	if s.previous != "" { // "With 16 subscribers it is the slower one"
		clause = newWordSet(clauseText + " " + s.previous)
	}
	beforeText := s.text[strings.LastIndexAny(s.text[:m[0]], ".;:")+1 : m[0]]
	before := newWordSet(beforeText)
	for _, g := range d.nearGrids(s.line) {
		for _, set := range g.columnSets {
			labels := set.matcher.findNamed(clause)
			if len(set.columns) != 2 || len(labels) != 1 || !slices.Contains(o.kinds, set.kind) {
				continue
			}
			for _, label := range d.rowsNamed(g, before, beforeText) {
				row := g.figuresOf(label, set)
				if len(row) != 2 {
					continue
				}
				first, second := row[0], row[1]
				if second.subject == labels[0] {
					first, second = second, first
				}
				if !o.isContradictedBy(set.kind, first.value, second.value) {
					return 0, ""
				}
				why = fmt.Sprintf("the %s is said of %s, with %s (line %d), and the other has %s", o.word, quote(first.subject), formatValue(first.quantity), first.line, formatValue(second.quantity))
			}
		}
	}
	return m[2], why
}

// rowsNamed returns the labels of the rows of a grid that a text names. words has the words of the
// text. A row without a named label may have a number that the text has: 16 in "with 16 users".
func (d *document) rowsNamed(g *grid, words wordSet, text string) []string {
	if labels := g.rowMatcher.findNamed(words); len(labels) > 0 {
		return labels
	}
	var out []string
	for _, t := range d.tables {
		if len(t.rows) == 0 || g.line < t.line || g.line > t.rows[len(t.rows)-1].line {
			continue
		}
		lines := t.namedRows(text)
		for _, label := range g.labels {
			if slices.ContainsFunc(g.cells[label], func(f figure) bool { return slices.Contains(lines, f.line) }) {
				out = append(out, label)
			}
		}
	}
	return out
}

// beforeBracketsRE matches "slower in Ohio (". The group is "slower".
var beforeBracketsRE = lazyregexp.New(`(?i)\b(slower|faster|quicker)\b[^.;:()]{0,40}\(`)

// whyWrongInBrackets checks "A is slower in Ohio (38 ms against 44 ms)", which is wrong. It returns
// the text of a finding, or "", and its offset in the sentence.
func (s sentence) whyWrongInBrackets() (offset int, why string) {
	for _, m := range beforeBracketsRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		o := newSpeedOrder(strings.ToLower(s.text[m[2]:m[3]]))
		clause := s.text[strings.LastIndexAny(s.text[:m[0]], ".;:,")+1 : m[1]]
		if negationRE.MatchString(clause) || strings.Contains(clause, " than ") {
			continue
		}
		for _, p := range s.pairs() {
			isRightAfter := p.start >= m[1] && p.start-m[1] <= 1
			isComparison := slices.Contains(o.kinds, p.a.kind) && p.comparesSides()
			if isRightAfter && isComparison && o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
				return m[2], fmt.Sprintf("%q is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
			}
		}
	}
	return 0, ""
}

// comparesSides reports whether a pair has two sides. After "to" the second figure may be a later
// one of the same side.
func (p pair) comparesSides() bool {
	return slices.Contains([]string{"vs", "vs.", "versus", "against", "compared to", "compared with", "instead of", "rather than"}, p.connector)
}

// superlativeRE matches "is the slowest with 1.5 ms". The groups are "slowest" and " with 1.5 ms".
var superlativeRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:clearly |still |also |again )?the (slowest|fastest|quickest)\b([^.;]*(?:\.\d[^.;]*)*)`)

// whyWrongExtreme checks "a is the slowest with 1.5 ms" against the column that has this figure. If
// the figure is the fastest there, it returns the text of a finding and its offset, else "".
func (d *document) whyWrongExtreme(s sentence) (offset int, why string) {
	const minSides = 3
	m := superlativeRE.FindStringSubmatchIndex(s.text)
	if m == nil || negationRE.MatchString(s.text[:m[1]]) {
		return 0, ""
	}
	word := strings.ToLower(s.text[m[2]:m[3]])
	number := numberRE.FindStringIndex(s.text[m[4]:m[5]])
	if number == nil {
		return 0, ""
	}
	stated, _, ok := parseQuantity(s.text[m[4]+number[0]:])
	isRate := stated.kind == rateKind || stated.kind == byteRateKind
	if !ok || stated.kind != timeKind && !isRate {
		return 0, ""
	}
	shouldBeGreatest := (word == "slowest") != isRate // the slowest side has the longest time, but the lowest rate
	subject := newWordSet(s.text[:m[0]])
	columns := 0 // columns that have the figure for the side
	for _, g := range d.nearGroups(s.line) {
		if g.kind != stated.kind || len(g.matcher.rareWords) < minSides {
			continue
		}
		side := g.matcher.findNamed(subject)
		if len(side) != 1 {
			continue
		}
		i := slices.IndexFunc(g.figures, func(x figure) bool { return x.subject == side[0] && isNear(x.value, stated.value, sameUnit) })
		if i < 0 {
			continue
		}
		columns++
		if candidate := g.figures[i]; g.isExtreme(candidate, !shouldBeGreatest) {
			why = fmt.Sprintf("the %s is said of %s, whose %s (line %d) is the other extreme of the column", word, quote(candidate.subject), formatValue(candidate.quantity), candidate.line)
		}
	}
	if columns != 1 {
		return 0, ""
	}
	return m[2], why
}

// isExtreme reports whether m is the greatest figure of all sides, or the smallest.
func (g *figureGroup) isExtreme(f figure, isGreatest bool) bool {
	return !slices.ContainsFunc(g.figures, func(x figure) bool {
		isBeyond := x.value <= f.value
		if isGreatest {
			isBeyond = x.value >= f.value
		}
		return x.subject != f.subject && isBeyond
	})
}

// whyContradicted compares an order with the first two figures of its sentence, or with the page.
func (o statedOrder) whyContradicted(d *document, s sentence) string {
	groups, pairs := d.nearGroups(s.line), s.pairs()
	if len(pairs) == 0 {
		// A table that names both sides right before the sentence is the one that the sentence is about.
		isOfOther := func(g *figureGroup) bool { return g.origin != d.tableBefore(s) }
		if why, compared := o.whyPageContradicts(slices.DeleteFunc(slices.Clone(groups), isOfOther), s, nil); compared > 0 {
			return why
		}
		why, _ := o.whyPageContradicts(groups, s, d.nearGrids(s.line))
		return why
	}
	p := pairs[0]
	isChange := slices.Contains([]string{"/", "to", "→", "->"}, p.connector) // before and after, not two sides
	if isChange || p.start <= len(o.before) || !slices.Contains(o.kinds, p.a.kind) {
		return ""
	}
	if o.isContradictedBy(p.a.kind, p.a.value, p.b.value) && !o.startsWithSecondSide(p, groups) {
		return fmt.Sprintf("%q is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
	}
	return ""
}

// startsWithSecondSide reports whether the first figure is of the side after "than", by a table.
func (o statedOrder) startsWithSecondSide(p pair, groups []*figureGroup) bool {
	first, second := newWordSet(o.before), newWordSet(cutBrackets(o.after))
	for _, g := range groups {
		if g.matcher.isEmpty() {
			continue
		}
		firsts, others := g.matcher.findNamed(first), g.matcher.findNamed(second)
		for _, f := range g.figures {
			if f.value == p.a.value && slices.Contains(others, f.subject) && !slices.Contains(firsts, f.subject) {
				return true
			}
		}
	}
	return false
}

// cutBrackets returns the text before the first parenthesis, in which figures may follow.
func cutBrackets(text string) string {
	before, _, _ := strings.Cut(text, "(")
	return before
}

// whyPageContradicts returns a text if all figures of the two sides contradict an order. compared is
// the number of pairs of figures that it compared.
func (o statedOrder) whyPageContradicts(groups []*figureGroup, s sentence, grids []*grid) (why string, compared int) {
	wrong, example := 0, ""
	add := func(k kind, a, b figure) {
		if compared++; o.isContradictedBy(k, a.value, b.value) {
			if wrong++; wrong == 1 {
				example = fmt.Sprintf("%q is said of %s, with %s (line %d), and %s, with %s", o.word, quote(a.name()), formatValue(a.quantity), a.line, quote(b.name()), formatValue(b.quantity))
			}
		}
	}
	all, first, second := newWordSet(s.text), newWordSet(o.subject), newWordSet(cutBrackets(o.after))
	for _, g := range grids {
		for _, p := range g.pairsFor(all, o.kinds, pairScope{allowsOnlyRow: true}) {
			sides := newLabelMatcher([]string{p.a.subject, p.b.subject})
			firsts, others := sides.findNamed(first), sides.findNamed(second)
			if len(firsts) != 1 || len(others) != 1 || firsts[0] == others[0] {
				continue
			}
			if firsts[0] == p.b.subject {
				p.a, p.b = p.b, p.a
			}
			add(p.a.kind, p.a, p.b)
		}
	}
	for _, g := range groups {
		if !slices.Contains(o.kinds, g.kind) || g.matcher.isEmpty() {
			continue
		}
		pairs := g.soleNamedPairs(first, second)
		if s.previous != "" { // the previous sentence may also name the second side
			pairs = g.pairsOfOther(first, second)
		}
		for _, p := range pairs {
			add(g.kind, p[0], p[1])
		}
	}
	if compared > 0 && wrong == compared {
		return example, compared
	}
	return "", compared
}

// pairsOfOther returns the pairs of a figure of the side that second names and one of another side
// that first names. Unlike in soleNamedPairs, first may also name the side of second.
func (g *figureGroup) pairsOfOther(first, second wordSet) [][2]figure {
	references := g.matcher.findNamed(second)
	if len(references) != 1 {
		return nil
	}
	subjects := slices.DeleteFunc(g.matcher.findNamed(first), func(name string) bool { return name == references[0] })
	if len(subjects) != 1 {
		return nil
	}
	return g.pairsOf(subjects, references)
}
