package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule ratio-differs, for sides with numbers as labels. "Eight workers
// do 6.9 times the jobs of one" is about the rows 8 and 1.

const aNumeral = `\d[\d,]*|one|two|` + numberWords

var (
	// numberedRatioRE matches "eight workers do 6.9 times". The groups are eight and 6.9.
	numberedRatioRE = lazyregexp.New(`(?i)\b(` + aNumeral + `)\b[^.;,:()\d]{0,50}? (\d+(?:\.\d+)?) ?(?:x|×|times)(?:\s|[.,;]|$)`)
	// numberedReferenceRE matches " the jobs of one" after a ratio. The group is "one", or
	// "single".
	numberedReferenceRE = lazyregexp.New(`(?i)^[^.;:\d]{0,50}?\b(?:of|than|as|over) (?:that of |those of |with |a |the )?(` + aNumeral + `|single)\b`)
)

// numberedSides is a table whose rows or columns have numbers as labels.
type numberedSides struct {
	*table
	name    string       // what the numbers count, e.g. worker
	metrics []sideValues // for each other column, or row
}

// sideValues holds the values of a metric by the number of the side.
type sideValues map[float64]quantity

// readNumberedSides returns the sides of a table whose labels are numbers. It returns false for
// other tables.
func readNumberedSides(t *table) (numberedSides, bool) {
	if len(t.header) < 2 || t.header[0] == "" {
		return numberedSides{}, false
	}
	out := numberedSides{table: t, name: trimPlural(strings.ToLower(firstWord(t.header[0])))}
	rows := [][]string{t.header}
	for _, r := range t.rows {
		rows = append(rows, r.cells)
	}
	if values, ok := readByFirst(transpose(rows)); ok {
		out.metrics = values
		return out, true
	}
	out.metrics, _ = readByFirst(rows)
	return out, out.metrics != nil
}

// readByFirst reads rows. The first row has the numbers of the sides, after its first cell.
func readByFirst(rows [][]string) (metrics []sideValues, ok bool) {
	var numbers []float64
	for _, cell := range rows[0][1:] {
		n, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(cell, "`* "), ",", ""), 64)
		if err != nil || n != math.Trunc(n) {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	const minSides = 2
	if len(numbers) < minSides {
		return nil, false
	}
	for _, cells := range rows[1:] {
		values := sideValues{}
		for i, n := range numbers {
			if i+1 >= len(cells) {
				break
			}
			if q, ok := parseCell(cells[i+1]); ok && q.value > 0 {
				values[n] = q
			}
		}
		metrics = append(metrics, values)
	}
	return metrics, len(metrics) > 0
}

// transpose returns the columns of rows. Missing cells are empty.
func transpose(rows [][]string) [][]string {
	out := make([][]string, len(rows[0]))
	for column := range out {
		for _, row := range rows {
			cell := ""
			if column < len(row) {
				cell = row[column]
			}
			out[column] = append(out[column], cell)
		}
	}
	return out
}

// findNumberedRatios reports ratios between numbered sides that no table supports. In "four do 2x
// the jobs of one, and eight 5x" both ratios are to one.
func (d *document) findNumberedRatios(report reportFunc) {
	var tables []numberedSides
	for _, t := range d.tables {
		if s, ok := readNumberedSides(t); ok {
			tables = append(tables, s)
		}
	}
	if len(tables) == 0 {
		return
	}
	for _, s := range d.sentences {
		d.findRatioToNumbered(s, tables, report)
		reference := 0.0
		for _, m := range numberedRatioRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
			side := parseNumeral(strings.ReplaceAll(s.text[m[2]:m[3]], ",", ""))
			if r := numberedReferenceRE.FindStringSubmatch(s.text[m[5]:]); r != nil {
				reference = max(1, parseNumeral(r[1])) // "single" is no numeral
			}
			c := claim{sentence: s, start: m[4], end: m[5]}
			c.low, c.step, _, _ = parseNumber(s.text[m[4]:m[5]])
			c.high = c.low
			if why := c.whyNumberedDiffers(tables, side, reference); why != "" {
				report(s.lineAt(m[4]), quote(s.text[m[2]:m[5]]+" times")+": "+why)
			}
		}
	}
}

// findRatioToNumbered reports a ratio to a numbered side that no other side has, whatever the
// sentence calls it: "with a worker on each core we get 6.2 times the throughput of one".
func (d *document) findRatioToNumbered(s sentence, tables []numberedSides, report reportFunc) {
	for _, c := range s.claims() {
		m := numberedReferenceRE.FindStringSubmatch(s.text[c.end:])
		if m == nil || c.isPercent || c.atMost || c.atLeast || c.low != c.high || otherSubjectRE.MatchString(s.text) || negationRE.MatchString(c.clauseBefore()) {
			continue
		}
		reference := max(1, parseNumeral(m[1])) // "single" is no numeral
		var ratios valueRange
		isFound, line := false, 0
		for _, t := range tables {
			if t.heading != c.sentence.heading || !t.isNamedIn(s) {
				continue
			}
			for _, values := range t.metrics {
				for side, q := range values {
					if r, ok := values[reference]; ok && side != reference && r.kind == q.kind {
						isFound = isFound || c.matchesPair(q.value, r.value)
						ratios.add(max(q.value, r.value) / min(q.value, r.value))
						line = t.line
					}
				}
			}
		}
		if ratios.count > 1 && !isFound {
			report(s.lineAt(c.start), fmt.Sprintf("%s: the figures (line %d) have ratios of %s to %s to that side", quote(c.text), line, formatNumber(ratios.low), formatNumber(ratios.high)))
		}
	}
}

// isNamedIn reports whether a sentence, or the one before it, names what the numbers count.
func (t numberedSides) isNamedIn(s sentence) bool {
	return strings.Contains(strings.ToLower(s.previous+s.text), t.name)
}

// whyNumberedDiffers returns the text of a finding, or "" if a table supports the claim.
func (c claim) whyNumberedDiffers(tables []numberedSides, side, reference float64) string {
	why := ""
	for _, t := range tables {
		if t.heading != c.sentence.heading || !t.isNamedIn(c.sentence) {
			continue
		}
		for _, values := range t.metrics {
			a, okA := values[side]
			b, okB := values[reference]
			switch {
			case !okA || !okB || side == reference || a.kind != b.kind:
				continue
			case c.matchesPair(a.value, b.value):
				return ""
			case why == "":
				why = fmt.Sprintf("the figures (line %d), %s and %s, have a ratio of %s", t.line, formatValue(a), formatValue(b), formatNumber(max(a.value, b.value)/min(a.value, b.value)))
			}
		}
	}
	return why
}
