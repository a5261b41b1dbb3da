package figures

import (
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// verdict is the result of comparing a claim with the figures of the rows and columns that its
// sentence names.
type verdict struct {
	pairs       []tablePair
	isSupported bool       // a pair has what the claim states, or a figure elsewhere has it exactly
	reversed    *tablePair // the pair has the amount, and the opposite direction
	wrongBase   *tablePair // the pair has the percentage of the other figure
	rawUnits    *tablePair // the pair has it only without the units
}

// claimKey identifies a claim of a document.
type claimKey struct {
	text        string // of the sentence
	line, start int
}

// judgeClaim compares a claim of a sentence with the figures of the page. claims holds all claims of
// the sentence. Several rules need the verdict, which is computed once. After maxCompared
// claims each claim fits.
func (d *document) judgeClaim(c claim, claims []claim) verdict {
	key := claimKey{c.sentence.text, c.sentence.line, c.start}
	v, ok := d.verdicts[key]
	if !ok && len(d.verdicts) >= maxCompared {
		return verdict{isSupported: true}
	}
	if !ok {
		v = d.computeVerdict(c, claims)
		d.verdicts[key] = v
	}
	return v
}

// computeVerdict returns the result of judgeClaim.
func (d *document) computeVerdict(c claim, claims []claim) verdict {
	v := verdict{pairs: d.claimedPairs(c, claims)}
	agrees := false // a pair has the direction, with whatever amount
	for i := range v.pairs {
		p := &v.pairs[i]
		sign := c.expectedSign(p.a.kind)
		isOrdered := p.isOrdered && sign != 0
		isOpposite := func(a, b float64) bool { return isOrdered && a != b && (b > a) != (sign > 0) }
		fits := c.matchesPair(p.a.value, p.b.value)
		agrees = agrees || isOrdered && !isOpposite(p.a.value, p.b.value)
		switch {
		case c.hasOtherUnits(*p) && c.matchesPair(p.a.raw, p.b.raw) && !isOpposite(p.a.raw, p.b.raw) && (!fits || isOpposite(p.a.value, p.b.value)):
			v.rawUnits = p
		case isOpposite(p.a.value, p.b.value):
			isAmount := c.isPercent && c.matchesValue(computeShare(p.a.value, p.b.value), reversedTolerance)
			if isAmount || !c.isPercent && fits {
				v.reversed = p
			}
		case fits:
			v.isSupported = true
		case p.isOrdered && !c.isSpeed() && percentOfOtherBase(c, p.a.value, p.b.value) > 0:
			v.wrongBase = p
		}
	}
	if len(v.pairs) == 0 {
		v.wrongBase = d.findOtherBase(c, claims)
	}
	if isExact := c.isPercent && c.step < 1; v.isSupported || agrees && !isExact {
		v.reversed = nil
	}
	if v.reversed == nil && c.matchesSentence() {
		v.isSupported = true
	}
	if !v.isSupported && v.reversed == nil && v.wrongBase == nil && v.rawUnits == nil {
		v.isSupported = d.isSupportedElsewhere(c)
	}
	return v
}

// findOtherBase returns the pair of a row that the sentence names after "than" with a row that it does not
// name, as in "that build takes 60 % less than one without a cache", if the pair has the percentage of the
// other figure and no pair of the same row has what the claim states. It returns nil without one such pair.
func (d *document) findOtherBase(c claim, claims []claim) *tablePair {
	const maxRows = 8 // with more, one of them has any percentage
	before, after, hasThan := c.splitClause(claims)
	if !hasThan || !c.isPercent || c.isSpeed() {
		return nil
	}
	first, second := newWordSet(before), newWordSet(after)
	var found []tablePair
	for _, g := range d.nearGroups(c.sentence.line) {
		if !slices.Contains(c.kinds, g.kind) || g.matcher.isEmpty() || d.isOtherMetric(g, second) {
			continue
		}
		references := g.matcher.findNamed(second)
		if len(references) != 1 || len(g.matcher.findNamed(first)) > 0 || len(g.figures) > maxRows {
			continue
		}
		var others []string
		for _, m := range g.figures {
			if m.subject != references[0] {
				others = append(others, m.subject)
			}
		}
		for _, p := range g.pairsOf(references, others) {
			if c.matchesPair(p[0].value, p[1].value) {
				return nil
			}
			if percentOfOtherBase(c, p[0].value, p[1].value) > 0 {
				found = append(found, tablePair{a: p[0], b: p[1], isOrdered: true})
			}
		}
	}
	if len(found) != 1 || c.isLess() != (found[0].b.value < found[0].a.value) {
		return nil
	}
	return &found[0]
}

// isSupportedElsewhere reports whether some row of the page has the change that a claim states, to its last
// digit: the claim may name the row by other words than the table. If the claim was not compared with
// all tables, a change within the tolerance of claims suffices.
func (d *document) isSupportedElsewhere(c claim) bool {
	tolerance := 0.0
	if len(d.grids) > tablesBefore+tablesAfter {
		tolerance = claimTolerance
	}
	return d.ratios.hasMatch(c, tolerance) || slices.ContainsFunc(d.nearGrids(c.sentence.line), func(g *grid) bool { return g.hasUnclearChange(c) })
}

// reversedTolerance is the tolerance of a percentage whose direction is the opposite: little, so
// that the claim is certainly about these figures.
const reversedTolerance = 0.005

// claimedPairs returns the pairs of figures of tables that a claim may be about.
func (d *document) claimedPairs(c claim, claims []claim) []tablePair {
	if len(c.kinds) == 0 {
		c.kinds = c.sentence.findUnitKinds()
	}
	if len(c.kinds) == 0 || len(d.grids) == 0 && len(d.groups) == 0 {
		return nil
	}
	before, after, hasThan := c.splitClause(claims)
	words := newWordSet(c.sentence.before + " " + c.sentence.text[:c.start] + " " + c.sentence.text[c.end:])
	first, second := newWordSet(before), newWordSet(after)
	isOfItself := hasThan && ownPastRE.MatchString(after) || !hasThan && nowTakesRE.MatchString(c.clauseBefore()) // the reference is the column before it
	hasThan = hasThan && !isOfItself
	if !hasThan {
		second = wordSet{}
	}
	var out []tablePair
	near := d.nearGrids(c.sentence.line)
	for _, g := range near {
		// Of several tables with one row each, a statement without a name is about the one right before it.
		isOnly := c.sentence.isRightAfter(g.line) || !slices.ContainsFunc(near, func(other *grid) bool { return len(other.labels) == 1 && !slices.Equal(other.labels, g.labels) })
		for _, p := range g.pairsFor(words, c.kinds, isOfItself, isOnly) {
			sides := newLabelMatcher([]string{p.a.subject, p.b.subject})
			out = append(out, p.order(sides, first, second, hasThan))
		}
	}
	about := second
	isElliptic := !hasThan && c.isSpeed() && ellipticRE.MatchString(c.sentence.text[:c.start]) && !thanWordRE.MatchString(c.sentence.text[c.end:])
	if isElliptic {
		first, second = splitElliptic(c)
		about = newWordSet(after)
	}
	if !hasThan && !isElliptic {
		return out
	}
	for _, g := range d.nearGroups(c.sentence.line) {
		if !slices.Contains(c.kinds, g.kind) || g.matcher.isEmpty() || d.isOtherMetric(g, about) {
			continue
		}
		subjects, references := g.matcher.findNamed(first), g.matcher.findNamed(second)
		if len(subjects) != 1 || len(references) != 1 || subjects[0] == references[0] {
			continue
		}
		for _, p := range g.pairsOf(references, subjects) {
			out = append(out, tablePair{a: p[0], b: p[1], isOrdered: true})
		}
	}
	return out
}

// ellipticRE matches the words before a claim about the subject and the object of the clause before, as in "gob has
// half the size of the CSV, but is about 1.5 times slower". The groups are the text about the subject, which has
// no comma, and that about the object.
var ellipticRE = lazyregexp.New(`(?i)(?:^|[,;:] )([^,;:]+?)\s+(?:has|is|takes|needs|uses|was|had|took)\b([^;:]*?),?\s+(?:but|and|yet)\s+(?:is|was|takes|needs|runs)\s+(?:about |some |around |roughly |nearly |almost )?$`)

// splitElliptic returns the words about the two sides of a claim that elliptic matches.
func splitElliptic(c claim) (first, second wordSet) {
	m := ellipticRE.FindStringSubmatch(c.sentence.text[:c.start])
	return newWordSet(m[1]), newWordSet(m[2])
}

// conjunctionRE matches the words between two clauses.
var conjunctionRE = lazyregexp.New(`(?i)[;,(]|\b(?:and|but|while|whereas|or)\b`)

// splitClause returns the text before the first claim of the sentence and that of the claim's own clause,
// and the text after "than" or "as".
func (c claim) splitClause(claims []claim) (before, after string, hasThan bool) {
	text := c.sentence.text
	first, start, end := c.start, 0, len(text)
	for _, other := range claims {
		if first = min(first, other.start); other.end <= c.start {
			start = max(start, other.end)
		}
		if other.start >= c.end {
			end = min(end, other.start)
		}
	}
	if before, after = text[:first], text[c.end:end]; start > 0 {
		own := text[start:c.start]
		if all := conjunctionRE.FindAllStringIndex(own, maxFigures); len(all) > 0 {
			before += own[all[len(all)-1][1]:]
		}
	}
	if i := strings.LastIndexAny(before, ";:"); i >= 0 {
		before = before[i+1:]
	}
	if all := conjunctionRE.FindStringIndex(after); all != nil {
		after = after[:all[0]]
	}
	if m := thanWordRE.FindStringIndex(after); m != nil {
		return before, after[m[1]:], true
	}
	return before, after, false
}

// ownPastRE matches the words after "than" by which a row is compared with what it was.
var ownPastRE = lazyregexp.New(`(?i)^\W*(?:before|previously|(?:it|they|that) (?:was|were|did|used to|had been))\b`)

// findUnitKinds returns the kinds of the times and of the amounts of data in a sentence.
func (s sentence) findUnitKinds() []kind {
	var out []kind
	for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
		if q, _, ok := parseQuantity(s.text[m[0]:]); ok && (q.kind == timeKind || q.kind == byteKind) && !slices.Contains(out, q.kind) {
			out = append(out, q.kind)
		}
	}
	return out
}

// matchesSentence reports whether two times of the sentence, apart from the claim, have what it states, as in
// "6.33 µs with the one and 7.72 µs with the other, 22 % more".
func (c claim) matchesSentence() bool {
	var own []float64
	for _, m := range numberRE.FindAllStringIndex(c.sentence.text, maxFigures) {
		if q, _, ok := parseQuantity(c.sentence.text[m[0]:]); ok && q.kind == timeKind && (m[1] <= c.start || m[0] >= c.end) {
			own = append(own, q.value)
		}
	}
	return len(own) == 2 && own[0] != own[1] && c.matchesPair(own[0], own[1])
}

// nowTakesRE matches the words before a change of what a row was.
var nowTakesRE = lazyregexp.New(`(?i)\bnow (?:takes?|needs?|costs?|uses?|allocates?|runs?|is|are)\b`)

// thanWordRE matches the word before the reference of a comparison.
var thanWordRE = lazyregexp.New(`(?i)\bthan\b|\bas (?:fast|quick|slow|much|many|long|large|big|high|heavy) as\b|\bcompared (?:to|with)\b|\brelative to\b|\bversus\b|\bvs\b`)

// baseSubjectRE matches words by which a statement is about the figures before a change.
var baseSubjectRE = lazyregexp.New(`(?i)\b(?:without|before|old|baseline|base|main|master|previous|original|unpatched|stock|was|were|had|used to)\b`)

// order returns the pair in the order of a claim, whose reference comes first. first and second are
// the words before the claim, and after "than".
func (p tablePair) order(sides labelMatcher, first, second wordSet, hasThan bool) tablePair {
	subjects, references := sides.findNamed(first), sides.findNamed(second)
	isOne := len(references) == 1 && !slices.Contains(subjects, references[0])
	switch {
	case hasThan && isOne:
		p.isOrdered = len(subjects) == 1 || p.isOrdered
		if references[0] == p.b.subject {
			p.a, p.b = p.b, p.a
		}
	case hasThan:
		p.isOrdered = false
	case !p.isOrdered && !hasThan && len(subjects) == 1 && p.isOnlyOfKind:
		p.isOrdered = true // the other side is the reference
		if subjects[0] == p.a.subject {
			p.a, p.b = p.b, p.a
		}
	case p.isOrdered:
		isBase := slices.Contains(subjects, p.a.subject) && !slices.Contains(subjects, p.b.subject)
		for w := range first {
			isBase = isBase || baseSubjectRE.MatchString(w)
		}
		p.isOrdered = !isBase
	}
	return p
}

// name returns the name of a figure's side: its subject, in a table with rows of figures after the label of
// the row.
func (m figure) name() string {
	if m.label != "" && m.label != m.subject && m.header == m.subject {
		return m.label + ", " + m.subject
	}
	return m.subject
}

// hasOtherUnits reports whether two figures are printed in units of different sizes.
func (c claim) hasOtherUnits(p tablePair) bool {
	return p.a.raw > 0 && p.b.raw > 0 && !isNear(p.a.value/p.a.raw, p.b.value/p.b.raw, sameUnit)
}

// isSpeed reports whether the claim is about speed, of which a percentage may be that of the time
// or that of the rate.
func (c claim) isSpeed() bool {
	switch c.word {
	case "faster", "slower", "quicker", "overhead", "speedup", "speed-up":
		return true
	}
	return false
}

// expectedSign returns 1 if the claim states that its subject has the greater figure of a kind, -1
// for the smaller, and 0 if its word does not tell.
func (c claim) expectedSign(k kind) int {
	isRate := k == rateKind || k == byteRateKind
	better := -1
	if isRate {
		better = 1
	}
	switch c.word {
	case "faster", "quicker", "speedup", "speed-up", "as fast", "as quick":
		if k == timeKind || isRate {
			return better
		}
		return 0
	case "slower", "as slow":
		if k == timeKind || isRate {
			return -better
		}
		return 0
	case "improvement", "improved", "improve", "improves", "better":
		return better
	case "overhead", "worse":
		return -better
	case "longer", "as long", "as much", "as many", "as large", "as big", "as high", "as heavy":
		return 1
	case "shorter":
		return -1
	}
	switch {
	case c.isLess():
		return -1
	case c.isMore():
		return 1
	}
	return 0
}
