package figures

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule mixed-units. A sentence may add 12.4 (µs) of a table to 0.84
// (ms). Or it compares 412 (MB/s) with 940 Mbit/s.

var (
	// bareNumberRE matches a number that may have no unit. The group is the number.
	bareNumberRE = lazyregexp.New(`(?:^|[\s(])(\d[\d,]*(?:\.\d+)?)(?:[\s,.;)]|$)`)
	// bitRateRE matches "940 Mbit/s". The groups are 940 and M.
	bitRateRE  = lazyregexp.New(`\b(\d[\d,]*(?:\.\d+)?)\s?([kKMGT])(?:bit/s|bits/s|bps|b/s|bit per second)`)
	addedRE    = lazyregexp.New(`(?i)\bon top of\b|\bplus\b|\badd(?:s|ed)?\b|\btogether\b|\bsum\b|\bin total\b|\+`)
	comparedRE = lazyregexp.New(`(?i)\b(?:less|more|half|below|above|under|over|within|only|far from|exceeds?|fits?|reach(?:es)?|limit|room|enough)\b`)
)

// bareNumber is a number without a unit.
type bareNumber struct {
	value float64
	step  float64 // one unit of its last digit
}

func (s sentence) bareNumbers() (numbers []bareNumber) {
	text := strings.ReplaceAll(s.text, " ", "  ") // each match takes a space before and after the number
	for _, m := range bareNumberRE.FindAllStringSubmatchIndex(text, maxFigures) {
		const maxUnit = 12 // bytes after the number for its unit
		after := strings.ReplaceAll(text[m[2]:min(len(text), m[3]+maxUnit)], "  ", " ")
		if q, _, ok := parseQuantity(after); ok && q.kind == plainKind {
			value, step, _, _ := parseNumber(after)
			numbers = append(numbers, bareNumber{value, step})
		}
	}
	return numbers
}

// findCell returns the figure with a unit and the number n, in a table before the sentence.
func (d *document) findCell(s sentence, n bareNumber) (figure, bool) {
	for _, f := range d.figures {
		isBefore := f.isOfTable() && f.line < s.line && strings.EqualFold(f.heading, s.heading)
		hasUnit := f.kind == timeKind || f.kind == byteKind || f.kind == byteRateKind
		if isBefore && hasUnit && math.Abs(f.raw-n.value) <= n.step/2 {
			return f, true
		}
	}
	return figure{}, false
}

// findUnitsInProse reports sentences that add or compare numbers of tables as if their units were
// the same.
func (d *document) findUnitsInProse(report reportFunc) {
	for i, s := range d.sentences[:min(len(d.sentences), maxCompared)] {
		isSum, isComparison := addedRE.MatchString(s.text), comparedRE.MatchString(s.text)
		if !isSum && !isComparison {
			continue
		}
		var cells []figure
		for _, n := range s.bareNumbers() {
			if f, ok := d.findCell(s, n); ok {
				cells = append(cells, f)
			}
		}
		if isSum {
			s.findSumOfCells(cells, report)
		}
		if isComparison {
			context := s.text
			if i > 0 && d.sentences[i-1].heading == s.heading {
				context = d.sentences[i-1].text + " " + context
			}
			s.findBitsAgainstBytes(cells, context, report)
		}
	}
}

// findSumOfCells reports the sum of two numbers with different units.
func (s sentence) findSumOfCells(cells []figure, report reportFunc) {
	const tolerance = 0.03 // "a little over 13 ms"
	for i, a := range cells {
		for _, b := range cells[i+1:] {
			if a.kind != b.kind || isNear(a.value/a.raw, b.value/b.raw, sameUnit) {
				continue
			}
			for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
				q, _, ok := parseQuantity(s.text[m[0]:])
				if ok && q.kind == a.kind && isNear(q.raw, a.raw+b.raw, tolerance) && !isNear(q.value, a.value+b.value, tolerance) {
					report(s.lineAt(m[0]), fmt.Sprintf("%s adds %s %s and %s %s (lines %d and %d): together they are %s", quote(formatNumber(q.raw)+" "+q.unit), formatNumber(a.raw), a.unit, formatNumber(b.raw), b.unit, a.line, b.line, formatValue(quantity{value: a.value + b.value, kind: a.kind})))
					return
				}
			}
		}
	}
}

// findBitsAgainstBytes reports a rate in bytes whose number is less than that of a rate in bits in
// context, although the rate is greater.
func (s sentence) findBitsAgainstBytes(cells []figure, context string, report reportFunc) {
	const bitsPerByte = 8
	rates := cells
	for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
		if q, _, ok := parseQuantity(s.text[m[0]:]); ok && q.kind == byteRateKind && !bitRateRE.MatchString(firstBytes(s.text[m[0]:], len("1,000.00 Mbit/s"))) {
			rates = append(rates, figure{quantity: q, line: s.line})
		}
	}
	for _, m := range bitRateRE.FindAllStringSubmatch(context, maxFigures) {
		n, _, _, _ := parseNumber(m[1])
		bits := n * map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[2]]
		for _, f := range rates {
			if f.kind == byteRateKind && f.raw < n && f.value*bitsPerByte > bits {
				report(s.line, fmt.Sprintf("%s %s (line %d) are %s Mbit/s, more than %s", formatNumber(f.raw), f.unit, f.line, formatNumber(f.value*bitsPerByte/1e6), quote(m[0])))
				return
			}
		}
	}
}
