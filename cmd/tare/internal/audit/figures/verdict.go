package figures

import (
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file compares a claim, such as "a is 2x faster than b", with the tables of its page. The
// rules ratio-differs, direction-differs, wrong-base and mixed-units each report one kind of mistake
// that it finds.

// verdict is the result of comparing a claim, such as "a is 2x faster than b", with the page. The
// last three pairs are mistakes, or nil.
type verdict struct {
	pairs       []tablePair // what the claim may be about
	isSupported bool        // by a pair, or exactly by other figures
	reversed    *tablePair  // has the claimed ratio in the opposite direction
	wrongBase   *tablePair  // has the claimed percentage, but of the other figure
	rawUnits    *tablePair  // has the claimed ratio without its units
}

type claimKey struct {
	text        string // of the sentence
	line, start int    // of the sentence, and offset of the claim in it
}

// judgeClaim compares a claim with the page and caches the verdict. claims has all claims of the
// sentence. After maxCompared claims it compares no more.
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

func (d *document) computeVerdict(c claim, claims []claim) verdict {
	v := verdict{pairs: d.claimedPairs(c, claims)}
	// If figures of the table right before it can be meant, the sentence is about them.
	own := d.tableBefore(c.sentence)
	isOfOwn := func(p tablePair) bool { return own >= 0 && p.a.origin == own }
	if slices.ContainsFunc(v.pairs, isOfOwn) {
		v.pairs = slices.DeleteFunc(v.pairs, func(p tablePair) bool { return !isOfOwn(p) })
	}
	agrees := false // a pair has the claimed direction, with any ratio
	for i := range v.pairs {
		agrees = v.judgePair(c, &v.pairs[i]) || agrees
	}
	if len(v.pairs) == 0 {
		v.wrongBase = d.findOtherBase(c, claims)
	}
	hasDecimals := c.isPercent && c.step < 1
	if v.isSupported || agrees && !hasDecimals {
		v.reversed = nil // the claim may be about a pair that agrees with it
	}
	if v.reversed == nil && c.matchesSentence() {
		v.isSupported = true
	}
	if !v.isSupported && v.reversed == nil && v.wrongBase == nil && v.rawUnits == nil {
		v.isSupported = d.isSupportedElsewhere(c)
	}
	return v
}

// judgePair compares a claim with one pair. It returns true if the pair has the claimed direction.
func (v *verdict) judgePair(c claim, p *tablePair) (agrees bool) {
	sign := c.expectedSign(p.a.kind)
	isDirected := p.isOrdered && sign != 0
	isReversed := func(a, b float64) bool { return isDirected && a != b && (b > a) != (sign > 0) }
	matches := c.matchesPair(p.a.value, p.b.value)
	hasOpposite := isReversed(p.a.value, p.b.value)
	matchesRaw := c.hasOtherUnits(*p) && c.matchesPair(p.a.raw, p.b.raw) && !isReversed(p.a.raw, p.b.raw)
	switch {
	case matchesRaw && (!matches || hasOpposite):
		v.rawUnits = p
	case hasOpposite:
		isAmount := c.isPercent && c.matchesValue(computeShare(p.a.value, p.b.value), reversedTolerance)
		if isAmount || !c.isPercent && matches {
			v.reversed = p
		}
	case matches:
		v.isSupported = true
	case p.isOrdered && !c.isSpeed() && percentOfOtherBase(c, p.a.value, p.b.value) > 0:
		v.wrongBase = p
	}
	return isDirected && !hasOpposite
}

// findOtherBase returns a pair whose difference is the claimed percentage of the wrong figure, or
// nil. The sentence names one row after "than", but not the other: "that build takes 60 % less than
// one without a cache".
func (d *document) findOtherBase(c claim, claims []claim) *tablePair {
	const maxRows = 8 // with more rows, some have any percentage by chance
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
		for _, f := range g.figures {
			if f.subject != references[0] {
				others = append(others, f.subject)
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

// isSupportedElsewhere reports whether any row of the page has the claimed change. The sentence may
// name the row by words that the table does not have.
func (d *document) isSupportedElsewhere(c claim) bool {
	tolerance := 0.0
	if len(d.grids) > tablesBefore+tablesAfter { // claimedPairs skips far tables
		tolerance = claimTolerance
	}
	return d.ratios.hasMatch(c, tolerance) || slices.ContainsFunc(d.nearGrids(c.sentence.line), func(g *grid) bool { return g.hasUnclearChange(c) })
}

// reversedTolerance is the share by which a percentage in the wrong direction may differ from the
// claim. It is small, so that the claim certainly is about these figures.
const reversedTolerance = 0.005

// claimedPairs returns the pairs that a claim may be about. A pair is in one row or in one column.
func (d *document) claimedPairs(c claim, claims []claim) []tablePair {
	if len(c.kinds) == 0 {
		c.kinds = c.sentence.findUnitKinds()
	}
	before, after, hasThan := c.splitClause(claims)
	if pairs := d.pastPairs(c, before, after); len(pairs) > 0 {
		return pairs
	}
	if len(c.kinds) == 0 && c.isPercent {
		if c.kinds = d.findRowKinds(c.sentence.text, c.sentence.line); c.kinds == nil {
			c.kinds = d.findRowKinds(before+" "+after, c.sentence.line)
		}
	}
	if len(c.kinds) == 0 || len(d.grids) == 0 && len(d.groups) == 0 {
		return nil
	}
	isOwnPast := hasThan && ownPastRE.MatchString(after) || !hasThan && nowTakesRE.MatchString(c.clauseBefore())
	first, second := newWordSet(before), wordSet{} // words about the subject and after "than"
	if hasThan = hasThan && !isOwnPast; hasThan {
		second = newWordSet(after)
	}
	out := d.rowPairs(c, first, second, hasThan, isOwnPast)
	text := c.sentence.text
	isElliptic := !hasThan && c.isSpeed() && ellipticRE.MatchString(text[:c.start]) && !thanWordRE.MatchString(text[c.end:])
	switch {
	case hasThan:
		return append(out, d.columnPairs(c, first, second, second)...)
	case isElliptic:
		first, second = splitElliptic(c)
		return append(out, d.columnPairs(c, first, second, newWordSet(after))...)
	}
	return out
}

// changedRE matches words for a change of one thing: "falls by ", "now costs ", "cut the memory by ".
var changedRE = lazyregexp.New(`(?i)\b(?:now|falls?|fell|drops?|dropped|shrinks?|shrank|cuts?|reduces?|reduced|lowers?|lowered|rises?|rose|grows?|grew|increases?|increased|raises?|raised)\b`)

// pastPairs returns the pairs of an earlier and a later figure of a percentage that compares with the
// past: "a request now costs 40 % less CPU than before". The table before the sentence must have two
// rows, which are versions, or are before and after a change.
func (d *document) pastPairs(c claim, before, after string) []tablePair {
	index := d.tableBefore(c.sentence)
	if index < 0 || !c.isPercent || !changedRE.MatchString(before) && !ownPastRE.MatchString(after) {
		return nil
	}
	words := newWordSet(c.sentence.text)
	var out []tablePair
	for _, g := range d.nearGroups(c.sentence.line) {
		if g.origin != index || len(g.figures) != 2 {
			continue
		}
		metric := slices.DeleteFunc(nameWords(bracketUnitRE.ReplaceAllString(g.metric, "")), func(w string) bool { return isCommon(w) && !isMinor(w) })
		isNamed := words.hasAll(metric)
		if len(c.kinds) > 0 && !slices.Contains(c.kinds, g.kind) || len(c.kinds) == 0 && !isNamed {
			continue
		}
		a, b := g.figures[0], g.figures[1]
		isSecondBase, isKnown := isSecondEarlier(a.subject, b.subject)
		if isSecondBase {
			a, b = b, a
		}
		if isKnown {
			out = append(out, tablePair{a: a, b: b, isOrdered: true})
		}
	}
	return out
}

// findRowKinds returns the kinds of the only row that a text at a line names.
func (d *document) findRowKinds(text string, line int) (kinds []kind) {
	words := newWordSet(text)
	for _, g := range d.nearGrids(line) {
		labels := g.rowMatcher.findNamed(words)
		if len(labels) == 0 || g.line > line {
			continue
		}
		if len(labels) > 1 || kinds != nil {
			return nil
		}
		for _, f := range g.cells[labels[0]] {
			if f.kind != plainKind && f.kind != percentKind && f.kind != factorKind && !slices.Contains(kinds, f.kind) {
				kinds = append(kinds, f.kind)
			}
		}
	}
	return kinds
}

// rowPairs returns the pairs in rows that a claim may be about. first has the words about the
// subject, second those after "than". isOwnPast means that the claim says "than before".
func (d *document) rowPairs(c claim, first, second wordSet, hasThan, isOwnPast bool) []tablePair {
	text := c.sentence.text
	words := newWordSet(c.sentence.previous + " " + text[:c.start] + " " + text[c.end:])
	var out []tablePair
	near := d.nearGrids(c.sentence.line)
	for _, g := range near {
		// Of several tables with one row, the sentence is about the one right before it.
		hasOtherRow := func(other *grid) bool { return len(other.labels) == 1 && !slices.Equal(other.labels, g.labels) }
		scope := pairScope{comparesPast: isOwnPast, allowsOnlyRow: c.sentence.isRightAfter(g.line) || !slices.ContainsFunc(near, hasOtherRow)}
		for _, p := range g.pairsFor(words, c.kinds, scope) {
			sides := newLabelMatcher([]string{p.a.subject, p.b.subject})
			out = append(out, p.order(sides, first, second, hasThan))
		}
	}
	return out
}

// columnPairs returns the pairs of figures in columns that a claim may be about. The words of
// subject name one row, those of reference another. It skips a column if metric names another one.
func (d *document) columnPairs(c claim, subject, reference, metric wordSet) []tablePair {
	var out []tablePair
	for _, g := range d.nearGroups(c.sentence.line) {
		if !slices.Contains(c.kinds, g.kind) || g.matcher.isEmpty() || d.isOtherMetric(g, metric) {
			continue
		}
		pairs := g.soleNamedPairs(reference, subject)
		if pairs == nil {
			isClaimed := func(p [2]figure) bool { return c.matchesPair(p[0].value, p[1].value) }
			pairs = slices.DeleteFunc(g.pairsWithOther(reference, subject), func(p [2]figure) bool { return !isClaimed(p) })
		}
		for _, p := range pairs {
			out = append(out, tablePair{a: p[0], b: p[1], isOrdered: true})
		}
	}
	return out
}

// pairsWithOther returns the pairs of the side that reference names and the only other side, which
// subject does not name: "ours is slower than encoding/json". It returns nil for three sides or more.
func (g *figureGroup) pairsWithOther(reference, subject wordSet) [][2]figure {
	named := g.matcher.findNamed(reference)
	if len(named) != 1 || len(g.matcher.rareWords) != 2 || len(g.matcher.findNamed(subject)) > 0 {
		return nil
	}
	for other := range g.matcher.rareWords {
		if other != named[0] {
			return g.pairsOf(named, []string{other})
		}
	}
	return nil
}

// soleNamedPairs returns the pairs of a figure of the side that first names and one of the side that
// second names. It returns nil unless each names exactly one side, and these are different.
func (g *figureGroup) soleNamedPairs(first, second wordSet) [][2]figure {
	a, b := g.matcher.findNamed(first), g.matcher.findNamed(second)
	if len(a) != 1 || len(b) != 1 || a[0] == b[0] {
		return nil
	}
	return g.pairsOf(a, b)
}

// ellipticRE matches "gob has half the size of the CSV, but is about " before "1.5 times slower".
// The groups are "gob" and " half the size of the CSV".
var ellipticRE = lazyregexp.New(`(?i)(?:^|[,;:] )([^,;:]+?)` +
	`\s+(?:has|is|takes|needs|uses|was|had|took)\b([^;:]*?),?` +
	`\s+(?:but|and|yet)\s+(?:is|was|takes|needs|runs)\s+(?:about |some |around |roughly |nearly |almost )?$`)

func splitElliptic(c claim) (subject, reference wordSet) {
	m := ellipticRE.FindStringSubmatch(c.sentence.text[:c.start])
	return newWordSet(m[1]), newWordSet(m[2])
}

// conjunctionRE matches what separates clauses. The comma of 1,920 does not.
var conjunctionRE = lazyregexp.New(`(?i)[;(]|,(?:\s|$)|\b(?:and|but|while|whereas|or)\b`)

// splitClause returns the text about the subject and the text after "than". In "a is 2x faster, and
// needs 30 % less memory than b" these are "a is needs" and "b".
func (c claim) splitClause(claims []claim) (before, after string, hasThan bool) {
	text := c.sentence.text
	first := c.start
	start, end := c.previousEnd(claims), len(text) // from the previous claim to the next one
	for _, other := range claims {
		first = min(first, other.start)
		if other.start >= c.end {
			end = min(end, other.start)
		}
	}
	before, after = text[:first], text[c.end:end]
	if start > 0 {
		between := text[start:c.start]
		if all := conjunctionRE.FindAllStringIndex(between, maxFigures); len(all) > 0 {
			before += between[all[len(all)-1][1]:]
		}
	}
	if i := strings.LastIndexAny(before, ";:"); i >= 0 {
		before = before[i+1:]
	}
	if m := conjunctionRE.FindStringIndex(after); m != nil {
		after = after[:m[0]]
	}
	if m := thanWordRE.FindStringIndex(after); m != nil {
		return before, completeNumber(before, after[m[1]:]), true
	}
	return before, after, false
}

// previousEnd returns the offset of the end of the previous claim of the sentence, or 0.
func (c claim) previousEnd(claims []claim) int {
	end := 0
	for _, other := range claims {
		if other.end <= c.start {
			end = max(end, other.end)
		}
	}
	return end
}

var (
	// countedRE matches "64 shards". The group is "shards".
	countedRE = lazyregexp.New(`\b\d[\d,]*\s+([a-z]{3,})\b`)
	// loneNumberRE matches " with 16" without a noun. The groups are " with 16" and what follows.
	loneNumberRE = lazyregexp.New(`^(\s*(?:(?:with|at|for|on|in|by)\s+)?\d[\d,]*)([^\w\s%.]|\.?\s*$|\.\s)`)
)

// completeNumber adds the noun of a number in before to a lone number in after. It returns " with 16
// shards" for "with 64 shards" and " with 16".
func completeNumber(before, after string) string {
	nouns := countedRE.FindAllStringSubmatch(before, maxFigures)
	if len(nouns) == 0 {
		return after
	}
	return loneNumberRE.ReplaceAllString(after, "${1} "+nouns[len(nouns)-1][1]+"${2}")
}

// ownPastRE matches "before" or "it was" after "than".
var ownPastRE = lazyregexp.New(`(?i)^\W*(?:before|previously|(?:it|they|that) (?:was|were|did|used to|had been))\b`)

// findUnitKinds returns timeKind if the sentence has a time, and byteKind if it has an amount of
// bytes.
func (s sentence) findUnitKinds() []kind {
	var out []kind
	for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
		if q, _, ok := parseQuantity(s.text[m[0]:]); ok && (q.kind == timeKind || q.kind == byteKind) && !slices.Contains(out, q.kind) {
			out = append(out, q.kind)
		}
	}
	return out
}

// matchesSentence reports whether the only two times of the sentence have the claimed ratio: "6.33
// µs with the one and 7.72 µs with the other, 22 % more".
func (c claim) matchesSentence() bool {
	var times []float64
	for _, m := range numberRE.FindAllStringIndex(c.sentence.text, maxFigures) {
		if q, _, ok := parseQuantity(c.sentence.text[m[0]:]); ok && q.kind == timeKind && (m[1] <= c.start || m[0] >= c.end) {
			times = append(times, q.value)
		}
	}
	return len(times) == 2 && times[0] != times[1] && c.matchesPair(times[0], times[1])
}

// nowTakesRE matches a comparison with the past before a claim.
var nowTakesRE = lazyregexp.New(`(?i)\bnow (?:takes?|needs?|costs?|uses?|allocates?|runs?|is|are)\b`)

// thanWordRE matches the word before the reference.
var thanWordRE = lazyregexp.New(`(?i)\bthan\b|\bas (?:fast|quick|slow|much|many|long|large|big|high|heavy|expensive|costly) as\b` +
	`|\bcompared (?:to|with)\b|\brelative to\b|\bversus\b|\bvs\b`)

// baseSubjectRE matches words for the state before a change.
var baseSubjectRE = lazyregexp.New(`(?i)\b(?:without|before|old|baseline|base|main|master|previous|original|unpatched|stock|was|were|had|used to)\b`)

// order returns the pair with the figure of the reference first, after "than". It sets isOrdered if
// the words of the claim determine this order.
func (p tablePair) order(sides labelMatcher, first, second wordSet, hasThan bool) tablePair {
	subjects, references := sides.findNamed(first), sides.findNamed(second)
	hasReference := len(references) == 1 && !slices.Contains(subjects, references[0])
	switch {
	case hasThan && hasReference:
		p.isOrdered = len(subjects) == 1 || p.isOrdered || p.isOnlyOfKind // else the subject is the only other side
		if references[0] == p.b.subject {
			p.a, p.b = p.b, p.a
		}
	case hasThan:
		p.isOrdered = false // the words after "than" name neither figure, or both
	case !p.isOrdered && len(subjects) == 1 && p.isOnlyOfKind:
		p.isOrdered = true // the other side is the reference
		if subjects[0] == p.a.subject {
			p.a, p.b = p.b, p.a
		}
	case p.isOrdered:
		// The claim may be about the figure before the change.
		isBase := slices.Contains(subjects, p.a.subject) && !slices.Contains(subjects, p.b.subject)
		for w := range first {
			isBase = isBase || baseSubjectRE.MatchString(w)
		}
		p.isOrdered = !isBase
	}
	return p
}

// name returns the name of a figure's side in a finding, e.g. "parse" or, for a column in a row,
// "parse, new".
func (f figure) name() string {
	if f.label != "" && f.label != f.subject && f.header == f.subject {
		return f.label + ", " + f.subject
	}
	return f.subject
}

func (c claim) hasOtherUnits(p tablePair) bool {
	return p.a.raw > 0 && p.b.raw > 0 && !isNear(p.a.value/p.a.raw, p.b.value/p.b.raw, sameUnit)
}

// isSpeed reports whether the claim is about speed. Its percentage may be of a time or of a rate.
func (c claim) isSpeed() bool {
	switch c.word {
	case "faster", "slower", "quicker", "overhead", "speedup", "speed-up":
		return true
	}
	return false
}

// expectedSign returns 1 if the claim's word means that its subject has the greater figure of kind
// k, and -1 if the smaller one. It returns 0 if the word does not show which.
func (c claim) expectedSign(k kind) int {
	isRate := k == rateKind || k == byteRateKind
	better := -1 // less time, memory or allocations
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
	case "longer", "as long", "as much", "as many", "as large", "as big", "as high", "as heavy", "as expensive", "as costly":
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
