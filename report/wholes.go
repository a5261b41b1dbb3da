package report

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const sharesMean = "The figures of these claims are parts of a whole: as published, and as measured here, where they are medians over rounds with their 95 % intervals."

// newWholeTable returns a row per side of every claim whose values are parts of a total.
func newWholeTable(r *tare.Result) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "contender"}, {Name: "published"}, {Name: "of the whole", Unit: "%", Right: true},
		{Name: "measured", Unit: "[interval]"}, {Name: "of the whole", Unit: "% [interval]"}, {Name: "the whole"},
	}}
	for _, c := range r.Claims {
		p := c.Shares
		if p == nil {
			continue
		}
		side := func(id, who, whole string, published, value, low, high float64) {
			share := func(x float64) string { return formatDigits(100*x/p.Whole, 2) }
			t.Rows = append(t.Rows, Row{Cells: []Field{
				{Text: id}, {Text: who}, {Text: formatNumber(published) + " " + p.Unit}, {Text: share(published)},
				{Text: fmt.Sprintf("%s %s [%s, %s]", formatFigure(value), p.Unit, formatFigure(low), formatFigure(high))},
				{Text: share(value) + " [" + share(low) + ", " + share(high) + "]"}, {Text: whole},
			}})
		}
		side(c.ID, contenderTitle(r, c.Contender), formatRate(p.Whole)+" "+timeUnit(p.Unit)+": "+p.WholeOf, p.Published, p.Measured, p.Low, p.High)
		side("", contenderTitle(r, p.Against)+" (baseline)", "", p.PublishedBaseline, p.Baseline, p.BaselineLow, p.BaselineHigh)
	}
	return t
}

// formatFigure prints x with at least three significant digits, and with thousands separated.
func formatFigure(x float64) string {
	if x < 1000 {
		return formatDigits(x, 3)
	}
	return format.Grouped(x, 0)
}

// timeUnit returns the time of a unit, without the part after the slash.
func timeUnit(unit string) string {
	for i, c := range unit {
		if c == '/' {
			return unit[:i]
		}
	}
	return unit
}

// hasShareClaims reports whether any claim's values are parts of a total.
func hasShareClaims(r *tare.Result) bool {
	return slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Shares != nil })
}
