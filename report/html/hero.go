package html

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

// This file draws the first chart of a page, and the cards below it.

type panel struct {
	N                 int // number of the panel, from 1
	Name, Base, Order string
	Symbols           template.HTML // SVG definitions for the rows
	Head              template.HTML // axis
	Rows, Rest        []rival       // Rest is hidden at first
	RestMeans         string        // label that opens Rest
	First             bool          // first panel of the page
}

type rival struct {
	report.Rival
	Lines []rivalLine
}

type rivalLine struct {
	report.RivalLine
	Drawing template.HTML
	Left    []string // marks and texts of claims that do not fit
}

// axisMargin is the empty space at both ends of an axis, as a share of its length.
const axisMargin = 0.06

// newPanel draws panel p of chart c. index is that of the panel.
func newPanel(c report.Contest, p report.Panel, index int) panel {
	out := panel{N: index + 1, Name: p.Name, Base: c.Base, Order: c.Order, First: index == 0}
	values := []float64{1, 0.8, 1.25} // the axis always contains these ratios
	rows := append(append([]report.Rival{}, p.Rows...), p.Rest...)
	for _, factor := range p.Noise {
		if isKnown := factor > 0; isKnown {
			values = append(values, factor, 1/factor)
		}
	}
	for _, r := range rows {
		for _, l := range r.Lines {
			values = append(values, l.Ratio, l.Low, l.High) // the axis ignores 0, which means none
			for _, claim := range l.Claims {
				values = append(values, claim.Value)
			}
		}
	}
	axis := plot.NewLogAxis(axisMargin, values...)
	var scales []plot.Scale
	for i, factor := range p.Noise {
		s := plot.Scale{ID: "g" + strconv.Itoa(index+1) + strconv.Itoa(i+1), Axis: axis, Noise: factor}
		scales = append(scales, s)
		out.Symbols += s.Symbol()
	}
	out.Head = scales[0].Head(c.Base, c.Less, c.More)
	out.Rows, out.Rest = newRivals(p.Rows, scales), newRivals(p.Rest, scales)
	out.RestMeans = strconv.Itoa(len(p.Rest)) + " more between"
	return out
}

// minStrip is the least number of unchanged benchmarks for bars. For fewer, the names show as much.
const minStrip = 5

// HasStrip reports whether groups of unchanged benchmarks get bars.
func (p *page) HasStrip() bool {
	n := 0
	for _, group := range p.Quiet {
		n += group.Count
	}
	return n >= minStrip && len(p.Quiet) > 1
}

type quiet struct {
	report.Quiet
	Drawing template.HTML
}

func newQuiet(groups []report.Quiet) []quiet {
	var out []quiet
	for _, group := range groups {
		out = append(out, quiet{Quiet: group, Drawing: plot.Bar("b0", 0, group.Share)})
	}
	return out
}

// newRivals draws rows. scales has a scale per workload.
func newRivals(rows []report.Rival, scales []plot.Scale) []rival {
	var out []rival
	for _, r := range rows {
		row := rival{Rival: r}
		for _, l := range r.Lines {
			interval := plot.Interval{Value: l.Ratio, Low: l.Low, High: l.High, Class: l.Side, Base: r.Base}
			for _, c := range l.Claims {
				interval.Claims = append(interval.Claims, plot.Claim{Value: c.Value, Text: c.Text, IsLimit: c.Asked != ""})
			}
			drawn := rivalLine{RivalLine: l}
			drawn.Drawing, drawn.Left = scales[l.Work].Row(interval)
			row.Lines = append(row.Lines, drawn)
		}
		if r.Base && len(r.Lines) > 0 { // the baseline has all its values in one line
			var values []string
			for _, l := range r.Lines {
				values = append(values, strings.TrimSpace(l.Workload+" "+l.Says))
			}
			row.Lines = row.Lines[:1]
			row.Lines[0].Workload = ""
			row.Lines[0].Says = values[0]
			row.Lines[0].Detail = strings.Join(values[1:], ", ")
		}
		out = append(out, row)
	}
	return out
}

type card struct {
	report.Card
	Bars []bar
	Grid *grid
}

type bar struct {
	report.Bar
	Drawing template.HTML
	PerOp   string // nanoseconds of one operation, for the script
}

func newCard(c report.Card) card {
	out := card{Card: c}
	for _, x := range c.Bars {
		class := map[string]string{"": "b0", "more": "b1", "less": "b2"}[x.Side] // class of the style sheet
		drawn := bar{Bar: x, Drawing: plot.Bar(class, x.From, x.To)}
		if x.NS > 0 {
			drawn.PerOp = strconv.FormatFloat(x.NS, 'g', 9, 64)
		}
		out.Bars = append(out.Bars, drawn)
	}
	if c.Table != nil {
		out.Grid = &grid{Key: "small", Caption: c.Title, Head: c.Table.Columns}
		for _, r := range c.Table.Rows {
			out.Grid.Rows = append(out.Grid.Rows, line{Row: r})
		}
	}
	return out
}

// drawClaims adds a column to g, which has a row per claim. Its drawings have the published and the measured
// ratio. id is the id of the axis, unique in the page.
func drawClaims(g *grid, id string, claims []tare.ClaimResult) {
	var values []float64
	isRatio := func(c tare.ClaimResult) bool { return c.Kind == tare.ClaimRatio && c.Published > 0 }
	for _, c := range claims {
		if isRatio(c) {
			values = append(values, c.Published, c.Measured, c.Low, c.High)
		}
	}
	isClaim := func(l line) bool { return len(l.Cells) > 1 } // a heading has one cell
	rows := 0
	for _, l := range g.Rows {
		if isClaim(l) {
			rows++
		}
	}
	if len(values) == 0 || rows != len(claims) {
		return
	}
	s := plot.Scale{ID: id, Axis: plot.NewLogAxis(axisMargin, append(values, 1)...)}
	g.Plot = &plotColumn{Title: "◆ published, ○ measured", Axis: s.Symbol()}
	next := 0 // claim of the next row
	for i := range g.Rows {
		if !isClaim(g.Rows[i]) {
			continue
		}
		c := claims[next]
		next++
		if !isRatio(c) {
			continue
		}
		interval := plot.Interval{Class: plot.Same, Claims: []plot.Claim{{Value: c.Published}}}
		if c.Measured > 0 && c.Outcome != tare.VoidAsPublished {
			interval.Value, interval.Low, interval.High = c.Measured, c.Low, c.High
		}
		g.Rows[i].Plot, _ = s.Row(interval)
	}
}
