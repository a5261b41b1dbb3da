package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule ratio-differs. It checks claims about one row of the table before
// them: "at a million entries it is 79 times as fast" is about the row 1,000,000, whatever the other
// rows have.

var (
	// atRowRE matches "at a million entries it is ". The group is "a million entries it is ".
	atRowRE = lazyregexp.New(`(?i)\b(?:at|for|with|on|in)\s+([^,;:.]*)$`)
	// introRE matches "and with 16, which is usual, it does ". The group is "16".
	introRE = lazyregexp.New(`(?i)(?:^\W*|[,;] (?:and |but )?)(?:at|for|with|on|in)\s+(\d+(?: \w+)?|\w+ \w+|\w+), `)
	// otherRowRE matches words of a claim that compares rows, and not the columns of one row.
	otherRowRE = lazyregexp.New(`(?i)\b(?:from|than (?:at|with|for|on|in|the|its|a|one)\b|grows?|grew|rises?|rose|falls?|fell|drops?|dropped|increases?|scal\w+|goes|went|(?:what|that) (?:it|they|of))\b`)
)

// findWrongInRow compares a claim with the only row that its clause names after "at", "for" or the like. The row must
// have two sides. It returns nil if two figures of the row have the claimed ratio, or if the claim may be about other
// rows.
func (d *document) findWrongInRow(c claim, claims []claim) *unexplainedClaim {
	index := d.tableBefore(c.sentence)
	clause := joinNumbers(c.clauseBefore())
	m := atRowRE.FindStringSubmatch(clause)
	if m == nil {
		if m = introRE.FindStringSubmatch(joinNumbers(c.sentence.text[c.previousEnd(claims):c.start])); m != nil {
			clause = m[0] + " " + clause
		}
	}
	if index < 0 || m == nil || c.atMost || c.low != c.high || negationRE.MatchString(clause) {
		return nil
	}
	_, after, hasThan := c.splitClause(claims)
	if _, ok := c.sentence.pairOf(c, claims); ok || otherSubjectRE.MatchString(clause+" "+after) || otherRowRE.MatchString(clause+" "+after) {
		return nil
	}
	t := d.tables[index]
	rows := t.namedRows(m[1])
	if len(rows) != 1 || t.hasUnreadCells() || hasThan && len(t.namedRows(after)) > 0 {
		return nil
	}
	if isRatioOfRates := !c.isPercent && slices.Contains(c.kinds, rateKind); isRatioOfRates && d.hasOnlyTimes(index) {
		c.kinds = []kind{timeKind} // the ratio is the same
	}
	hasPair := false
	var columns []int // the two columns that the claim names; nil if it names fewer
	for _, g := range d.grids {
		for _, set := range g.columnSets {
			for _, label := range g.labels {
				row := g.figuresOf(label, set)
				isOfRow := len(row) > 1 && row[0].line == rows[0]
				isOfColumns := !hasThan || len(set.matcher.findNamed(newWordSet(after))) > 0
				if !isOfRow || !isOfColumns || len(c.kinds) > 0 && !slices.Contains(c.kinds, set.kind) {
					continue
				}
				hasPair = true
				subjects, references := set.matcher.findNamed(newWordSet(m[1])), set.matcher.findNamed(newWordSet(after))
				if len(subjects) == 1 && len(references) == 1 && subjects[0] != references[0] {
					columns = []int{set.columnOf(subjects[0]), set.columnOf(references[0])}
				}
			}
		}
	}
	if !hasPair || t.states(c) {
		return nil
	}
	var pairs []tablePair
	for _, p := range d.comparablePairs(index) {
		isOfColumns := columns == nil || slices.Contains(columns, p.a.column) && slices.Contains(columns, p.b.column)
		if p.a.line == rows[0] && p.b.line == rows[0] && isOfColumns {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 || slices.ContainsFunc(pairs, func(p tablePair) bool { return c.matchesPair(p.a.value, p.b.value) }) {
		return nil
	}
	return findNearestOf(c, pairs)
}

// hasOnlyTimes reports whether all figures of a table with a unit are times.
func (d *document) hasOnlyTimes(index int) bool {
	return !slices.ContainsFunc(d.groups, func(g *figureGroup) bool { return g.origin == index && g.kind != timeKind })
}

// findWrongReference compares a claim with a reference that it names, and with several rows of which its words may
// name any: "the fine grid is twice as fast as the tree" in a table with two grids. It returns nil if one of them has
// the claimed ratio to the reference, in the claimed direction.
func (d *document) findWrongReference(c claim, claims []claim) *unexplainedClaim {
	index := d.tableBefore(c.sentence)
	before, after, hasThan := c.splitClause(claims)
	if index < 0 || !hasThan || c.atMost || c.atLeast || c.low != c.high || d.tables[index].hasUnreadCells() || negationRE.MatchString(c.clauseBefore()) || otherSubjectRE.MatchString(before+" "+after) {
		return nil
	}
	var own []*figureGroup // columns that the claim may be about
	for _, g := range d.nearGroups(c.sentence.line) {
		if g.origin == index && slices.Contains(c.kinds, g.kind) && c.expectedSign(g.kind) != 0 {
			own = append(own, g)
		}
	}
	if len(own) != 1 || own[0].matcher.isEmpty() {
		return nil
	}
	references, subjects := own[0].matcher.findNamed(newWordSet(after)), own[0].matcher.findNamed(newWordSet(before))
	if len(references) != 1 || len(subjects) < 2 || slices.Contains(subjects, references[0]) {
		return nil
	}
	var pairs []tablePair
	for _, p := range own[0].pairsOf(references, subjects) {
		isDirected := (p[1].value > p[0].value) == (c.expectedSign(own[0].kind) > 0)
		if isDirected && c.matchesPair(p[0].value, p[1].value) {
			return nil
		}
		if isDirected {
			pairs = append(pairs, tablePair{a: p[0], b: p[1]})
		}
	}
	return findNearestOf(c, pairs)
}

// describeReference returns the text of a finding about rows of which none has the claimed ratio to a reference.
func (u *unexplainedClaim) describeReference(c claim) string {
	a, b := u.nearest.a, u.nearest.b
	return fmt.Sprintf("none of the rows that it may be about has that to %s; the nearest, %s and %s (line %d), have %s", quote(a.subject), formatValue(b.quantity), formatValue(a.quantity), b.line, c.describeActual(a.value, b.value))
}

// describeRow returns the text of a finding about one row.
func (u *unexplainedClaim) describeRow(c claim) string {
	a, b := u.nearest.a, u.nearest.b
	return fmt.Sprintf("no two figures of the row that it names have that; the nearest, %s and %s (line %d), have %s", formatValue(a.quantity), formatValue(b.quantity), b.line, c.describeActual(a.value, b.value))
}
