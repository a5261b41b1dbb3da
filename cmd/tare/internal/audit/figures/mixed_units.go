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

// This file is the rule mixed-units. It finds figures whose units differ from those of their column.
// For example, "870 µs" is below the header "time (ms)".

// mixedUnits finds compared figures whose units differ: "4.1" and "870 µs" below "time (ms)".
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

func findMixedUnits(d *document, report reportFunc) {
	times := d.outputTimes()
	for i, t := range d.tables {
		findCellsAgainstHeader(t, report)
		findForgottenUnits(t, report)
		findPartAboveTotal(t, report)
		findSumOfNumbers(t, report)
		findRowOfOtherRatio(t, report)
		findHeadersOfMixedUnits(t, report)
		findWrongReciprocal(t, report)
		findCellsAgainstOutput(t, times, report)
		findColumnOfMixedUnits(t.figures(i), report)
	}
	d.findUnitsInProse(report)
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			v := d.judgeClaim(c, claims)
			if p := d.findRawRatio(c); p != nil {
				v.rawUnits = &tablePair{a: p.b, b: p.a}
			}
			if v.rawUnits != nil && !v.isSupported {
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

// sameUnit is the relative difference up to which two units are equal. Their sizes are quotients of
// decimal numbers.
const sameUnit = 1e-9

// unitColumn is a column with a unit of time or data in its header.
type unitColumn struct {
	index  int
	header string
	kind   kind
	size   float64 // in base units
}

func (c unitColumn) isOfUnit(other unitColumn) bool {
	return c.kind == other.kind && c.size == other.size
}

func (t *table) unitColumns() []unitColumn {
	var out []unitColumn
	for i, header := range t.header {
		k, size, isKnown := findKind(header)
		if isKnown && size != 0 && (k == timeKind || k == byteKind) {
			out = append(out, unitColumn{index: i, header: header, kind: k, size: size})
		}
	}
	return out
}

// findCellsAgainstHeader reports "870 µs" below "time (ms)", once for each column.
func findCellsAgainstHeader(t *table, report reportFunc) {
	for _, c := range t.unitColumns() {
		if c.index == 0 || statUnitRE.MatchString(strings.TrimSpace(c.header)) {
			continue // labels, or benchstat, which scales each figure
		}
		for _, row := range t.rows {
			if c.index >= len(row.cells) {
				continue
			}
			cell := row.cells[c.index]
			if q, ok := parseCell(cell); ok && q.kind == c.kind && q.raw > 0 && !isNear(q.value/q.raw, c.size, sameUnit) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s", quote(cell), quote(c.header)))
				break
			}
		}
	}
}

type outputTime struct {
	seconds float64
	line    int
}

// outputTimes returns the first time of each benchmark, by the last part of its name in lower case.
func (d *document) outputTimes() map[string]outputTime {
	out := map[string]outputTime{}
	add := func(name string, seconds float64, line int) {
		name = strings.ToLower(processorsRE.ReplaceAllString(name[strings.LastIndex(name, "/")+1:], ""))
		if out[name].line == 0 && seconds > 0 {
			out[name] = outputTime{seconds: seconds, line: line}
		}
	}
	for _, row := range d.statRows {
		if strings.HasPrefix(row.unit, "sec") || strings.HasPrefix(row.unit, "time") {
			add(row.name, row.firstValue, row.line)
		}
	}
	for _, b := range d.benches {
		ns, _ := b.value("ns/op")
		add(b.name, ns*1e-9, b.line)
	}
	return out
}

// findCellsAgainstOutput reports "1.2" below "time (ms)" if an output has 1.2 µs for this row.
func findCellsAgainstOutput(t *table, times map[string]outputTime, report reportFunc) {
	for _, c := range t.unitColumns() {
		if c.kind != timeKind || len(times) == 0 {
			continue
		}
		for _, row := range t.rows {
			value, ok := plainCell(row, c.index)
			if !ok {
				continue
			}
			name := strings.ToLower(stripMarks(row.cells[0]))
			output := times[name]
			for _, factor := range []float64{unitFactor, 1 / unitFactor, unitFactor * unitFactor, 1 / unitFactor / unitFactor} {
				if output.line > 0 && isNear(value*c.size, output.seconds*factor, sameDigits) {
					report(row.line, fmt.Sprintf("%s stands in a column headed %s, and the output (line %d) has %s for %s", quote(row.cells[c.index]), quote(c.header), output.line, formatTime(output.seconds), quote(name)))
				}
			}
		}
	}
}

// sameDigits is the relative error of a rounded figure.
const sameDigits = 0.005

// These limits are for figures without units.
const (
	minOthers      = 2   // least number of other figures in the column
	farAbove       = 100 // least factor to figures in another unit
	unitFactor     = 1e3 // factor between neighbouring units
	differentRatio = 0.2 // share by which a ratio may be outside the others
	likeness       = 3   // factor by which a figure may be outside the others
)

// columnFit describes a figure by the other figures of its column.
type columnFit int

const (
	noFit columnFit = iota // too few others, or no neighbouring unit
	likeOthers
	tooLarge // by a factor of a thousand
	tooSmall // by a factor of a thousand
)

// fitAmong compares a figure with the other figures of its column.
func fitAmong(value float64, others valueRange) columnFit {
	isLike := func(x float64) bool { return x >= others.low/likeness && x <= others.high*likeness }
	isOneSize := others.high <= farAbove*others.low
	switch {
	case others.count < minOthers, isLike(value) && !isOneSize:
		return noFit
	case isLike(value):
		return likeOthers
	case value > farAbove*others.high && isLike(value/unitFactor):
		return tooLarge
	case value < others.low/farAbove && isLike(value*unitFactor):
		return tooSmall
	}
	return noFit
}

// findForgottenUnits reports figures in a neighbouring unit of the header's.
//
// For one figure: it is a thousand times the others of its column. Another figure of the row is
// like the others, because a slow contender would be slow in both columns.
//
// For all times of a row: they are a thousandth of the others, and e.g. its bytes are like the
// others.
func findForgottenUnits(t *table, report reportFunc) {
	columns := t.unitColumns()
	for _, row := range t.rows {
		fits := map[columnFit][]unitColumn{}
		times := 0 // columns
		for _, c := range columns {
			value, ok := plainCell(row, c.index)
			if !ok {
				continue
			}
			fit := fitAmong(value, t.otherFigures(row, c.index))
			fits[fit] = append(fits[fit], c)
			if c.kind == timeKind {
				times++
			}
		}
		if small := fits[tooSmall]; len(small) > 1 && len(small) == times && len(fits[likeOthers]) > 0 {
			c := small[0]
			report(row.line, fmt.Sprintf("%s stands in a column headed %s, where a thousand times it would be like the other rows", quote(row.cells[c.index]), quote(c.header)))
		}
		for _, c := range fits[tooLarge] {
			if slices.ContainsFunc(fits[likeOthers], c.isOfUnit) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s, where a thousandth of it would be like the other rows", quote(row.cells[c.index]), quote(c.header)))
				break
			}
		}
	}
}

func (t *table) otherFigures(row tableRow, column int) valueRange {
	var others valueRange
	for _, other := range t.rows {
		if v, ok := plainCell(other, column); ok && other.line != row.line {
			others.add(v)
		}
	}
	return others
}

// sumLabelRE matches the label of a row with a sum, such as "total".
var sumLabelRE = lazyregexp.New(`(?i)\b(?:total|sum|overall|whole|all|together|everything|complete|entire|end[- ]to[- ]end|request)\b`)

// findPartAboveTotal reports 900 in the column 2, 900, 3 with the sum 5.9. A thousandth of it would
// be right.
func findPartAboveTotal(t *table, report reportFunc) {
	const (
		minParts    = 2
		sumRounding = 0.02 // share of the sum
	)
	if len(t.rows) <= minParts {
		return
	}
	parts, last := t.rows[:len(t.rows)-1], t.rows[len(t.rows)-1]
	if len(last.cells) == 0 || !sumLabelRE.MatchString(last.cells[0]) {
		return
	}
	for _, c := range t.unitColumns() {
		total, ok := plainCell(last, c.index)
		sum := 0.0
		for _, row := range parts {
			v, isPlain := plainCell(row, c.index)
			sum, ok = sum+v, ok && isPlain
		}
		if !ok {
			continue
		}
		for _, row := range parts {
			if v, _ := plainCell(row, c.index); v > total && isNear(sum-v+v/unitFactor, total, sumRounding) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s, whose last figure, %s, is the sum with a thousandth of it", quote(row.cells[c.index]), quote(c.header), last.cells[c.index]))
				break
			}
		}
	}
}

// findSumOfNumbers reports the sum "903 ms" below "900 µs", "2 ms" and "1 ms".
func findSumOfNumbers(t *table, report reportFunc) {
	const (
		minParts = 3
		rounding = 0.005 // of the sum of the numbers
		differs  = 0.05  // of the sum of the quantities
	)
	if len(t.rows) <= minParts {
		return
	}
	parts, last := t.rows[:len(t.rows)-1], t.rows[len(t.rows)-1]
	parseFigure := func(row tableRow, column int) (quantity, bool) {
		if column >= len(row.cells) {
			return quantity{}, false
		}
		q, ok := parseCell(row.cells[column])
		return q, ok && q.raw > 0 && (q.kind == timeKind || q.kind == byteKind)
	}
	for col := range t.header {
		total, ok := parseFigure(last, col)
		raw, sum, units := 0.0, 0.0, map[float64]bool{}
		for _, row := range parts {
			q, isFigure := parseFigure(row, col)
			if ok = ok && isFigure; !ok {
				break
			}
			raw, sum, units[math.Round(q.value/q.raw*1e12)] = raw+q.raw, sum+q.value, true
		}
		if ok && len(units) > 1 && isNear(raw, total.raw, rounding) && !isNear(sum, total.value, differs) {
			report(last.line, fmt.Sprintf("%s is the sum of the numbers above it without their units; with them it is %s", quote(last.cells[col]), formatValue(quantity{value: sum, kind: total.kind})))
		}
	}
}

// findRowOfOtherRatio reports a row with one of two figures in a neighbouring unit. Its ratio is a
// thousand times those of all other rows, or a thousandth.
func findRowOfOtherRatio(t *table, report reportFunc) {
	const maxPairs = 200 // rows: each is compared with all others
	columns := t.unitColumns()
	if len(columns) != 2 || !columns[0].isOfUnit(columns[1]) || len(t.rows) <= minOthers || len(t.rows) > maxPairs {
		return
	}
	first, second := columns[0].index, columns[1].index
	ratios := make([]float64, len(t.rows))
	for i, row := range t.rows {
		a, ok := plainCell(row, first)
		b, okB := plainCell(row, second)
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
			x := ratios[i] * factor
			isLike := x >= low && x <= high || isNear(x, low, differentRatio) || isNear(x, high, differentRatio)
			if isLike {
				report(row.line, fmt.Sprintf("%s and %s stand in columns of one unit, in a ratio of %s; that of all other rows is %s to %s", quote(row.cells[first]), quote(row.cells[second]), formatNumber(ratios[i]), formatNumber(low), formatNumber(high)))
				return
			}
		}
	}
}

var (
	// timePerItemRE matches a header such as ms/sheet. The group is ms.
	timePerItemRE = lazyregexp.New(`(?i)^(ns|µs|us|ms|s)\s*(?:/|per )\s*[a-z]+$`)
	// itemsPerSecondRE matches a header such as sheets/s.
	itemsPerSecondRE = lazyregexp.New(`(?i)^[a-z]+\s*(?:/|per )\s*s(?:ec(?:ond)?)?$`)
)

// headerUnitRE matches "size (MB)" or "read, MiB/s". The groups are MB and MiB.
var headerUnitRE = lazyregexp.New(`(?i)(?:, ?|\(|\[)([KMGT]i?B)(?:/s| per second|ps)?[)\]]?$`)

// findHeadersOfMixedUnits reports a table with MB for one side and MiB for another.
func findHeadersOfMixedUnits(t *table, report reportFunc) {
	first, firstUnit := "", "" // the first header with a unit, and the unit
	for _, header := range t.header {
		m := headerUnitRE.FindStringSubmatch(header)
		switch {
		case m == nil:
		case firstUnit == "":
			first, firstUnit = header, m[1]
		case isOtherSide(headerUnitRE.ReplaceAllString(first, ""), headerUnitRE.ReplaceAllString(header, ""), byteKind):
			unit, other := strings.ToLower(firstUnit), strings.ToLower(m[1])
			if unit != other && strings.ReplaceAll(unit, "i", "") == strings.ReplaceAll(other, "i", "") {
				report(t.line, fmt.Sprintf("the columns %s and %s compare %s with %s", quote(first), quote(header), firstUnit, m[1]))
				return
			}
		}
	}
}

// findWrongReciprocal reports a row with its time per item in another unit. In all other rows time
// per item × items per second is 1.
func findWrongReciprocal(t *table, report reportFunc) {
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
		inverse, slips, last := 0, 0, tableRow{} // rows with product 1, other rows, and the last of these
		for _, row := range t.rows {
			perItem, hasTime := plainCell(row, col)
			perSecond, hasRate := plainCell(row, rate)
			switch product := perItem * size * perSecond; {
			case !hasTime || !hasRate:
			case isNear(product, 1, rounding):
				inverse++
			case isNear(product, unitFactor, rounding), isNear(product, 1/unitFactor, rounding):
				slips, last = slips+1, row
			}
		}
		if slips == 1 && inverse >= minOthers && inverse+slips == len(t.rows) {
			report(last.line, fmt.Sprintf("%s stands in a column headed %s: by the %s %s it has another unit", quote(last.cells[col]), quote(header), last.cells[rate], t.header[rate]))
		}
	}
}

// plainCell returns the number of a cell. It returns false unless the number is above 0 and has no
// unit.
func plainCell(row tableRow, col int) (float64, bool) {
	if col >= len(row.cells) {
		return 0, false
	}
	q, ok := parseCell(row.cells[col])
	return q.raw, ok && q.kind == plainKind && q.raw > 0
}

// unlikeUnits returns the units that are easily mistaken for unit, in lower case: mib, mbit and mbps
// for mb.
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

// findColumnOfMixedUnits reports a column with e.g. MB and MiB.
func findColumnOfMixedUnits(all []figure, report reportFunc) {
	units := map[int][]string{}
	lines := map[int]int{} // the last, by column
	printed := map[string]string{}
	for _, f := range all {
		unit := strings.ToLower(f.unit)
		unit, _, _ = strings.Cut(unit, "/") // mib/s is a rate in mib
		if f.kind != byteKind && f.kind != byteRateKind || len(unit) < 2 {
			continue
		}
		for _, other := range unlikeUnits(unit) {
			if slices.Contains(units[f.column], other) && lines[f.column] != f.line {
				report(f.line, fmt.Sprintf("%s and %s stand in one column", printed[other], f.unit))
				return
			}
		}
		units[f.column] = append(units[f.column], unit)
		printed[unit] = f.unit
		lines[f.column] = f.line
	}
}
