package html

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

// panel is a part of the first chart, for one workload or two.
type panel struct {
	N                 int // number of the panel, from 1
	Name, Base, Order string
	Symbols, Head     template.HTML // definitions that the drawings of rows use; axis
	Rows, Rest        []rival
	RestMeans         string // label of Rest
	First             bool
}

// rival contains the rows of one contender.
type rival struct {
	report.Rival
	Lines []rivalLine
}

type rivalLine struct {
	report.RivalLine
	Drawing template.HTML
	Left    []string // texts of claims for which the drawing has no room
}

// axisMargin is the room at both ends of an axis of ratios, as a share of its length.
const axisMargin = 0.06

// newPanel draws the panel with this index.
func newPanel(c report.Contest, p report.Panel, index int) panel {
	out := panel{N: index + 1, Name: p.Name, Base: c.Base, Order: c.Order, First: index == 0}
	values := []float64{1, 0.8, 1.25} // the axis contains at least these ratios
	rows := append(append([]report.Rival{}, p.Rows...), p.Rest...)
	for _, n := range p.Noise {
		if n > 0 {
			values = append(values, n, 1/n)
		}
	}
	for _, r := range rows {
		for _, l := range r.Lines {
			values = append(values, l.Ratio, l.Low, l.High)
			for _, x := range l.Claims {
				values = append(values, x.Value)
			}
		}
	}
	axis := plot.NewLogAxis(axisMargin, values...)
	var scales []plot.Scale
	for i, n := range p.Noise {
		s := plot.Scale{ID: "g" + strconv.Itoa(index+1) + strconv.Itoa(i+1), Axis: axis, Noise: n}
		scales = append(scales, s)
		out.Symbols += s.Symbol()
	}
	out.Head = scales[0].Head(c.Base, c.Less, c.More)
	out.Rows, out.Rest = newRivals(p.Rows, scales), newRivals(p.Rest, scales)
	out.RestMeans = strconv.Itoa(len(p.Rest)) + " more between"
	return out
}

// quiet is a line of the benchmarks without a change.
type quiet struct {
	report.Quiet
	Drawing template.HTML
}

func newQuiet(all []report.Quiet) []quiet {
	var out []quiet
	for _, q := range all {
		out = append(out, quiet{q, plot.Bar("b0", 0, q.Share)})
	}
	return out
}

func newRivals(rows []report.Rival, scales []plot.Scale) []rival {
	var out []rival
	for _, r := range rows {
		x := rival{Rival: r}
		for _, l := range r.Lines {
			interval := plot.Interval{Value: l.Ratio, Low: l.Low, High: l.High, Class: l.Side, Base: r.Base}
			for _, c := range l.Claims {
				interval.Claims = append(interval.Claims, plot.Claim{Value: c.Value, Text: c.Text})
			}
			drawn := rivalLine{RivalLine: l}
			drawn.Drawing, drawn.Left = scales[l.Work].Row(interval)
			x.Lines = append(x.Lines, drawn)
		}
		if r.Base && len(r.Lines) > 0 { // show its values on all workloads in one line
			var values []string
			for _, l := range r.Lines {
				values = append(values, strings.TrimSpace(l.Workload+" "+l.Says))
			}
			x.Lines = x.Lines[:1]
			x.Lines[0].Workload, x.Lines[0].Says, x.Lines[0].Detail = "", values[0], strings.Join(values[1:], ", ")
		}
		out = append(out, x)
	}
	return out
}

// card is a part below the first chart.
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
		class := map[string]string{"": "b0", "more": "b1", "less": "b2"}[x.Side]
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

// drawClaims adds a column with the published and the measured ratios to a table with a row per claim.
func drawClaims(g *grid, claims []tare.ClaimResult) {
	var values []float64
	isRatio := func(c tare.ClaimResult) bool { return c.Kind == tare.ClaimRatio && c.Published > 0 }
	for _, c := range claims {
		if isRatio(c) {
			values = append(values, c.Published, c.Measured, c.Low, c.High)
		}
	}
	if len(values) == 0 || len(g.Rows) != len(claims) {
		return
	}
	s := plot.Scale{ID: "claims-" + strconv.Itoa(len(claims)), Axis: plot.NewLogAxis(axisMargin, append(values, 1)...)}
	g.Plot = &plotColumn{Title: "◇ published, ● measured", Axis: s.Symbol()}
	for i, c := range claims {
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
