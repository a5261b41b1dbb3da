package plot

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	area       = 1000 // units of each axis of a chart's area
	maxLabels  = 6    // curves with names at their ends; more have a legend
	maxLabel   = 15   // letters of a name that fits after its end
	labelApart = 0.075
)

// Chart draws curves, or the shades of a heat map, on two axes. A table next to it
// has its values.
type Chart struct {
	ID, Title, Means string // Means is the subtitle with the units
	X, Y             Axis
	XTicks, YTicks   []Tick
	Curves           []Curve
	Shades           []Shade
	Limits           []Limit
	Low              bool // half as high, without labels below: another chart with the same axis follows
}

// Curve is a line through points. A gap is a point with a NaN.
type Curve struct {
	Name   string
	Class  string // "" chooses the colour by the curve's index
	Points []Point
	Dots   bool
}

// Point is a pair of values on the axes.
type Point struct{ X, Y float64 }

// Shade is the part of a heat map that has one opacity, as rectangles.
type Shade struct {
	Opacity float64
	Cells   []Cell
}

// Cell is a rectangle between values of the axes.
type Cell struct{ Left, Right, Low, High float64 }

// Limit is a limit on the vertical axis.
type Limit struct {
	At   float64
	Name string
}

// HTML draws the chart as a figure. Curves through the same points are drawn once, with both names.
func (c Chart) HTML() template.HTML {
	curves := joinEqual(c.Curves)
	legend := len(curves) > maxLabels || slices.ContainsFunc(curves, func(c Curve) bool { return utf8.RuneCountInString(c.Name) > maxLabel })
	class := "curves"
	if c.Low {
		class += " low"
	}
	if legend || len(curves) == 0 {
		class += " wide"
	}
	var d drawing
	escape := template.HTMLEscapeString
	d.WriteString(`<figure class="chart" id="` + c.ID + `"><figcaption><b>` + escape(c.Title) + `</b> <small>` + escape(c.Means) + `</small></figcaption>`)
	d.WriteString(`<svg class="` + class + `" role="img" aria-label="` + escape(c.Title) + `">`)
	for _, t := range c.YTicks {
		at := formatPercent(1 - t.At)
		d.addElement("line", "rule", "x2", "100%", "y1", at, "y2", at)
		d.addText("y", t.Text, "x", "-8", "y", at, "dy", "5")
	}
	for _, t := range c.XTicks {
		at := formatPercent(t.At)
		d.addElement("line", "rule", "x1", at, "x2", at, "y2", "100%")
		if !c.Low {
			d.addText("x", t.Text, "x", at, "y", "100%", "dy", "18")
		}
	}
	d.WriteString(`<svg class="area" width="100%" height="100%" viewBox="0 0 1000 1000" preserveAspectRatio="none">`)
	for _, s := range c.Shades {
		d.addElement("path", "shade", "fill-opacity", Number(s.Opacity), "d", c.drawCells(s.Cells))
	}
	for i, curve := range curves {
		line, dots := c.drawPath(curve)
		d.addElement("path", curveClass(curve, i), "d", line)
		if curve.Dots {
			d.addElement("path", curveClass(curve, i)+" dots", "d", dots)
		}
	}
	d.WriteString("</svg>")
	for _, l := range c.Limits {
		at := formatPercent(1 - c.Y.At(l.At))
		d.addElement("line", "limit", "x2", "100%", "y1", at, "y2", at)
		d.addText("strong", l.Name, "x", "6", "y", at, "dy", "-6")
	}
	if !legend {
		c.drawLabels(&d, curves)
	}
	d.WriteString("</svg>")
	if legend {
		d.WriteString(`<ul class="legend">`)
		for i, curve := range curves {
			d.WriteString(`<li><svg class="swatch" viewBox="0 0 40 12" aria-hidden="true"><path class="` + curveClass(curve, i) + `" d="M1 6H39"/></svg> ` + escape(curve.Name) + `</li>`)
		}
		d.WriteString("</ul>")
	}
	d.WriteString("</figure>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names of this package, and of escaped texts
}

// drawLabels writes the names of curves after their ends without overlap.
func (c Chart) drawLabels(d *drawing, curves []Curve) {
	type end struct {
		at    float64
		name  string
		class string
	}
	var ends []end
	for i, curve := range curves {
		if n := len(curve.Points); n > 0 && curve.Name != "" {
			ends = append(ends, end{1 - c.Y.At(curve.Points[n-1].Y), curve.Name, curveClass(curve, i)})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	apart := labelApart
	if c.Low {
		apart *= 2
	}
	for i := range ends {
		if i > 0 {
			ends[i].at = max(ends[i].at, ends[i-1].at+apart)
		}
	}
	for i := len(ends) - 1; i >= 0; i-- {
		most := 1.0
		if i < len(ends)-1 {
			most = ends[i+1].at - apart
		}
		ends[i].at = min(ends[i].at, most)
		d.addText("end "+ends[i].class, ends[i].name, "x", "100%", "dx", "8", "y", formatPercent(ends[i].at), "dy", "5")
	}
}

// joinEqual joins curves that go through the same points: "service = first byte".
func joinEqual(curves []Curve) []Curve {
	var out []Curve
	for _, c := range curves {
		i := slices.IndexFunc(out, func(o Curve) bool { return slices.Equal(o.Points, c.Points) })
		if i < 0 {
			out = append(out, c)
			continue
		}
		out[i].Name += " = " + c.Name
	}
	return out
}

// curveClass returns the class of a curve or, without one, a class by its index: eight colours, and a dash for
// each further eight.
func curveClass(c Curve, place int) string {
	if c.Class != "" {
		return c.Class
	}
	return "s" + strconv.Itoa(place%8) + " k" + strconv.Itoa(place/8%4)
}

// drawPath returns the line through the points of a curve and a dot on each of them.
func (c Chart) drawPath(curve Curve) (line, dots string) {
	var l, m strings.Builder
	move := "M"
	for _, p := range curve.Points {
		if p.X != p.X || p.Y != p.Y {
			move = "M"
			continue
		}
		at := Number(c.X.At(p.X)*area) + " " + Number((1-c.Y.At(p.Y))*area)
		l.WriteString(move + at)
		m.WriteString("M" + at + "h0")
		move = "L"
	}
	if len(curve.Points) == 1 {
		l.WriteString("h1")
	}
	return l.String(), m.String()
}

// drawCells returns the path around rectangles.
func (c Chart) drawCells(cells []Cell) string {
	var b strings.Builder
	at := func(x float64) string { return strconv.FormatFloat(x*area, 'f', 0, 64) }
	for _, x := range cells {
		left, right := at(c.X.At(x.Left)), at(c.X.At(x.Right))
		top, bottom := at(1-c.Y.At(x.High)), at(1-c.Y.At(x.Low))
		b.WriteString("M" + left + " " + top + "H" + right + "V" + bottom + "H" + left + "z")
	}
	return b.String()
}

// Trend is a value with its bounds for each run, in order.
type Trend struct {
	Axis  Axis
	Runs  int
	Marks []Mark
	Steps []int // runs at which another level begins
}

// Mark is one run of a trend.
type Mark struct {
	Run              int
	Value, Low, High float64 // Low and High 0: no bounds
	Void             bool
}

// HTML draws the trend as a line with a ribbon of its bounds.
func (t Trend) HTML(label string) template.HTML {
	var d drawing
	d.WriteString(`<svg class="trend" viewBox="0 0 160 36" role="img" aria-label="` + template.HTMLEscapeString(label) + `">`)
	x := func(run int) string { return Number(4 + (float64(run)+0.5)/float64(max(t.Runs, 1))*152) }
	y := func(v float64) string { return Number(33 - t.Axis.At(v)*30) }
	var band, line, dots, void strings.Builder
	move, last := "M", -1
	for _, m := range t.Marks {
		if m.Run != last+1 {
			move = "M"
		}
		last = m.Run
		if m.Void {
			move = "M"
			void.WriteString("M" + x(m.Run) + " 30l4 4m0-4l-4 4")
			continue
		}
		if m.Low > 0 && m.High > 0 {
			band.WriteString("M" + x(m.Run) + " " + y(m.Low) + "V" + y(m.High))
		}
		line.WriteString(move + x(m.Run) + " " + y(m.Value))
		dots.WriteString("M" + x(m.Run) + " " + y(m.Value) + "h0")
		move = "L"
	}
	for _, path := range []struct{ class, d string }{{"ribbon", band.String()}, {"line", line.String()}, {"dots", dots.String()}, {"cross", void.String()}} {
		if path.d != "" {
			d.addElement("path", path.class, "d", path.d)
		}
	}
	for _, at := range t.Steps {
		d.addElement("path", "step", "d", "M"+x(at)+" 1V35")
	}
	return d.closeDrawing()
}
