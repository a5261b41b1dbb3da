package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Published figures can be parts of a total, such as the 16.6 ms of a frame.

const sharesMean = "The figures of these claims are parts of a whole: as published, and as measured here, where they are medians over rounds with their 95 % intervals."

// newTotalTable returns two rows per such claim: the contender and the baseline. They have the values and their
// shares of the total.
func newTotalTable(r *tare.Result) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "contender"}, {Name: "published"}, {Name: "of the whole", Unit: "%", Right: true},
		{Name: "measured", Unit: "[interval]"}, {Name: "of the whole", Unit: "% [interval]"}, {Name: "the whole"},
	}}
	for _, c := range r.Claims {
		s := c.Shares
		if s == nil {
			continue
		}
		percentOf := func(x float64) string { return format.Digits(100*x/s.Whole, 2) }
		addSide := func(id, contender, total string, published, value, low, high float64) {
			t.Rows = append(t.Rows, Row{Cells: []Field{
				{Text: id},
				{Text: contender},
				{Text: formatNumber(published) + " " + s.Unit},
				{Text: percentOf(published)},
				{Text: fmt.Sprintf("%s %s [%s, %s]", formatFigure(value), s.Unit, formatFigure(low), formatFigure(high))},
				{Text: percentOf(value) + " [" + percentOf(low) + ", " + percentOf(high) + "]"},
				{Text: total},
			}})
		}
		total := formatRate(s.Whole) + " " + timeUnit(s.Unit) + ": " + s.WholeOf
		addSide(c.ID, contenderTitle(r, c.Contender), total, s.Published, s.Measured, s.Low, s.High)
		addSide("", contenderTitle(r, s.Against)+" (baseline)", "", s.PublishedBaseline, s.Baseline, s.BaselineLow, s.BaselineHigh)
	}
	return t
}

func formatFigure(x float64) string {
	if x < 1000 {
		return format.Digits(x, 3)
	}
	return format.Grouped(x, 0)
}

// timeUnit returns a unit up to the slash: ns of ns/op.
func timeUnit(unit string) string {
	time, _, _ := strings.Cut(unit, "/")
	return time
}

func hasShareClaims(r *tare.Result) bool {
	return slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Shares != nil })
}
