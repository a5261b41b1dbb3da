package figures

import (
	"math"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

var (
	// confidenceRE matches words by which ± stands for an interval of confidence, and deviation those by
	// which it is a standard deviation.
	confidenceRE = lazyregexp.New(`(?i)\bconfidence\b|\b9[59]\s?% (?:CI|interval)`)
	deviationRE  = lazyregexp.New(`(?i)\b(?:standard|std\.?) ?(?:deviation|dev|error)\b|\bSD\b`)
	// halfWidthRE matches a figure with ± in a cell.
	halfWidthRE = lazyregexp.New(`^\D{0,3}(\d[\d,]*(?:\.\d+)?)\s?[^\d\s±]{0,5}\s?±\s?(\d[\d,]*(?:\.\d+)?)`)
)

// meanSpread is a figure with what stands after its ±.
type meanSpread struct {
	value, width float64
	text         string
}

// spreadsOf returns the figures of a column of a table of two rows, and false unless both have ±.
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

// spreads returns the figures with ± of a row.
func (r tableRow) spreads() []meanSpread {
	var list []meanSpread
	for _, cell := range r.cells {
		if s, ok := parseSpread(cell); ok {
			list = append(list, s)
		}
	}
	return list
}

// parseSpread parses a cell such as 48.2 ± 2.9 µs. It returns false for one with a ± in percent.
func parseSpread(cell string) (meanSpread, bool) {
	m := halfWidthRE.FindStringSubmatch(cell)
	if m == nil || strings.Contains(cell, "%") {
		return meanSpread{}, false
	}
	value, _, _, ok := parseNumber(m[1])
	width, _, _, okWidth := parseNumber(m[2])
	return meanSpread{value, width, cell}, ok && okWidth
}

// areApart reports whether two means may differ significantly. With n runs the widths are standard
// deviations, and the difference is at least twice its standard error; with n = 0 they are half-widths of
// intervals of confidence, and it is at least the greater of them.
func areApart(a, b meanSpread, n float64) bool {
	limit := max(a.width, b.width)
	if n > 0 {
		limit = 2 * math.Sqrt((a.width*a.width+b.width*b.width)/n)
	}
	return math.Abs(a.value-b.value) >= limit
}
