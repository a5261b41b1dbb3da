package html

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// breakEven draws the rates at which a difference is 1 % of a core beside the
// table of break-even i: each with its interval on one axis, and the table's own
// rates across it.
func (b *builder) breakEven(g *grid, i int) []block {
	plain := []block{{Grid: g}}
	if i >= len(b.r.BreakEven) || len(g.Rows) != len(b.r.BreakEven[i].Points) {
		return plain
	}
	x := b.r.BreakEven[i]
	var values []float64
	for _, p := range x.Points {
		values = append(values, p.OnePercent, p.OnePercentLow, p.OnePercentHigh)
	}
	if !anyAbove(values) {
		return plain
	}
	values = append(values, x.Rates...)
	a := logged(values)
	g.Plot = &plot{Title: "1 % of a core, at a rate of", Ticks: a.ticks(0.15, counted)}
	for j, p := range x.Points {
		var d drawing
		d.cell("forest even")
		for _, rate := range x.Rates {
			d.line("one", a.at(rate)*cellWidth, 0, a.at(rate)*cellWidth, cellHeight)
		}
		d.reached(a, p)
		g.Rows[j].Plot = d.end()
	}
	return []block{{Grid: g}, {Text: "A dot is the rate from which on the difference is more than 1 % of a core, the stroke through it the interval, on a logarithmic axis. The upright lines are the rates of the table: left of one, the difference is more than that at its rate.", Mark: report.Dim}}
}

// reached is the rate of one point with its interval, as far as it is known.
func (d *drawing) reached(a log, p tare.BreakEvenPoint) {
	const middle = cellHeight / 2
	if !(p.OnePercent > 0) {
		return
	}
	if p.OnePercentLow > 0 && p.OnePercentHigh > 0 {
		d.line("ci same", a.at(p.OnePercentLow)*cellWidth, middle, a.at(p.OnePercentHigh)*cellWidth, middle)
	}
	d.dot("pt same", a.at(p.OnePercent)*cellWidth, middle)
}

// anyAbove reports whether one of values is above zero.
func anyAbove(values []float64) bool {
	for _, v := range values {
		if v > 0 {
			return true
		}
	}
	return false
}
