package figures

import (
	"fmt"
	"math"
	"regexp"
)

var (
	// changeHeader matches the header of a column that compares two columns before it.
	changeHeader = regexp.MustCompile(`(?i)^(?:improvement|change|delta|diff(?:erence)?|speed-?up|reduction|gain|ratio|savings?|increase|Δ|factor)\b[^|]{0,12}$`)
	// sideHeader matches the header of one side of a comparison.
	sideHeader = regexp.MustCompile(`(?i)\b(?:before|after|old|new|baseline|base|head|original|initial|previous|prior|current|optimi[sz]ed|improved|updated|now|then|v\d+(?:\.\d+)*)\b`)
	// lessHeader matches one that gives a decrease, in percent of what was before.
	lessHeader = regexp.MustCompile(`(?i)reduction|saving`)
)

// change is a cell of a table that states the ratio of two cells of its row.
type change struct {
	line    int
	a, b    quantity // before and after
	percent bool
	value   float64 // without its sign
	step    float64
	text    string
	less    bool // the header says that it is a decrease
}

// changes returns the changes that a table states, if it has two columns of figures and one
// that compares them.
func (t *table) changes() []change {
	n := len(t.header)
	if n < 4 || n > 6 {
		return nil
	}
	column := -1
	for i, header := range t.header {
		if changeHeader.MatchString(header) {
			column = i
		}
	}
	if column < 3 && column != n-1 || column < 2 {
		return nil
	}
	sides := sideHeader.MatchString(t.header[column-2]) && sideHeader.MatchString(t.header[column-1])
	var out []change
	for _, row := range t.rows {
		if len(row.cells) <= column {
			continue
		}
		if !sides && !namesMetric(row.cells[0]) {
			continue // the columns may be two metrics, and the change one of rows
		}
		a, okA := parseCell(row.cells[column-2])
		b, okB := parseCell(row.cells[column-1])
		c, ok := parseChange(row.cells[column])
		if !okA || !okB || !ok || a.kind != b.kind || a.kind == percentKind || a.kind == factorKind || !(a.value > 0) || !(b.value > 0) {
			continue
		}
		out = append(out, change{row.line, a, b, c.kind == percentKind, math.Abs(c.value), c.step, row.cells[column], lessHeader.MatchString(t.header[column])})
	}
	return out
}

// parseChange returns the percentage or ratio in a cell such as -17.2%, **2.98x fewer**.
func parseChange(text string) (quantity, bool) {
	m := changeCell.FindString(text)
	q, _, ok := parseQuantity(m)
	return q, ok && (q.kind == percentKind || q.kind == factorKind)
}

var changeCell = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?\s?(?:%|x\b|×)`)

// canBeOf reports whether the change is one that the figures have, by any base.
func (c change) canBeOf() bool {
	small, great := min(c.a.value, c.b.value), max(c.a.value, c.b.value)
	near := func(x float64) bool { return math.Abs(x-c.value) <= max(0.05*x, 1.01*c.step, c.computeRounding(x)) }
	if !c.percent {
		return near(great/small) || near(great/small-1)
	}
	return near(100*(great-small)/great) || near(100*(great-small)/small) || near(100*small/great) || near(100*great/small)
}

// computeRounding returns how far x may be off because the figures are rounded.
func (c change) computeRounding(x float64) float64 {
	return x * (c.a.step/c.a.value + c.b.step/c.b.value) / 2
}

// findWrongChanges finds cells that state another change than their row has.
func findWrongChanges(t *table, report reportFunc) {
	for _, c := range t.changes() {
		if !c.canBeOf() {
			small, great := min(c.a.value, c.b.value), max(c.a.value, c.b.value)
			report(c.line, fmt.Sprintf("%s stands beside %s and %s, which have a ratio of %s, %s %% less or %s %% more", quote(c.text), formatValue(c.a), formatValue(c.b), formatNumber(great/small), formatNumber(100*(great-small)/great), formatNumber(100*(great-small)/small)))
		}
	}
}
