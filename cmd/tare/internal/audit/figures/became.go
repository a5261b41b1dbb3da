package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// becameRE matches "box and bilinear have become slower". The groups are "box and bilinear" and "slower".
var becameRE = lazyregexp.New(`(?i)([^.;:]*)\b(?:has|have|had)? ?\b(?:become|became|becomes|got|gets|gotten|turned) (slower|faster|quicker)\b`)

// findWrongBecame reports rows that have become slower or faster by a sentence, and the opposite by the two columns
// before and after a change.
func (d *document) findWrongBecame(s sentence, report reportFunc) {
	for _, m := range becameRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		subject, o := s.text[m[2]:m[3]], newSpeedOrder(strings.ToLower(s.text[m[4]:m[5]]))
		index := d.tableBefore(s)
		if index < 0 || negationRE.MatchString(subject) {
			continue
		}
		labels := d.tables[index].namedRows(subject)
		for _, g := range d.nearGrids(s.line) {
			for _, set := range g.columnSets {
				if !set.isBeforeAfter || !slices.Contains(o.kinds, set.kind) {
					continue
				}
				for _, label := range g.labels {
					row := g.figuresOf(label, set)
					const leastChange = 0.02 // share; less may be rounding
					if len(row) != 2 || !slices.Contains(labels, row[0].line) || isNear(row[0].value, row[1].value, leastChange) {
						continue
					}
					if o.isContradictedBy(set.kind, row[1].value, row[0].value) {
						report(s.lineAt(m[4]), fmt.Sprintf("%q is said of %s, which goes from %s to %s (line %d)", o.word, quote(label), formatValue(row[0].quantity), formatValue(row[1].quantity), row[0].line))
					}
				}
			}
		}
	}
}
