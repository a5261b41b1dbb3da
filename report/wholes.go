package report

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const sharesMean = "The figures of these claims are parts of a whole: as published, and as measured here, where they are medians over rounds with their 95 % intervals."

// ofWhole is a row for each side of every claim whose figures are parts of a
// whole.
func ofWhole(r *tare.Result) Table {
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
			share := func(x float64) string { return significant(100*x/p.Whole, 2) }
			t.Rows = append(t.Rows, Row{Cells: []Field{
				{Text: id}, {Text: who}, {Text: number(published) + " " + p.Unit}, {Text: share(published)},
				{Text: fmt.Sprintf("%s %s [%s, %s]", figure(value), p.Unit, figure(low), figure(high))},
				{Text: share(value) + " [" + share(low) + ", " + share(high) + "]"}, {Text: whole},
			}})
		}
		side(c.ID, title(r, c.Contender), asRate(p.Whole)+" "+timeOf(p.Unit)+": "+p.WholeOf, p.Published, p.Measured, p.Low, p.High)
		side("", title(r, p.Against)+" (baseline)", "", p.PublishedBaseline, p.Baseline, p.BaselineLow, p.BaselineHigh)
	}
	return t
}

// figure prints x with three significant digits or more, and thousands apart.
func figure(x float64) string {
	if x < 1000 {
		return significant(x, 3)
	}
	return format.Grouped(x, 0)
}

// timeOf is the time in a unit, without what it is for.
func timeOf(unit string) string {
	for i, c := range unit {
		if c == '/' {
			return unit[:i]
		}
	}
	return unit
}

// parted reports whether there are such claims.
func parted(r *tare.Result) bool {
	return slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Shares != nil })
}
