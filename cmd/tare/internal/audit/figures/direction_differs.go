package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

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
	// speedOrderRE matches the order of two sides by speed, "slower than", and amountOrderRE by an
	// amount, "less memory than".
	speedOrderRE  = lazyregexp.New(`(?i)\b(slower|faster|quicker)\b\*{0,2}(?:\s+(?:at|for|on|in|with|to)\s+[\w-]+(?:\s+[\w-]+){0,2}?)?\s+than\b`)
	amountOrderRE = lazyregexp.New(`(?i)\b(less|fewer|more|higher|lower)\b\*{0,2}\s+(memory|ram|allocations?|allocs|bytes|latency|throughput)\b\*{0,2}\s+than\b`)
	// negationRE matches a negation, a condition, or a word of what may be.
	negationRE = lazyregexp.New(`(?i)n['’]t\b|\b(?:not|never|no|neither|nor|if|when|unless|whether|why|should|can|may|might|could|would|become|becomes)\b`)
)

// statedOrder is the order of two sides that a sentence states, e.g. "a is slower than b".
type statedOrder struct {
	word           string // e.g. slower, or more memory
	before         string // text before the word, about the first side
	subject        string // text that names the first side: before, or the sentence that it refers back to
	after          string // text after "than", about the second side
	kinds          []kind // kinds of figures that the order is about
	firstIsGreater bool   // the first side has the greater figure
	isSpeed        bool   // the word is about speed: firstIsGreater is about times, and the opposite about rates
}

// orders returns the orders of two sides that a sentence states: at most one by speed, and one by an
// amount.
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
	case noun == "latency":
		o.kinds = []kind{timeKind}
	case noun == "throughput":
		o.kinds = []kind{rateKind}
	default:
		o.kinds = []kind{byteKind}
	}
	return append(out, o)
}

// newSpeedOrder returns the order by slower, faster or quicker.
func newSpeedOrder(word string) statedOrder {
	return statedOrder{word: word, kinds: []kind{timeKind, rateKind}, firstIsGreater: word == "slower", isSpeed: true}
}

// isContradictedBy reports whether two figures of a kind are in the opposite order.
func (o statedOrder) isContradictedBy(k kind, first, second float64) bool {
	isGreater := o.firstIsGreater
	if o.isSpeed && (k == rateKind || k == byteRateKind) {
		isGreater = !isGreater
	}
	return first != second && (first > second) != isGreater
}

// findDirectionDiffers reports statements of a direction or an order that the figures contradict,
// except after a negation or a condition.
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
		add := func(offset int, why string) {
			if why != "" {
				report(s.lineAt(offset), why)
			}
		}
		add(s.whyWrongOfTwo())
		add(s.whyWrongInBrackets())
		add(d.whyWrongExtreme(s))
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

// whyReversed returns how the figures next to a claim, or else figures of the page, have the opposite
// direction. It returns "" if none have.
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

// clauseBefore returns the text of the claim's clause before it.
func (c claim) clauseBefore() string {
	text := c.sentence.text[:c.start]
	if all := conjunctionRE.FindAllStringIndex(text, maxFigures); len(all) > 0 {
		return text[all[len(all)-1][1]:]
	}
	return text
}

// isReversedBy reports whether two figures after a claim, the first of which is its subject's, have
// the claimed ratio in the opposite direction: "18 % slower, 41.2 µs against the other's 50.3 µs".
func (c claim) isReversedBy(p pair) bool {
	if p.start < c.end || !c.isSpeed() || !p.ofTwoSides() {
		return false
	}
	sign := c.expectedSign(p.a.kind)
	isAmount := c.isPercent && c.matchesValue(computeShare(p.b.value, p.a.value), reversedTolerance) || !c.isPercent && c.matchesPair(p.a.value, p.b.value)
	return sign != 0 && isAmount && p.a.value != p.b.value && (p.a.value > p.b.value) != (sign > 0)
}

// greaterOfTwoRE matches "is the slower", or faster, of one of two sides. The group is the word.
var greaterOfTwoRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:again |still |clearly )?the (slower|faster|quicker)\b`)

// whyWrongOfTwo checks a sentence that calls a side the slower or the faster one and then gives two
// figures, the side's own first. It returns the finding and its offset in the sentence if these are
// in the opposite order, else "".
func (s sentence) whyWrongOfTwo() (offset int, why string) {
	m := greaterOfTwoRE.FindStringSubmatchIndex(s.text)
	if m == nil || negationRE.MatchString(s.text[:m[0]]) {
		return 0, ""
	}
	o := newSpeedOrder(strings.ToLower(s.text[m[2]:m[3]]))
	for _, p := range s.pairs() {
		isAfter := p.start >= m[1] && p.start-m[1] < maxPairDistance
		if !isAfter || !slices.Contains(o.kinds, p.a.kind) || !p.ofTwoSides() {
			continue
		}
		if o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
			return m[2], fmt.Sprintf("the %s is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
		}
		return 0, ""
	}
	return 0, ""
}

// beforeBracketsRE matches slower or faster shortly before brackets. The group is the word.
var beforeBracketsRE = lazyregexp.New(`(?i)\b(slower|faster|quicker)\b[^.;:()]{0,40}\(`)

// whyWrongInBrackets checks a sentence that calls a side slower or faster and gives two figures in
// brackets, the side's own first: "slower in Ohio (38 ms against 44 ms)". It returns the finding and
// its offset in the sentence if these are in the opposite order, else "".
func (s sentence) whyWrongInBrackets() (offset int, why string) {
	for _, m := range beforeBracketsRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		o := newSpeedOrder(strings.ToLower(s.text[m[2]:m[3]]))
		clause := s.text[strings.LastIndexAny(s.text[:m[0]], ".;:,")+1 : m[1]]
		if negationRE.MatchString(clause) || strings.Contains(clause, " than ") {
			continue
		}
		for _, p := range s.pairs() {
			isRightAfter := p.start >= m[1] && p.start-m[1] <= 1
			isOfSides := slices.Contains(o.kinds, p.a.kind) && p.ofTwoSides()
			if isRightAfter && isOfSides && o.isContradictedBy(p.a.kind, p.a.value, p.b.value) {
				return m[2], fmt.Sprintf("%q is said of %s against %s", o.word, formatValue(p.a), formatValue(p.b))
			}
		}
	}
	return 0, ""
}

// ofTwoSides reports whether a pair compares two sides, of which the first is the subject.
func (p pair) ofTwoSides() bool {
	return slices.Contains([]string{"vs", "vs.", "versus", "against", "compared to", "compared with", "instead of", "rather than"}, p.connector)
}

// superlativeRE matches "is the slowest", or fastest. The groups are the word and the text after it.
var superlativeRE = lazyregexp.New(`(?i)\b(?:is|was|remains|stays) (?:clearly |still |also |again )?the (slowest|fastest|quickest)\b([^.;]*(?:\.\d[^.;]*)*)`)

// whyWrongExtreme checks a sentence that calls a side the slowest or the fastest and then gives its
// figure. It returns the finding and its offset in the sentence if the figure is the opposite
// extreme of a column, else "". It also returns "" unless exactly one column has the figure for the
// side.
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
	isGreatest := (word == "slowest") != isRate // by the word
	subject := newWordSet(s.text[:m[0]])
	columns := 0 // that have the figure for the side
	for _, g := range d.nearGroups(s.line) {
		if g.kind != stated.kind || len(g.matcher.words) < minSides {
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
		named := g.figures[i]
		isOpposite := !slices.ContainsFunc(g.figures, func(x figure) bool {
			isBeyond := x.value < named.value
			if isGreatest {
				isBeyond = x.value > named.value
			}
			return x.subject != named.subject && !isBeyond
		})
		if isOpposite {
			why = fmt.Sprintf("the %s is said of %s, whose %s (line %d) is the other extreme of the column", word, quote(named.subject), formatValue(named.quantity), named.line)
		}
	}
	if columns != 1 {
		return 0, ""
	}
	return m[2], why
}

// whyContradicted returns how the figures in the sentence of an order, or if it has no pair of
// figures, those of the page, contradict the order. It returns "" if they do not.
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

// isReversed reports whether the first figure of a pair belongs to the second side: the page has it for
// a side that only the text after "than" names.
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

// cutPair returns the text before the first parenthesis, in which figures may be.
func cutPair(text string) string {
	before, _, _ := strings.Cut(text, "(")
	return before
}

// whyPageContradicts returns an example of how the figures of the page contradict an order of two
// sides that the sentence names. It returns "" unless all pairs of their figures do.
func (o statedOrder) whyPageContradicts(groups []*figureGroup, s sentence, grids []*grid) string {
	pairs, wrong, example := 0, 0, ""
	add := func(k kind, a, b figure) {
		if pairs++; o.isContradictedBy(k, a.value, b.value) {
			if wrong++; wrong == 1 {
				example = fmt.Sprintf("%q is said of %s, with %s (line %d), and %s, with %s", o.word, quote(a.name()), formatValue(a.quantity), a.line, quote(b.name()), formatValue(b.quantity))
			}
		}
	}
	all, first, second := newWordSet(s.text), newWordSet(o.subject), newWordSet(cutPair(o.after))
	for _, g := range grids {
		const isOwnPast, isOnlyRow = false, true
		for _, p := range g.pairsFor(all, o.kinds, isOwnPast, isOnlyRow) {
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
		for _, p := range g.soleNamedPairs(first, second) {
			add(g.kind, p[0], p[1])
		}
	}
	if pairs > 0 && wrong == pairs {
		return example
	}
	return ""
}
