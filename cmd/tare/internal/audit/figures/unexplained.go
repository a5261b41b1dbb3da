package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file checks claims below a table whose two sides the sentence does not name as the table does: "with 64
// shards it does 13.7 times as many". It checks whether any two figures of the page have the claimed ratio. If none
// have, and the sentence names a row, the claim does not follow from the table.

// maxCompletePairs limits the pairs of a table. Of more pairs, one has about any ratio by chance.
const maxCompletePairs = 150

// comparablePairs returns the pairs of figures of a table: of one column, and of one row. index is the number of
// the table in the page.
func (d *document) comparablePairs(index int) []tablePair {
	var cells []figure
	for _, f := range d.figures {
		if f.origin == index && f.value > 0 && f.kind != percentKind && f.kind != factorKind {
			cells = append(cells, f)
		}
	}
	var out []tablePair
	for i, a := range cells {
		for _, b := range cells[i+1:] {
			isOfColumn := a.column == b.column && a.line != b.line
			isOfRow := a.line == b.line && a.column != b.column && a.kind != plainKind
			if a.kind == b.kind && (isOfColumn || isOfRow) {
				out = append(out, tablePair{a: a, b: b})
			}
			if len(out) > maxCompletePairs {
				return nil
			}
		}
	}
	return out
}

// tableBefore returns the number of the table right before a sentence, under the same heading; -1 without one.
func (d *document) tableBefore(s sentence) int {
	for i, t := range slices.Backward(d.tables) {
		if t.line >= s.line || len(t.rows) == 0 {
			continue
		}
		const maxLines = 15 // between the table and the sentence
		last := t.rows[len(t.rows)-1].line
		if t.heading == s.heading && last < s.line && s.line-last <= maxLines {
			return i
		}
		return -1
	}
	return -1
}

// otherSubjectRE matches words that show that a claim is not about two figures of a table.
var otherSubjectRE = lazyregexp.New(`(?i)\b(?:average|averages|averaged|mean|total|overall|combined|together|geometric|geomean|expect(?:ed)?|estimate[ds]?|theor\w+|would|could|should|if|target|goal|budget|allow(?:s|ed)?|published|reported|claim(?:s|ed)?|elsewhere|earlier|last (?:year|month|week|time|release)|not shown|spread|scatter|noise|deviation|variance|interval|confidence|within|margin|of the (?:runs|requests|cases|time)|cpu|share|hit rate|percentage points?)\b`)

// explainsClaim reports whether figures of the page have the claimed ratio or percentage: two of one row or column
// of a table, a cell that states it, or two quantities of the sentence and the one before it.
func (d *document) explainsClaim(c claim, index int, lines []int) bool {
	for i, t := range d.tables {
		if c.isVerb && i != index {
			continue // the text is about the table before it
		}
		pairs := d.comparablePairs(i)
		if pairs == nil && i == index {
			return true // too many to tell
		}
		if i == index {
			pairs = slices.DeleteFunc(pairs, func(p tablePair) bool { return c.isSubjectOfReverse(p, lines) })
		}
		tolerance := 0.0 // rounding only
		if i == index {
			tolerance = c.ownTolerance()
		}
		if slices.ContainsFunc(pairs, func(p tablePair) bool { return c.matchesPairWithin(p.a.value, p.b.value, tolerance) }) || t.states(c) {
			return true
		}
	}
	return slices.ContainsFunc(d.quantitiesNear(c, index), func(q quantity) bool {
		return slices.ContainsFunc(d.quantitiesNear(c, index), func(other quantity) bool {
			return q != other && q.kind == other.kind && c.matchesPair(q.value, other.value)
		}) || slices.ContainsFunc(d.figures, func(f figure) bool {
			return f.kind == q.kind && f.value != q.value && c.matchesPair(q.value, f.value)
		})
	})
}

// isSubjectOfReverse reports whether a claim with a verb, such as "a halves the memory", cannot be about a pair of its
// table: a is not the side with less, or is neither side. lines are those of the rows that the sentence names.
func (c claim) isSubjectOfReverse(p tablePair, lines []int) bool {
	if !c.isVerb || len(lines) != 1 || p.a.line == p.b.line {
		return false
	}
	subject, other := p.a, p.b
	if p.b.line == lines[0] {
		subject, other = p.b, p.a
	}
	return subject.line != lines[0] || (subject.value > other.value) != (c.word == "more")
}

// isExplainedBefore reports whether the table right before the sentence states the claimed number, or two of its
// figures have the claimed ratio.
func (d *document) isExplainedBefore(c claim) bool {
	index := d.tableBefore(c.sentence)
	if index < 0 {
		return false
	}
	isExplained := func(p tablePair) bool {
		isOfKind := len(c.kinds) == 0 || p.a.kind == plainKind || slices.Contains(c.kinds, p.a.kind)
		return isOfKind && c.matchesPairWithin(p.a.value, p.b.value, c.ownTolerance())
	}
	return d.tables[index].statesChange(c) || d.tables[index].hasUnreadCells() || slices.ContainsFunc(d.comparablePairs(index), isExplained)
}

// hasUnreadCells reports whether a cell after the first of its row has a number in an unknown unit, such as "1.9 h".
func (t *table) hasUnreadCells() bool {
	for _, row := range t.rows {
		for i, cell := range row.cells {
			if _, ok := parseCell(cell); i > 0 && !ok && numberRE.MatchString(cell) {
				return true
			}
		}
	}
	return false
}

// ownTolerance returns claimTolerance, or less for a claim with three digits or more, such as 37.7 %.
func (c claim) ownTolerance() float64 {
	const threeDigits, precise = 0.005, 0.01
	if c.step <= threeDigits*c.low {
		return precise
	}
	return claimTolerance
}

// states reports whether a cell has the number of the claim, as a column of changes or ratios does.
func (t *table) states(c claim) bool {
	return t.hasNumber(c, func(string) bool { return true })
}

// statesChange reports whether a cell has the number of the claim as a percentage or a ratio: "-9.93%", "1.5×".
func (t *table) statesChange(c claim) bool {
	return t.hasNumber(c, func(cell string) bool { return strings.ContainsAny(cell, "%x×") })
}

// hasNumber reports whether a cell that isSelected has the number of the claim.
func (t *table) hasNumber(c claim, isSelected func(cell string) bool) bool {
	for _, row := range t.rows {
		for _, cell := range row.cells {
			for _, m := range numberRE.FindAllStringIndex(cell, maxFigures) {
				if x, _, _, ok := parseNumber(cell[m[0]:m[1]]); ok && isSelected(cell) && math.Abs(x-c.low) <= c.step {
					return true
				}
			}
		}
	}
	return false
}

// quantitiesNear returns the quantities with units of the sentences of a claim's paragraph.
func (d *document) quantitiesNear(c claim, index int) []quantity {
	const maxLines = 3 // between the sentences
	var out []quantity
	for _, s := range d.sentences {
		if s.heading != c.sentence.heading || math.Abs(float64(s.line-c.sentence.line)) > maxLines || s.line <= d.tables[index].line {
			continue
		}
		for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
			if q, _, ok := parseQuantity(s.text[m[0]:]); ok && q.value > 0 && q.kind != percentKind && q.kind != factorKind && q.kind != plainKind {
				out = append(out, q)
			}
		}
	}
	return out
}

// namedRows returns the lines of the rows of a table that a text names by a number, or by a word that no other row
// has.
func (t *table) namedRows(text string) []int {
	rowsWith := map[string]int{} // number of rows that have a token
	tokens := make([][]string, len(t.rows))
	for i, row := range t.rows {
		if len(row.cells) > 0 {
			tokens[i] = rowTokens(row.cells[0])
		}
		for _, w := range tokens[i] {
			rowsWith[w]++
		}
	}
	words := map[string]bool{}
	for _, w := range rowTokens(withoutUnits(text)) {
		words[w] = true
	}
	var out []int
	for i, row := range t.rows {
		if slices.ContainsFunc(tokens[i], func(w string) bool { return rowsWith[w] == 1 && words[w] }) {
			out = append(out, row.line)
		}
	}
	return out
}

// rowTokens returns the words by which a text may name a row, each once: stems of words, and numbers.
func rowTokens(text string) []string {
	var out []string
	for _, w := range splitWords(joinNumbers(text)) {
		if n := numerals[w]; n > 1 { // "one" often is no number
			w = strconv.FormatFloat(n, 'f', -1, 64)
		}
		isNumber := w[0] >= '0' && w[0] <= '9'
		if w = stemWord(w); (isNumber || canName(w)) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// These match large numbers: "10,000", "10 000", "10k" and "ten thousand". The groups are the parts.
var (
	groupedRE  = lazyregexp.New(`\b\d{1,3}(?:[,'’ \x{00a0}\x{202f}]\d{3})+\b`)
	thousandRE = lazyregexp.New(`(?i)\b(a|\d+|one|two|` + numberWords + `) ?(thousand|million|k|m)\b`)
)

// joinNumbers writes large numbers as digits: 10000 for "10,000" and "ten thousand", 1000000 for "a
// million".
func joinNumbers(text string) string {
	text = groupedRE.ReplaceAllStringFunc(text, func(number string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, number)
	})
	return thousandRE.ReplaceAllStringFunc(text, func(number string) string {
		m := thousandRE.FindStringSubmatch(number)
		n, zeros := max(1, parseNumeral(m[1])), "000"
		if strings.EqualFold(m[2][:1], "m") {
			zeros = "000000"
		}
		return strconv.FormatFloat(n, 'f', -1, 64) + zeros
	})
}

// quantityRE matches a number with a sign or unit that is no name of a row: "13.7 times", "27 %", "3×".
var quantityRE = lazyregexp.New(`(?i)[±+−-]?\d[\d,]*(?:\.\d+)?\s?(?:%|x\b|×|times\b|-?fold\b|percent\b|(?:ns|µs|us|ms|s|sec)\b)`)

// withoutUnits removes percentages, ratios and times from a text.
func withoutUnits(text string) string { return quantityRE.ReplaceAllString(text, " ") }

// unexplainedClaim is a claim that no figures of the page have.
type unexplainedClaim struct {
	nearest   tablePair // figures of a row that the sentence names, with the nearest ratio
	otherBase *tablePair
}

// findUnexplained compares a claim with the table right before its sentence. It returns nil if figures of the page
// have the claimed ratio, or if it is not certain that the claim is about the table.
func (d *document) findUnexplained(c claim, claims []claim) *unexplainedClaim {
	s := c.sentence
	index := d.tableBefore(s)
	if index < 0 || c.atMost || c.atLeast || c.low != c.high || negationRE.MatchString(c.clauseBefore()) {
		return nil
	}
	before, after, _ := c.splitClause(claims)
	if _, ok := s.pairOf(c, claims); ok || otherSubjectRE.MatchString(before+" "+after) || len(d.claimedPairs(c, claims)) > 0 {
		return nil
	}
	lines := d.tables[index].namedRows(before + " " + after)
	const maxNamedRows = 2
	if len(lines) == 0 || len(lines) > maxNamedRows || d.tables[index].hasUnreadCells() || d.explainsClaim(c, index, lines) {
		return nil
	}
	return d.findNearest(c, index, lines)
}

// findNearest returns the figures of the named rows, by line, whose ratio is nearest to the claimed one. It returns
// nil if there are none of the kind of the claim.
func (d *document) findNearest(c claim, index int, lines []int) *unexplainedClaim {
	isOfOther := func(p tablePair) bool {
		isUnnamed := !slices.Contains(lines, p.a.line) && !slices.Contains(lines, p.b.line)
		return isUnnamed || c.isSubjectOfReverse(p, lines)
	}
	return findNearestOf(c, slices.DeleteFunc(d.comparablePairs(index), isOfOther))
}

// findNearestOf is findNearest among some pairs.
func findNearestOf(c claim, pairs []tablePair) *unexplainedClaim {
	found := &unexplainedClaim{}
	distance := math.Inf(1)
	for _, p := range pairs {
		if len(c.kinds) > 0 && !slices.Contains(c.kinds, p.a.kind) {
			continue
		}
		if percentOfOtherBase(c, p.a.value, p.b.value) > 0 {
			found.otherBase = &p
		}
		if x := c.distanceTo(p); x < distance {
			distance, found.nearest = x, p
		}
	}
	if math.IsInf(distance, 1) {
		return nil
	}
	return found
}

// distanceTo returns how far the ratio of two figures is from the claimed one, as a logarithm.
func (c claim) distanceTo(p tablePair) float64 {
	ratio := max(p.a.value, p.b.value) / min(p.a.value, p.b.value)
	claimed := c.low
	switch {
	case c.isPercent && c.isLess() && c.low < 100:
		claimed = 1 / (1 - c.low/100)
	case c.isPercent:
		claimed = 1 + c.low/100
	}
	return math.Abs(math.Log(ratio / claimed))
}

// describe returns the text of a finding.
func (u *unexplainedClaim) describe(c claim) string {
	a, b := u.nearest.a, u.nearest.b
	return fmt.Sprintf("no two figures of a row or a column have that; the nearest, %s and %s (line %d), have %s", formatValue(a.quantity), formatValue(b.quantity), b.line, c.describeActual(a.value, b.value))
}

// findRawRatio returns two figures of a row, in units of different size, whose numbers have the claimed ratio although
// the figures do not: 744 Mbit/s and 118 MB/s for "more than six times". It returns nil if there are none, or if two
// figures of a row have the ratio.
func (d *document) findRawRatio(c claim) *tablePair {
	index := d.tableBefore(c.sentence)
	if index < 0 || c.isPercent {
		return nil
	}
	var found *tablePair
	for _, p := range d.comparablePairs(index) {
		hasOneUnit := isNear(p.a.value/p.a.raw, p.b.value/p.b.raw, sameUnit)
		switch {
		case p.a.line != p.b.line:
		case c.matchesPair(p.a.value, p.b.value):
			return nil
		case !hasOneUnit && c.matchesPair(p.a.raw, p.b.raw):
			found = &p
		}
	}
	return found
}

// fromToRE matches "from level 6 to level 1" and "level 1 against level 6": two rows that a claim compares.
var fromToRE = lazyregexp.New(`(?i)\bfrom\b[^.;,]{1,40}?\bto\b|\bthan\b|\bagainst\b|\bcompared (?:to|with)\b|\binstead of\b`)

// findWrongRows compares a claim with the two rows of the table before it that its clause names: "from level 6 to
// level 1 packing is 4 times as fast". The columns are those that the clause names. It returns the figures with the
// nearest ratio if none have the claimed one, else nil.
func (d *document) findWrongRows(c claim, claims []claim) *tablePair {
	index := d.tableBefore(c.sentence)
	_, after, _ := c.splitClause(claims)
	clause := c.clauseBefore() + " " + after
	if index < 0 || d.tables[index].hasUnreadCells() || c.atMost || c.atLeast || c.low != c.high || !fromToRE.MatchString(clause) || otherSubjectRE.MatchString(clause) {
		return nil
	}
	t := d.tables[index]
	rows := t.namedRows(clause)
	if len(rows) != 2 {
		return nil
	}
	words := newWordSet(clause)
	isFromTo := strings.Contains(strings.ToLower(fromToRE.FindString(clause)), "from ")
	perKind := map[kind]map[int]bool{} // columns of each kind
	for _, p := range d.comparablePairs(index) {
		if perKind[p.a.kind] == nil {
			perKind[p.a.kind] = map[int]bool{}
		}
		perKind[p.a.kind][p.a.column] = true
	}
	var nearest *tablePair
	for _, p := range d.comparablePairs(index) {
		isOfRows := p.a.line == rows[0] && p.b.line == rows[1] && p.a.column == p.b.column
		isNamedColumn := p.a.column < len(t.header) && slices.ContainsFunc(nameWords(bracketUnitRE.ReplaceAllString(t.header[p.a.column], "")), func(w string) bool { return canName(w) && words[w] })
		isOfKind := len(c.kinds) == 0 || slices.Contains(c.kinds, p.a.kind)
		isOnlyColumn := isFromTo && len(c.kinds) > 0 && isOfKind && len(perKind[p.a.kind]) == 1 // the claim names its kind, such as "the rate"
		if !isOfRows || !isNamedColumn && !isOnlyColumn || !isOfKind {
			continue
		}
		if c.matchesPair(p.a.value, p.b.value) {
			return nil
		}
		if nearest == nil || c.distanceTo(p) < c.distanceTo(*nearest) {
			nearest = &p
		}
	}
	return nearest
}
