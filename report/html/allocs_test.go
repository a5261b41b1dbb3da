package html

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/report/html/htmltest"
)

// built is a builder of r, without a page.
func built(r *tare.Result) *builder {
	return &builder{r: r, base: r.Contenders[0].ID, out: report.Outline(r)}
}

func TestAllocationsAreTheMediansOfTheTables(t *testing.T) {
	one := built(htmltest.Synthetic(5, 1, 12)).allocations()
	assert.Equal(t, "blocks", len(one.Blocks), 2)
	g := one.Blocks[1].Grid
	assert.Equal(t, "columns", len(g.Head), 3)
	assert.Equal(t, "names", g.Head[1].Name+" "+g.Head[2].Name, "bytes allocs")
	for _, row := range g.Rows {
		assert.Equal(t, "fields of "+row.Who, len(row.Cells), 3)
		assert.Equal(t, "bars of "+row.Who, len(row.Bars), 2)
	}
	assert.Contains(t, "the greatest", string(g.Rows[slices.IndexFunc(g.Rows, func(l line) bool { return strings.Contains(string(l.Bars[1]), `width="300"`) })].Bars[1]), "amount")

	several := built(htmltest.Synthetic(5, 3, 12)).allocations()
	assert.Equal(t, "blocks", len(several.Blocks), 3)
	assert.Equal(t, "columns", len(several.Blocks[1].Grid.Head), 4)
	assert.Equal(t, "on", several.Blocks[1].Grid.On[2], "devices-2/marshal")

	nobody := htmltest.Synthetic(5, 1, 12)
	for i := range nobody.Values {
		if nobody.Values[i].Unit == "B/op" || nobody.Values[i].Unit == "allocs/op" {
			nobody.Values[i].Value = 0
		}
	}
	assert.Equal(t, "nobody allocates", len(built(nobody).allocations().Blocks), 0)
}

func TestBreakEvenIsDrawnOnOneAxis(t *testing.T) {
	b := built(htmltest.Whole())
	g := &grid{Rows: make([]line, 1)}
	assert.Equal(t, "blocks", len(b.breakEven(g, 0)), 2)
	drawn := string(g.Rows[0].Plot)
	assert.Equal(t, "rates and interval", strings.Count(drawn, `class="one"`)+strings.Count(drawn, `class="ci same"`), 3)
	assert.Equal(t, "dot", strings.Count(drawn, `class="pt same"`), 1)

	b.r.BreakEven[0].Points[0].OnePercent, b.r.BreakEven[0].Points[0].OnePercentLow, b.r.BreakEven[0].Points[0].OnePercentHigh = 0, 0, 0
	g = &grid{Rows: make([]line, 1)}
	assert.Equal(t, "blocks without a rate", len(b.breakEven(g, 0)), 1)
	assert.Equal(t, "no drawing", g.Plot == nil, true)
}
