package figures

import (
	"fmt"
	"math"

	"github.com/tarebench/tare/internal/lazyregexp"
)

var (
	// changeHeaderRE matches the header of a column of changes between the two columns before it.
	changeHeaderRE = lazyregexp.New(`(?i)^(?:improvement|change|delta|diff(?:erence)?|speed-?up|reduction|gain|ratio|savings?|increase|Δ|factor)\b[^|]{0,12}$`)
	// sideHeaderRE matches the header of one side of a comparison.
	sideHeaderRE = lazyregexp.New(`(?i)\b(?:before|after|old|new|baseline|base|head|original|initial|previous|prior|current|optimi[sz]ed|improved|updated|now|then|v\d+(?:\.\d+)*)\b`)
	// lessHeaderRE matches the header of decreases, which are in percent of the value before.
	lessHeaderRE = lazyregexp.New(`(?i)reduction|saving`)
)

// change is a cell of a table that states the ratio of two cells of its row, or their difference in
// percent: the last cell of "| parse | 1200 ns | 900 ns | -25 % |". findWrongChanges, a part of the
// audit rule ratio-differs, compares it with the two cells.
type change struct {
	line      int
	a, b      quantity // value before and after
	isPercent bool     // the cell is a percentage; if false, it is a ratio
	value     float64  // the percentage or ratio, without its sign
	step      float64  // value of one unit of the last digit
	text      string   // text of the cell
	isLess    bool     // the header names a decrease
}

// A stated change is correct if it differs from the actual one by at most the greater tolerance.
const (
	changeTolerance = 0.05 // share of the actual change
	changeSteps     = 1.01 // units of the last digit: 1 for rounding up or down, and some room
)

// changes returns the changes that a table states. It returns nil unless the table has a column of
// labels, two columns of figures, a column that compares them, and at most two other columns.
func (t *table) changes() []change {
	n := len(t.header)
	if n < 4 || n > 6 {
		return nil
	}
	column := -1 // index of the column that compares
	for i, header := range t.header {
		if changeHeaderRE.MatchString(header) {
			column = i
		}
	}
	if column < 3 {
		return nil // labels and two columns of figures are before it
	}
	hasSides := sideHeaderRE.MatchString(t.header[column-2]) && sideHeaderRE.MatchString(t.header[column-1])
	var out []change
	for _, row := range t.rows {
		if len(row.cells) <= column {
			continue
		}
		if !hasSides && !namesMetric(row.cells[0]) {
			continue // the columns may be two metrics, and the cell may compare this row with another one
		}
		a, okA := parseCell(row.cells[column-2])
		b, okB := parseCell(row.cells[column-1])
		c, okC := parseChange(row.cells[column])
		isRelative := a.kind == percentKind || a.kind == factorKind
		areComparable := a.kind == b.kind && !isRelative && a.value > 0 && b.value > 0
		if !okA || !okB || !okC || !areComparable {
			continue
		}
		out = append(out, change{
			line: row.line, a: a, b: b, text: row.cells[column],
			value: math.Abs(c.value), step: c.step, isPercent: c.kind == percentKind,
			isLess: lessHeaderRE.MatchString(t.header[column]),
		})
	}
	return out
}

// parseChange returns the percentage or ratio in a cell such as -17.2% or **2.98x fewer**, without its
// sign. It returns false for other cells.
func parseChange(text string) (quantity, bool) {
	m := changeCellRE.FindString(text)
	q, _, ok := parseQuantity(m)
	return q, ok && (q.kind == percentKind || q.kind == factorKind)
}

// changeCellRE matches a number with % or x.
var changeCellRE = lazyregexp.New(`\d[\d,]*(?:\.\d+)?\s?(?:%|x\b|×)`)

// isCorrect reports whether the figures have the stated ratio or percentage. "2x" may mean twice as
// much or twice more, and a percentage may be a share of either figure.
func (c change) isCorrect() bool {
	small, great := min(c.a.value, c.b.value), max(c.a.value, c.b.value)
	isStated := func(x float64) bool {
		return math.Abs(x-c.value) <= max(changeTolerance*x, changeSteps*c.step, c.computeRounding(x))
	}
	if !c.isPercent {
		return isStated(great/small) || isStated(great/small-1)
	}
	less, more := 100*(great-small)/great, 100*(great-small)/small
	return isStated(less) || isStated(more) || isStated(100*small/great) || isStated(100*great/small)
}

// computeRounding returns the greatest error in x, a ratio of the figures, because of their rounding:
// each may be wrong by half a step.
func (c change) computeRounding(x float64) float64 {
	return x * (c.a.step/c.a.value + c.b.step/c.b.value) / 2
}

// findWrongChanges reports cells that state another change than the figures of their row have.
func findWrongChanges(t *table, report reportFunc) {
	for _, c := range t.changes() {
		if !c.isCorrect() {
			small, great := min(c.a.value, c.b.value), max(c.a.value, c.b.value)
			report(c.line, fmt.Sprintf("%s stands beside %s and %s, which have a ratio of %s, %s %% less or %s %% more", quote(c.text), formatValue(c.a), formatValue(c.b), formatNumber(great/small), formatNumber(100*(great-small)/great), formatNumber(100*(great-small)/small)))
		}
	}
}
