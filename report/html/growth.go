package html

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// growths draw time over size, one chart for each row of workloads that an
// exponent is fitted over.
func (b *builder) growths() []block {
	var out []block
	var done [][]string
	for _, s := range b.r.Scaling {
		if slices.ContainsFunc(done, func(w []string) bool { return slices.Equal(w, s.Workloads) }) {
			continue
		}
		done = append(done, s.Workloads)
		if c := b.growth(s); c != nil {
			c.ID = identified("growth", len(out))
			out = append(out, block{Chart: c})
		}
	}
	return out
}

// growth is one of them; nil where sizes or times are not known.
func (b *builder) growth(s tare.Scaling) *chart {
	by := s.By
	if by == "" {
		by = tare.ByBytes
	}
	c := &chart{
		Title: report.Legible(fmt.Sprintf("Time of %s of %s by %s", s.Op, s.Fixture, by)), X: string(by), Y: "time per operation",
		Desc: "One curve for each contender through its medians. Both axes are logarithmic, so that a power is a straight line and its exponent the slope; the exponents stand in the table beneath.",
	}
	type grown struct {
		who   tare.Contender
		x, y  []float64
		power string
	}
	var all []grown
	var xs, ys []float64
	for _, own := range b.r.Scaling {
		if !slices.Equal(own.Workloads, s.Workloads) {
			continue
		}
		who, _ := b.r.Contender(own.Contender)
		g := grown{who: who, power: fmt.Sprintf("^%.2f", own.Exponent)}
		for _, id := range own.Workloads {
			size := b.size(id, by)
			if v, ok := b.value(id, own.Contender, "time"); ok && size > 0 {
				g.x, g.y = append(g.x, size), append(g.y, v.Value)
			}
		}
		if len(g.x) > 1 {
			all, xs, ys = append(all, g), append(xs, g.x...), append(ys, g.y...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	x, y := logged(xs), logged(ys)
	for _, g := range all {
		var points []point
		for i := range g.x {
			points = append(points, point{x.at(g.x[i]), y.at(g.y[i])})
		}
		line := b.curve(g.who)
		line.Name += " " + g.power
		line.Path, line.Marks = traced(points), marked(points)
		c.Curves = append(c.Curves, line)
	}
	c.XTicks, c.YTicks = x.ticks(0.12, counted), upward(y.ticks(0.08, lasting))
	return c
}

// size is that of a workload; zero where nobody knows.
func (b *builder) size(workload string, by tare.Extent) float64 {
	i := b.place(workload)
	switch {
	case i < 0:
		return 0
	case by == tare.ByMembers:
		return float64(b.r.Workloads[i].Members)
	case by == tare.ByLevels:
		return float64(b.r.Workloads[i].Levels)
	}
	return b.r.Workloads[i].BodyBytes()
}

// waterfall draws the steps of a decomposition beside their table: each from
// where the one before it ends.
func (b *builder) waterfall(g *grid, id string) {
	i := slices.IndexFunc(b.r.Decomposition, func(d tare.Decomposition) bool { return report.Legible(d.ID) == id })
	if i < 0 {
		return
	}
	d := b.r.Decomposition[i]
	most := max(d.Whole.FromValue, d.Whole.ToValue)
	for _, s := range d.Steps {
		most = max(most, s.FromValue, s.ToValue)
	}
	if !(most > 0) || len(g.Rows) < len(d.Steps)+2 {
		return
	}
	at := func(x float64) float64 { return min(max(x/most, 0), 1) * cellWidth }
	g.Plot = &plot{Title: report.Legible(d.Metric + ", from 0")}
	bar := func(row int, class string, from, to float64) {
		var c drawing
		c.cell("fall")
		c.box(class, at(min(from, to)), 6, max(at(max(from, to))-at(min(from, to)), 1), cellHeight-12)
		if class != "whole" {
			c.line("edge", at(to), 0, at(to), cellHeight)
		}
		g.Rows[row].Plot = c.end()
	}
	bar(0, "whole", 0, d.Whole.FromValue)
	for i, s := range d.Steps {
		class := "adds"
		if s.ToValue < s.FromValue {
			class = "takes"
		}
		bar(i+1, class, s.FromValue, s.ToValue)
	}
	bar(len(g.Rows)-1, "whole", 0, d.Whole.ToValue)
}
