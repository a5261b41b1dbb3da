package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// mixedUnits returns the rule mixed-units, which findMixedUnits applies.
func mixedUnits() rule {
	return rule{Rule: audit.Rule{
		ID: "mixed-units", Severity: tare.Warn,
		Title:   "Figures that are compared have different units.",
		Why:     "1.2 ms is not less than 850 µs: a ratio of the numbers without their units is wrong by a factor of a thousand, and MB and MiB differ by 5 %.",
		Do:      "give a column one unit, in its header",
		Command: benchCommand,
		Bad:     "| side | time (ms) |\n|---|---|\n| a | 4.1 |\n| b | 870 µs |\n",
		Good:    "| side | time (ms) |\n|---|---|\n| a | 4.1 |\n| b | 0.87 |\n",
	}, find: findMixedUnits}
}

// findMixedUnits reports columns with several units, and ratios of numbers in different units.
func findMixedUnits(d *document, report reportFunc) {
	times := d.outputTimes()
	for i, t := range d.tables {
		findUnitsAgainstHeader(t, report)
		findForgottenUnits(t, report)
		findUnitOfPart(t, report)
		findSumOfUnits(t, report)
		findUnitOfPair(t, report)
		findBinaryHeaders(t, report)
		findReciprocals(t, report)
		findUnitsAgainstOutput(t, times, report)
		findBinaryAndDecimal(t.figures(i), report)
	}
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			if v := d.judgeClaim(c, claims); v.rawUnits != nil && !v.isSupported {
				a, b := v.rawUnits.a, v.rawUnits.b
				report(s.lineAt(c.start), fmt.Sprintf("%s compares %s %s with %s %s (line %d): in one unit they are %s and %s", quote(c.text), formatNumber(b.raw), b.unit, formatNumber(a.raw), a.unit, b.line, formatValue(b.quantity), formatValue(a.quantity)))
				continue
			}
			p, ok := s.pairOf(c, claims)
			if !ok || c.matchesPair(p.a.value, p.b.value) {
				continue
			}
			hasOneUnit := isNear(p.a.value/p.a.raw, p.b.value/p.b.raw, sameUnit)
			if !hasOneUnit && c.matchesPair(p.a.raw, p.b.raw) {
				report(s.lineAt(c.start), fmt.Sprintf("%s is the ratio of %s and %s without their units, %s and %s", quote(c.text), formatNumber(p.a.raw), formatNumber(p.b.raw), p.a.unit, p.b.unit))
			}
		}
	}
}

// sameUnit is the relative difference up to which the sizes of two units are equal: they
// are quotients of decimal numbers.
const sameUnit = 1e-9

// findUnitsAgainstHeader reports the first cell of a column whose unit has another size than
// the unit in the header.
func findUnitsAgainstHeader(t *table, report reportFunc) {
	for col, header := range t.header {
		k, size, known := findKind(header)
		hasScales := k == timeKind || k == byteKind
		if col == 0 || !known || size == 0 || !hasScales || statUnitRE.MatchString(strings.TrimSpace(header)) {
			continue // the labels of rows are compared with nothing, and benchstat scales each figure
		}
		for _, row := range t.rows {
			if col >= len(row.cells) {
				continue
			}
			if q, ok := parseCell(row.cells[col]); ok && q.kind == k && q.raw > 0 && !isNear(q.value/q.raw, size, sameUnit) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s", quote(row.cells[col]), quote(header)))
				break
			}
		}
	}
}

// outputTime is the time of a benchmark in the output of benchstat or of go test.
type outputTime struct {
	seconds float64
	line    int
}

// outputTimes returns the first times of the benchmarks in outputs, by the last element of their names in lower case.
func (d *document) outputTimes() map[string]outputTime {
	out := map[string]outputTime{}
	add := func(name string, seconds float64, line int) {
		name = strings.ToLower(processorsRE.ReplaceAllString(name[strings.LastIndex(name, "/")+1:], ""))
		if out[name].line == 0 && seconds > 0 {
			out[name] = outputTime{seconds, line}
		}
	}
	for _, row := range d.stats {
		if strings.HasPrefix(row.unit, "sec") || strings.HasPrefix(row.unit, "time") {
			add(row.name, row.first, row.line)
		}
	}
	for _, b := range d.benches {
		ns, _ := b.value("ns/op")
		add(b.name, ns*1e-9, b.line)
	}
	return out
}

// findUnitsAgainstOutput reports a figure of a column of times that has the digits of the time of the benchmark that
// the row names, and another unit.
func findUnitsAgainstOutput(t *table, times map[string]outputTime, report reportFunc) {
	for col, header := range t.header {
		k, size, known := findKind(header)
		if !known || size == 0 || k != timeKind || len(times) == 0 {
			continue
		}
		for _, row := range t.rows {
			value, ok := plainCell(row, col)
			if !ok {
				continue
			}
			name := strings.ToLower(stripMarks(row.cells[0]))
			output := times[name]
			for _, factor := range []float64{unitFactor, 1 / unitFactor, unitFactor * unitFactor, 1 / unitFactor / unitFactor} {
				if output.line > 0 && isNear(value*size, output.seconds*factor, sameDigits) {
					report(row.line, fmt.Sprintf("%s stands in a column headed %s, and the output (line %d) has %s for %s", quote(row.cells[col]), quote(header), output.line, formatTime(output.seconds), quote(name)))
				}
			}
		}
	}
}

// sameDigits is the relative difference up to which a table has the digits of an output, rounded.
const sameDigits = 0.005

// Limits of findForgottenUnits.
const (
	minOthers      = 2   // figures of a column with which one is compared
	farAbove       = 100 // times the greatest of the others
	unitFactor     = 1e3 // between neighbouring units
	differentRatio = 0.2 // share by which the ratio of a row may lie outside those of the others
	likeness       = 3   // by which a figure may lie outside the others and be like them
)

// findForgottenUnits reports a figure that is about a thousand times the others of its column, if another
// figure of its row, in a column of the same unit, is like those of its column: it is in the next smaller
// unit. A contender that is that much slower is so in all columns. It also reports a row whose times are all about a
// thousandth of the others, if a figure of its data is like theirs.
func findForgottenUnits(t *table, report reportFunc) {
	for _, row := range t.rows {
		isLike := map[string]bool{} // units in which a figure of the row is like the others of its column
		type slip struct{ cell, header, unit string }
		var slips, small []slip
		columns := 0 // of times
		for col, header := range t.header {
			k, size, known := findKind(header)
			value, ok := plainCell(row, col)
			if !known || !ok || size == 0 || k != timeKind && k != byteKind {
				continue
			}
			lowest, highest, others := 0.0, 0.0, 0
			for _, other := range t.rows {
				if v, ok := plainCell(other, col); ok && other.line != row.line {
					if others == 0 {
						lowest, highest = v, v
					}
					lowest, highest, others = min(lowest, v), max(highest, v), others+1
				}
			}
			isWithin := func(v float64) bool { return v >= lowest/likeness && v <= highest*likeness }
			unit := fmt.Sprint(k, size)
			switch {
			case others < minOthers:
			case isWithin(value):
				if highest <= farAbove*lowest { // figures that are themselves alike
					isLike[unit] = true
				}
			case value > farAbove*highest && isWithin(value/unitFactor):
				slips = append(slips, slip{row.cells[col], header, unit})
			case value < lowest/farAbove && isWithin(value*unitFactor):
				small = append(small, slip{row.cells[col], header, unit})
			}
			if k == timeKind {
				columns++
			}
		}
		// A row that is like the others in another unit, such as that of its data, takes no thousandth of their time.
		if len(small) > 1 && len(small) == columns && len(isLike) > 0 {
			report(row.line, fmt.Sprintf("%s stands in a column headed %s, where a thousand times it would be like the other rows", quote(small[0].cell), quote(small[0].header)))
		}
		for _, s := range slips {
			if isLike[s.unit] {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s, where a thousandth of it would be like the other rows", quote(s.cell), quote(s.header)))
				break
			}
		}
	}
}

// sumLabelRE matches the label of a row with the sum of the others, or of the whole that they are parts of.
var sumLabelRE = lazyregexp.New(`(?i)\b(?:total|sum|overall|whole|all|together|everything|complete|entire|end[- ]to[- ]end|request)\b`)

// findUnitOfPart reports a figure that is greater than the last of its column, if the last is the sum of
// the others with a thousandth of that figure: it is in the next smaller unit.
func findUnitOfPart(t *table, report reportFunc) {
	const (
		minParts    = 2
		sumRounding = 0.02
	)
	for col, header := range t.header {
		k, size, known := findKind(header)
		if !known || size == 0 || k != timeKind && k != byteKind || len(t.rows) <= minParts {
			continue
		}
		last := t.rows[len(t.rows)-1]
		if len(last.cells) == 0 || !sumLabelRE.MatchString(last.cells[0]) {
			continue
		}
		total, ok := plainCell(last, col)
		sum := 0.0
		for _, row := range t.rows[:len(t.rows)-1] {
			v, isPlain := plainCell(row, col)
			sum, ok = sum+v, ok && isPlain
		}
		if !ok {
			continue
		}
		for _, row := range t.rows[:len(t.rows)-1] {
			if v, _ := plainCell(row, col); v > total && isNear(sum-v+v/unitFactor, total, sumRounding) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s, whose last figure, %s, is the sum with a thousandth of it", quote(row.cells[col]), quote(header), last.cells[col]))
				break
			}
		}
	}
}

// findSumOfUnits reports a figure in the last row that is the sum of the numbers above it without their units,
// which are not all the same.
func findSumOfUnits(t *table, report reportFunc) {
	const (
		minParts = 3
		rounding = 0.005
		differs  = 0.05 // share by which the sum of the quantities is another
	)
	for col := range t.header {
		raw, sum, units := 0.0, 0.0, map[float64]bool{}
		var last quantity
		ok := len(t.rows) > minParts
		for i, row := range t.rows {
			if !ok || col >= len(row.cells) {
				ok = false
				break
			}
			q, isFigure := parseCell(row.cells[col])
			ok = isFigure && q.raw > 0 && (q.kind == timeKind || q.kind == byteKind)
			if last = q; i < len(t.rows)-1 {
				raw, sum, units[math.Round(q.value/q.raw*1e12)] = raw+q.raw, sum+q.value, true
			}
		}
		if ok && len(units) > 1 && isNear(raw, last.raw, rounding) && !isNear(sum, last.value, differs) {
			row := t.rows[len(t.rows)-1]
			sumOf := last
			sumOf.value = sum
			report(row.line, fmt.Sprintf("%s is the sum of the numbers above it without their units; with them it is %s", quote(row.cells[col]), formatValue(sumOf)))
		}
	}
}

// findUnitOfPair reports a row whose two figures, in columns of one unit, are in a ratio of a thousandth or a
// thousand times those of all other rows: one of the two is in the neighbouring unit.
func findUnitOfPair(t *table, report reportFunc) {
	var columns []int
	var first string
	for col, header := range t.header {
		k, size, known := findKind(header)
		if !known || size == 0 || k != timeKind && k != byteKind {
			continue
		}
		unit := fmt.Sprint(k, size)
		if len(columns) > 0 && unit != first {
			return
		}
		columns, first = append(columns, col), unit
	}
	const maxPairs = 200 // rows: each is compared with all others
	if len(columns) != 2 || len(t.rows) <= minOthers || len(t.rows) > maxPairs {
		return
	}
	ratios := make([]float64, len(t.rows))
	for i, row := range t.rows {
		a, ok := plainCell(row, columns[0])
		b, okB := plainCell(row, columns[1])
		if !ok || !okB {
			return
		}
		ratios[i] = b / a
	}
	for i, row := range t.rows {
		others := slices.Delete(slices.Clone(ratios), i, i+1)
		low, high := slices.Min(others), slices.Max(others)
		if high > likeness*low {
			continue
		}
		for _, factor := range []float64{unitFactor, 1 / unitFactor} {
			if x := ratios[i] * factor; x >= low && x <= high || isNear(x, low, differentRatio) || isNear(x, high, differentRatio) {
				report(row.line, fmt.Sprintf("%s and %s stand in columns of one unit, in a ratio of %s; that of all other rows is %s to %s", quote(row.cells[columns[0]]), quote(row.cells[columns[1]]), formatNumber(ratios[i]), formatNumber(low), formatNumber(high)))
				return
			}
		}
	}
}

var (
	// timePerItemRE matches the header of a time an item, such as ms/sheet. The group is the unit.
	timePerItemRE = lazyregexp.New(`(?i)^(ns|µs|us|ms|s)\s*(?:/|per )\s*[a-z]+$`)
	// itemsPerSecondRE matches the header of its inverse.
	itemsPerSecondRE = lazyregexp.New(`(?i)^[a-z]+\s*(?:/|per )\s*s(?:ec(?:ond)?)?$`)
)

// headerUnitRE matches an amount of data at the end of a header, also per second.
var headerUnitRE = lazyregexp.New(`(?i)(?:, ?|\(|\[)([KMGT]i?B)(?:/s| per second|ps)?[)\]]?$`)

// findBinaryHeaders reports a table whose columns have a decimal unit such as MB for one side and its binary one
// for another.
func findBinaryHeaders(t *table, report reportFunc) {
	first, firstUnit := "", "" // column with a unit, and the unit
	for _, header := range t.header {
		m := headerUnitRE.FindStringSubmatch(header)
		switch {
		case m == nil:
		case firstUnit == "":
			first, firstUnit = header, m[1]
		case isOtherSide(headerUnitRE.ReplaceAllString(first, ""), headerUnitRE.ReplaceAllString(header, "")):
			unit, other := strings.ToLower(firstUnit), strings.ToLower(m[1])
			if unit != other && strings.ReplaceAll(unit, "i", "") == strings.ReplaceAll(other, "i", "") {
				report(t.line, fmt.Sprintf("the columns %s and %s compare %s with %s", quote(first), quote(header), firstUnit, m[1]))
				return
			}
		}
	}
}

// findReciprocals reports a row whose time an item is a thousand times, or a thousandth, of the inverse of its
// items per second, if the two figures of all other rows follow from each other.
func findReciprocals(t *table, report reportFunc) {
	const rounding = 0.02
	rate := slices.IndexFunc(t.header, itemsPerSecondRE.MatchString)
	for col, header := range t.header {
		size := 0.0
		if m := timePerItemRE.FindStringSubmatch(header); m != nil {
			unit, _ := findUnit(m[1])
			size = unit.size
		} else if k, s, known := findKind(header); known && k == timeKind {
			size = s
		}
		if rate < 0 || size == 0 {
			continue
		}
		follows, slips, last := 0, 0, tableRow{}
		for _, row := range t.rows {
			a, ok := plainCell(row, col)
			b, okB := plainCell(row, rate)
			product := a * size * b
			switch {
			case ok && okB && isNear(product, 1, rounding):
				follows++
			case ok && okB && (isNear(product, unitFactor, rounding) || isNear(product, 1/unitFactor, rounding)):
				slips, last = slips+1, row
			}
		}
		if slips == 1 && follows >= minOthers && follows+slips == len(t.rows) {
			report(last.line, fmt.Sprintf("%s stands in a column headed %s: by the %s %s it has another unit", quote(last.cells[col]), quote(header), last.cells[rate], t.header[rate]))
		}
	}
}

// plainCell returns the number of a cell that has no unit, and false if there is none above 0.
func plainCell(row tableRow, col int) (float64, bool) {
	if col >= len(row.cells) {
		return 0, false
	}
	q, ok := parseCell(row.cells[col])
	return q.raw, ok && q.kind == plainKind && q.raw > 0
}

// unlikeUnits returns the units, in lower case, that are read as a unit of data although they
// differ from it by little or by 8: for mb, mib, mbit and mbps.
func unlikeUnits(unit string) []string {
	prefix := unit[:1]
	if !strings.Contains("kmgt", prefix) {
		return nil
	}
	families := [][]string{{prefix + "b", prefix + "byte", prefix + "bytes"}, {prefix + "ib"}, {prefix + "bit", prefix + "bits", prefix + "bps"}}
	var out []string
	for _, family := range families {
		if !slices.Contains(family, unit) {
			out = append(out, family...)
		}
	}
	return out
}

// findBinaryAndDecimal reports the first column with two of a decimal unit such as MB, its
// binary one, MiB, and its bits, also per second. all holds the figures of a table.
func findBinaryAndDecimal(all []figure, report reportFunc) {
	units := map[int][]string{} // by column
	lines := map[int]int{}      // line of the last figure, by column
	printed := map[string]string{}
	for _, m := range all {
		unit := strings.ToLower(m.unit)
		unit, _, _ = strings.Cut(unit, "/") // mib/s is a rate in mib
		if m.kind != byteKind && m.kind != byteRateKind || len(unit) < 2 {
			continue
		}
		for _, other := range unlikeUnits(unit) {
			if slices.Contains(units[m.column], other) && lines[m.column] != m.line {
				report(m.line, fmt.Sprintf("%s and %s stand in one column", printed[other], m.unit))
				return
			}
		}
		units[m.column] = append(units[m.column], unit)
		printed[unit] = m.unit
		lines[m.column] = m.line
	}
}
