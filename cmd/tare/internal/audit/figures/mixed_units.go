package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// mixedUnits returns the rule about this mistake: figures that are compared have different units.
func mixedUnits() rule {
	return rule{audit.Rule{
		ID: "mixed-units", Severity: tare.Warn, Title: "Figures that are compared have different units.",
		Why:     "1.2 ms is not less than 850 µs: a ratio of the numbers without their units is wrong by a factor of a thousand, and MB and MiB differ by 5 %.",
		Do:      "give a column one unit, in its header",
		Command: benchCommand, Lang: "text",
		Bad:  "| side | time (ms) |\n|---|---|\n| a | 4.1 |\n| b | 870 µs |\n",
		Good: "| side | time (ms) |\n|---|---|\n| a | 4.1 |\n| b | 0.87 |\n",
	}, findMixedUnits}
}

func findMixedUnits(d *document, report reportFunc) {
	for i, t := range d.tables {
		findUnitsAgainstHeader(t, report)
		findBinaryAndDecimal(t.measures(i), report)
	}
	for _, s := range d.sentences {
		claims := s.claims()
		for _, c := range claims {
			p, ok := s.pairOf(c, claims)
			if !ok || c.canBeOf(p.a.value, p.b.value) || isNear(p.a.value/p.a.raw, p.b.value/p.b.raw, 1e-9) {
				continue
			}
			if c.canBeOf(p.a.raw, p.b.raw) {
				report(s.line, fmt.Sprintf("%s is the ratio of %s and %s without their units, %s and %s", quote(c.text), formatNumber(p.a.raw), formatNumber(p.b.raw), p.a.unit, p.b.unit))
			}
		}
	}
}

// findUnitsAgainstHeader finds cells with a unit of another size than the header has.
func findUnitsAgainstHeader(t *table, report reportFunc) {
	for col, header := range t.header {
		k, size, known := findKind(header)
		if !known || size == 0 || k != timeKind && k != byteKind {
			continue
		}
		for _, row := range t.rows {
			if col >= len(row.cells) {
				continue
			}
			if q, ok := parseCell(row.cells[col]); ok && q.kind == k && q.raw > 0 && !isNear(q.value/q.raw, size, 1e-9) {
				report(row.line, fmt.Sprintf("%s stands in a column headed %s", quote(row.cells[col]), quote(header)))
				break
			}
		}
	}
}

// findBinaryAndDecimal finds columns with MB beside MiB.
func findBinaryAndDecimal(all []measure, report reportFunc) {
	units := map[int][]string{}
	lines := map[int]int{}
	for _, m := range all {
		unit := strings.ToLower(m.unit)
		if m.kind != byteKind || len(unit) < 2 {
			continue
		}
		other := strings.Replace(unit, "ib", "b", 1)
		if other == unit {
			other = unit[:len(unit)-1] + "ib"
		}
		if len(other) == 2 || len(other) == 3 {
			if slices.Contains(units[m.column], other) && lines[m.column] != m.line {
				report(m.line, fmt.Sprintf("%s and %s stand in one column", other, unit))
				return
			}
		}
		units[m.column] = append(units[m.column], unit)
		lines[m.column] = m.line
	}
}
