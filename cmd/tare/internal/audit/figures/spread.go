package figures

import (
	"math"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads figures with ±, such as "48.2 ± 2.9 µs". The rule unsupported-significance uses
// them to find differences that chance explains.

var (
	// confidenceRE explains ± as a confidence interval, and deviationRE as a standard deviation.
	confidenceRE = lazyregexp.New(`(?i)\bconfidence\b|\b9[59]\s?% (?:CI|interval)`)
	deviationRE  = lazyregexp.New(`(?i)\b(?:standard|std\.?) ?(?:deviation|dev|error)\b|\bSD\b`)
	// halfWidthRE matches "48.2 µs ± 2.9". The groups are 48.2 and 2.9.
	halfWidthRE = lazyregexp.New(`^\D{0,3}(\d[\d,]*(?:\.\d+)?)\s?[^\d\s±]{0,5}\s?±\s?(\d[\d,]*(?:\.\d+)?)`)
)

// meanSpread is a figure with ±.
type meanSpread struct {
	value, width float64 // 48.2 and 2.9 for "48.2 ± 2.9 µs"
	text         string
}

// spreadsOf returns the two figures with ± of a column. It returns false unless there are exactly
// two.
func (t *table) spreadsOf(col int) (a, b meanSpread, ok bool) {
	var list []meanSpread
	for _, row := range t.rows {
		if col < len(row.cells) {
			if s, ok := parseSpread(row.cells[col]); ok {
				list = append(list, s)
			}
		}
	}
	if len(list) != 2 {
		return a, b, false
	}
	return list[0], list[1], true
}

func (r tableRow) spreads() []meanSpread {
	var list []meanSpread
	for _, cell := range r.cells {
		if s, ok := parseSpread(cell); ok {
			list = append(list, s)
		}
	}
	return list
}

// parseSpread parses 48.2 ± 2.9 µs. It rejects a ± in percent.
func parseSpread(cell string) (meanSpread, bool) {
	m := halfWidthRE.FindStringSubmatch(cell)
	if m == nil || strings.Contains(cell, "%") {
		return meanSpread{}, false
	}
	value, _, _, ok := parseNumber(m[1])
	width, _, _, okWidth := parseNumber(m[2])
	return meanSpread{value: value, width: width, text: cell}, ok && okWidth
}

// differSignificantly reports whether two means may differ significantly. If runs is above 0, the
// widths are standard deviations, and the difference must be at least twice its standard error. If
// runs is 0, the widths are half-widths of confidence intervals, and it must be at least the greater
// one.
func differSignificantly(a, b meanSpread, runs float64) bool {
	limit := max(a.width, b.width)
	if runs > 0 {
		limit = 2 * math.Sqrt((a.width*a.width+b.width*b.width)/runs)
	}
	return math.Abs(a.value-b.value) >= limit
}
