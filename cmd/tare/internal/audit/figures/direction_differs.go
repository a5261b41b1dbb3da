package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// directionDiffers returns the rule direction-differs, which findDirectionDiffers applies.
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
	speedOrderRE  = lazyregexp.New(`(?i)\b(slower|faster|quicker)\b\*{0,2}(?:\s+(?:at|for|on|in|with|to)\s+[\w-]+(?:\s+[\w-]+){0,2}?)?\s+than\b`)
	amountOrderRE = lazyregexp.New(`(?i)\b(less|fewer|more|higher|lower)\b\*{0,2}\s+(memory|ram|allocations?|allocs|bytes|latency|throughput)\b\*{0,2}\s+than\b`)
	negationRE    = lazyregexp.New(`(?i)n['’]t\b|\b(?:not|never|no|neither|nor|if|when|unless|whether|why|should|can|may|might|could|would|become|becomes)\b`)
)

// statedOrder is the order of two sides that a sentence states, e.g. "a is slower than b".
type statedOrder struct {
	word           string // e.g. slower, or more memory
	before         string // text before the word, about the first side
	subject        string // text that names the first side: before, or the sentence that it refers back to
	after          string // text after "than", about the second side
	kinds          []kind // kinds of the figures that the order is about
	firstIsGreater bool   // the first side has the greater figure
	isSpeed        bool   // slower or faster: firstIsGreater is about times, and reversed for rates
}

// orders returns the orders that a sentence states of two sides: by speed, and by an amount
// such as memory.
func (s sentence) orders() (out []statedOrder) {
	if m := speedOrderRE.FindStringSubmatchIndex(s.text); m != nil {
		word := strings.ToLower(s.text[m[2]:m[3]])
		out = append(out, statedOrder{
			word:           word,
			before:         s.text[:m[0]],
			after:          s.text[m[1]:],
			kinds:          []kind{timeKind, rateKind},
			firstIsGreater: word == "slower",
			isSpeed:        true,
		})
	}
	m := amountOrderRE.FindStringSubmatchIndex(s.text)
	if m == nil {
		return out
	}
	word, noun := strings.ToLower(s.text[m[2]:m[3]]), strings.ToLower(s.text[m[4]:m[5]])
	o := statedOrder{
		word:           word + " " + noun,
		before:         s.text[:m[0]],
		after:          s.text[m[1]:],
		firstIsGreater: word == "more" || word == "higher",
	}
	switch {
	case strings.HasPrefix(noun, "alloc"):
		o.kinds = []kind{allocKind}
	case noun == "latency":
		o.kinds = []kind{timeKind}
	case noun == "throughput":
		o.kinds = []kind{rateKind}
	default:
		o.kinds = []kind{byteKind}
	}
	return append(out, o)
}

// isContradictedBy reports whether two figures of a kind are in the opposite order.
func (o statedOrder) isContradictedBy(k kind, first, second float64) bool {
	greater := o.firstIsGreater
	if o.isSpeed && (k == rateKind || k == byteRateKind) {
		greater = !greater
	}
	return first != second && (first > second) != greater
}

// findDirectionDiffers reports orders that the figures contradict, except orders after
// a negation or a condition in their sentence.
func findDirectionDiffers(d *document, report reportFunc) {
	compared := 0
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if compared++; compared > maxCompared {
				return
			}
			if p, ok := s.pairOf(c, claims); ok && c.isReversedBy(p) && !isGoal(s.text, c) && !negationRE.MatchString(c.clauseBefore()) {
				report(s.lineAt(c.start), fmt.Sprintf("%s: the first figure next to it is %s, and the other side has %s", quote(c.text), formatValue(p.a), formatValue(p.b)))
				continue
			}
			if p := d.judgeClaim(c, claims).reversed; p != nil && !isGoal(s.text, c) && !negationRE.MatchString(c.clauseBefore()) {
				report(s.lineAt(c.start), fmt.Sprintf("%s: %s goes with %s, and the other side has %s (line %d)", quote(c.text), formatValue(p.b.quantity), quote(p.b.name()), formatValue(p.a.quantity), p.b.line))
			}
		}
		if at, why := s.whyWrongOfTwo(); why != "" {
			report(s.lineAt(at), why)
		}
		if at, why := s.whyWrongInBrackets(); why != "" {
			report(s.lineAt(at), why)
		}
		if at, why := d.whyWrongExtreme(s); why != "" {
			report(s.lineAt(at), why)
		}
		for _, o := range s.orders() {
			if negationRE.MatchString(o.before) {
				continue
			}
			if compared++; compared > maxCompared {
				return
			}
			if o.subject = o.before; s.before != "" {
				o.subject = s.before
			}
			if why := o.whyContradicted(s, d.nearGroups(s.line), d.nearGrids(s.line)); why != "" {
				report(s.line, why)
			}
		}
	}
}

// clauseBefore returns the text of the claim's clause before it.
func (c claim) clauseBefore() string {
	text := c.sentence.text[:c.start]
	if all := conjunctionRE.FindAllStringIndex(text, maxFigures); len(all) > 0 {
		return text[all[len(all)-1][1]:]
	}
	return text
}

// isReversedBy reports whether two figures after a claim, the first of them that of its subject, have the amount
// that it states and the opposite direction, as in "18 % slower, 41.2 µs against the other's 50.3 µs".
func (c claim) isReversedBy(p pair) bool {
	if p.start < c.end || !c.isSpeed() || !p.ofTwoSides() {
		return false
	}
	sign := c.expectedSign(p.a.kind)
	isAmount := c.isPercent && c.matchesValue(computeShare(p.b.value, p.a.value), reversedTolerance) || !c.isPercent && c.matchesPair(p.a.value, p.b.value)
	return sign != 0 && isAmount && p.a.value != p.b.value && (p.a.value > p.b.value) != (sign > 0)
}

// greaterOfTwoRE matches a side that is said to be the slower or the faster one of two.
var greaterOfTwoRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:again |still |clearly )?the (slower|faster|quicker)\b`)

// whyWrongOfTwo describes how a sentence calls a side the slower one, and the two figures that it gives after
// that, the side's own first, are in the opposite order. at is the place in the sentence. It returns "" for
// others.
func (s sentence) whyWrongOfTwo() (at int, why string) {
	m := greaterOfTwoRE.FindStringSubmatchIndex(s.text)
	if m == nil || negationRE.MatchString(s.text[:m[0]]) {
		return 0, ""
	}
	word := strings.ToLower(s.text[m[2]:m[3]])
	o := statedOrder{word: word, firstIsGreater: word == "slower", isSpeed: true}
	for _, p := range s.pairs() {
		isTime := p.a.kind == timeKind || p.a.kind == rateKind
		if p.start >= m[1] && p.start-m[1] < maxPairDistance && isTime && p.ofTwoSides() {
			if o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
				return m[2], fmt.Sprintf("the %s is said of %s against %s", word, formatValue(p.a), formatValue(p.b))
			}
			return 0, ""
		}
	}
	return 0, ""
}

// beforeBracketsRE matches slower or faster shortly before brackets, which have the two figures.
var beforeBracketsRE = lazyregexp.New(`(?i)\b(slower|faster|quicker)\b[^.;:()]{0,40}\(`)

// whyWrongInBrackets describes how a side is called slower with two figures in brackets, its own first, that are in
// the opposite order, as in "slower in Ohio (38 ms against 44 ms)". at is the place in the sentence. It returns ""
// for others.
func (s sentence) whyWrongInBrackets() (at int, why string) {
	for _, m := range beforeBracketsRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		word := strings.ToLower(s.text[m[2]:m[3]])
		o := statedOrder{word: word, firstIsGreater: word == "slower", isSpeed: true}
		clause := s.text[strings.LastIndexAny(s.text[:m[0]], ".;:,")+1 : m[1]]
		for _, p := range s.pairs() {
			isTime := p.a.kind == timeKind || p.a.kind == rateKind
			isRight := p.start >= m[1] && p.start-m[1] <= 1 && isTime && p.ofTwoSides()
			if isRight && !negationRE.MatchString(clause) && !strings.Contains(clause, " than ") && o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
				return m[2], fmt.Sprintf("%q is said of %s against %s", word, formatValue(p.a), formatValue(p.b))
			}
		}
	}
	return 0, ""
}

// ofTwoSides reports whether a pair has a figure of the subject first, and that of another side.
func (p pair) ofTwoSides() bool {
	return slices.Contains([]string{"vs", "vs.", "versus", "against", "compared to", "compared with", "instead of", "rather than"}, p.connector)
}

// superlativeRE matches a side that is said to be the slowest or the fastest, with the figure that follows. The groups are
// the word and the text after it.
var superlativeRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:clearly |still |also |again )?the (slowest|fastest|quickest)\b([^.;]*(?:\.\d[^.;]*)*)`)

// whyWrongExtreme describes how a sentence calls a side the slowest, and the figure that it gives for it is the
// smallest time or the greatest rate of the column, or the other way round. at is the place in the sentence.
// It returns "" if the figure is not one of the named side in a single column.
func (d *document) whyWrongExtreme(s sentence) (at int, why string) {
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
	if !ok {
		return 0, ""
	}
	subject := newWordSet(s.text[:m[0]])
	fitting := 0 // columns with the figure for the side
	for _, g := range d.nearGroups(s.line) {
		isRate := g.kind == rateKind || g.kind == byteRateKind
		if g.kind != stated.kind || g.kind != timeKind && !isRate || g.matcher.isEmpty() || len(g.matcher.words) < minSides {
			continue
		}
		named := g.matcher.findNamed(subject)
		if len(named) != 1 {
			continue
		}
		i := slices.IndexFunc(g.figures, func(x figure) bool { return x.subject == named[0] && isNear(x.value, stated.value, sameUnit) })
		if i < 0 {
			continue
		}
		fitting++
		own, isOpposite := g.figures[i], true
		for _, x := range g.figures {
			isBeyond := x.value > own.value
			if isSlow := word == "slowest"; isSlow == isRate {
				isBeyond = x.value < own.value
			}
			isOpposite = isOpposite && (x.subject == own.subject || isBeyond)
		}
		if isOpposite {
			why = fmt.Sprintf("the %s is said of %s, whose %s (line %d) is the other extreme of the column", word, quote(own.subject), formatValue(own.quantity), own.line)
		}
	}
	if fitting != 1 {
		return 0, ""
	}
	return m[2], why
}

// whyContradicted describes how the figures in a sentence contradict its order; a sentence without
// pairs of figures is compared with the figures of the page. It returns "" if nothing contradicts the
// order.
func (o statedOrder) whyContradicted(s sentence, groups []*figureGroup, grids []*grid) string {
	pairs := s.pairs()
	if len(pairs) == 0 {
		return o.whyPageContradicts(groups, s, grids)
	}
	p := pairs[0]
	isChange := slices.Contains([]string{"/", "to", "→", "->"}, p.connector) // before and after, not two sides
	if isChange || p.start <= len(o.before) || !slices.Contains(o.kinds, p.a.kind) {
		return ""
	}
	if o.isContradictedBy(p.a.kind, p.a.value, p.b.value) && !o.isReversed(p, groups) {
		return fmt.Sprintf("%q is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
	}
	return ""
}

// isReversed reports whether the sentence gives the figure of the second side first: the
// page has the first figure of the pair for a side that only the text after "than" names.
func (o statedOrder) isReversed(p pair, groups []*figureGroup) bool {
	first, second := newWordSet(o.before), newWordSet(cutPair(o.after))
	for _, g := range groups {
		if g.matcher.isEmpty() {
			continue
		}
		firsts, others := g.matcher.findNamed(first), g.matcher.findNamed(second)
		for _, m := range g.figures {
			if m.value == p.a.value && slices.Contains(others, m.subject) && !slices.Contains(firsts, m.subject) {
				return true
			}
		}
	}
	return false
}

// cutPair returns the text before the first parenthesis, which may contain figures.
func cutPair(text string) string {
	before, _, _ := strings.Cut(text, "(")
	return before
}

// whyPageContradicts describes how the figures of the page contradict a stated order of two
// sides that the sentence names. It returns "" unless all pairs of figures do.
func (o statedOrder) whyPageContradicts(groups []*figureGroup, s sentence, grids []*grid) string {
	n, wrong, example := 0, 0, ""
	add := func(k kind, a, b figure) {
		if n++; o.isContradictedBy(k, a.value, b.value) {
			if wrong++; wrong == 1 {
				example = fmt.Sprintf("%q is said of %s, with %s (line %d), and %s, with %s", o.word, quote(a.name()), formatValue(a.quantity), a.line, quote(b.name()), formatValue(b.quantity))
			}
		}
	}
	all, first, second := newWordSet(s.text), newWordSet(o.subject), newWordSet(cutPair(o.after))
	for _, g := range grids {
		for _, p := range g.pairsFor(all, o.kinds, false, true) {
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
		firsts, others := g.matcher.findNamed(first), g.matcher.findNamed(second)
		if len(firsts) != 1 || len(others) != 1 || firsts[0] == others[0] {
			continue
		}
		for _, p := range g.pairsOf(firsts, others) {
			add(g.kind, p[0], p[1])
		}
	}
	if n > 0 && wrong == n {
		return example
	}
	return ""
}
