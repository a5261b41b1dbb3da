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
	hasPair := false
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
			}
		}
	}
	if !hasPair || t.states(c) {
		return nil
	}
	var pairs []tablePair
	for _, p := range d.comparablePairs(index) {
		if p.a.line == rows[0] && p.b.line == rows[0] {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 || slices.ContainsFunc(pairs, func(p tablePair) bool { return c.matchesPair(p.a.value, p.b.value) }) {
		return nil
	}
	return findNearestOf(c, pairs)
}

// describeRow returns the text of a finding about one row.
func (u *unexplainedClaim) describeRow(c claim) string {
	a, b := u.nearest.a, u.nearest.b
	return fmt.Sprintf("no two figures of the row that it names have that; the nearest, %s and %s (line %d), have %s", formatValue(a.quantity), formatValue(b.quantity), b.line, c.describeActual(a.value, b.value))
}
