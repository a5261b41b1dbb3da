package figures

import (
	"fmt"
	"math"

	"github.com/tarebench/tare/internal/lazyregexp"
)

var (
	// changeHeaderRE matches the header of a column that compares the two columns before it.
	changeHeaderRE = lazyregexp.New(`(?i)^(?:improvement|change|delta|diff(?:erence)?|speed-?up|reduction|gain|ratio|savings?|increase|Δ|factor)\b[^|]{0,12}$`)
	// sideHeaderRE matches the header of one side, such as before or after.
	sideHeaderRE = lazyregexp.New(`(?i)\b(?:before|after|old|new|baseline|base|head|original|initial|previous|prior|current|optimi[sz]ed|improved|updated|now|then|v\d+(?:\.\d+)*)\b`)
	// lessHeaderRE matches the header of decreases.
	lessHeaderRE = lazyregexp.New(`(?i)reduction|saving`)
)

// change is a cell that compares two cells of its row: -25 % in "| parse | 1200 ns | 900 ns | -25 %
// |".
type change struct {
	line          int
	before, after quantity
	isPercent     bool    // else it is a ratio
	value         float64 // without its sign
	step          float64 // one unit of the last digit
	text          string
	isLess        bool // the header names a decrease
}

// A change may differ from the actual one by the greater tolerance.
const (
	changeTolerance = 0.05 // share of the actual change
	changeSteps     = 1.01 // units of the last digit: 1 for rounding, and some room
)

// changes returns the comparisons in a table, such as -25 %. The table must have labels, two sides
// and a column that compares them, and at most two other columns.
func (t *table) changes() []change {
	n := len(t.header)
	if n < 4 || n > 6 {
		return nil
	}
	column := -1 // the column that compares
	for i, header := range t.header {
		if changeHeaderRE.MatchString(header) {
			column = i
		}
	}
	if column < 3 {
		return nil // labels and two sides are before it
	}
	hasSides := sideHeaderRE.MatchString(t.header[column-2]) && sideHeaderRE.MatchString(t.header[column-1])
	var out []change
	for _, row := range t.rows {
		if len(row.cells) <= column {
			continue
		}
		if !hasSides && !namesMetric(row.cells[0]) {
			continue // the columns may be two metrics
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
			line: row.line, before: a, after: b, text: row.cells[column],
			value: math.Abs(c.value), step: c.step, isPercent: c.kind == percentKind,
			isLess: lessHeaderRE.MatchString(t.header[column]),
		})
	}
	return out
}

// parseChange parses a cell such as -17.2% or **2.98x fewer**, without its sign. It returns false
// for other cells.
func parseChange(text string) (quantity, bool) {
	m := changeCellRE.FindString(text)
	q, _, ok := parseQuantity(m)
	return q, ok && (q.kind == percentKind || q.kind == factorKind)
}

var changeCellRE = lazyregexp.New(`\d[\d,]*(?:\.\d+)?\s?(?:%|x\b|×)`)

// isCorrect reports whether the two cells have the stated ratio or percentage. "2x" may mean twice
// as much or twice more. A percentage may be a share of either cell.
func (c change) isCorrect() bool {
	small, great := min(c.before.value, c.after.value), max(c.before.value, c.after.value)
	isStated := func(x float64) bool {
		return math.Abs(x-c.value) <= max(changeTolerance*x, changeSteps*c.step, c.computeRounding(x))
	}
	if !c.isPercent {
		return isStated(great/small) || isStated(great/small-1)
	}
	less, more := 100*(great-small)/great, 100*(great-small)/small
	return isStated(less) || isStated(more) || isStated(100*small/great) || isStated(100*great/small)
}

// computeRounding returns the greatest error of the ratio x that rounding of the two cells can
// cause.
func (c change) computeRounding(x float64) float64 {
	return x * (c.before.step/c.before.value + c.after.step/c.after.value) / 2
}

func findWrongChanges(t *table, report reportFunc) {
	for _, c := range t.changes() {
		if !c.isCorrect() {
			small, great := min(c.before.value, c.after.value), max(c.before.value, c.after.value)
			report(c.line, fmt.Sprintf("%s stands next to %s and %s, which have a ratio of %s, %s %% less or %s %% more", quote(c.text), formatValue(c.before), formatValue(c.after), formatNumber(great/small), formatNumber(100*(great-small)/great), formatNumber(100*(great-small)/small)))
		}
	}
}
