package plot

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file draws charts of curves, such as latency over quantiles, and values over the runs of a
// benchmark.

const (
	area          = 1000  // units of each axis of a chart's area
	maxLabels     = 6     // largest number of curves with names at their ends; more have a legend
	maxLabel      = 15    // largest number of letters of such a name
	labelDistance = 0.075 // least distance of two names, as a share of the height
)

// Chart draws curves, or the shades of a heat map, on two axes.
type Chart struct {
	ID, Title, Means string // Means is the subtitle with the units
	X, Y             Axis
	XTicks, YTicks   []Tick
	Curves           []Curve
	Shades           []Shade
	Limits           []Limit
	Low              bool // draw it half as high and without labels of X: a chart with the same axis follows
}

// Curve is a line through points. A point with a NaN makes a gap.
type Curve struct {
	Name   string
	Class  string // CSS class; "" chooses one by the curve's index
	Points []Point
	Dots   bool // draw a dot at each point
}

// Point is a pair of values on the axes.
type Point struct{ X, Y float64 }

// Shade is a set of rectangles of a heat map with the same opacity.
type Shade struct {
	Opacity float64
	Cells   []Cell
}

// Cell is a rectangle between values of the axes.
type Cell struct{ Left, Right, Low, High float64 }

// highLimit is the share of the height from which the name of a limit is below its line, because of
// the caption.
const highLimit = 0.93

// Limit is a horizontal line at a value of the vertical axis.
type Limit struct {
	At   float64
	Name string
}

// HTML draws the chart as a figure. Equal curves are drawn once, with both names.
func (c Chart) HTML() template.HTML {
	curves := joinEqual(c.Curves)
	hasLongName := slices.ContainsFunc(curves, func(c Curve) bool { return utf8.RuneCountInString(c.Name) > maxLabel })
	hasLegend := len(curves) > maxLabels || hasLongName
	class := "curves"
	if c.Low {
		class += " low"
	}
	if hasLegend || len(curves) == 0 {
		class += " wide"
	}
	var d drawing
	escape := template.HTMLEscapeString
	d.WriteString(`<figure class="chart" id="` + c.ID + `"><figcaption><b>` + escape(c.Title) + `</b> <small>` + escape(c.Means) + `</small></figcaption>`)
	d.WriteString(`<svg class="` + class + `" role="img" aria-label="` + escape(c.Title) + `">`)
	c.drawTicks(&d)
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
	c.drawLimits(&d)
	if !hasLegend {
		c.drawLabels(&d, curves)
	}
	d.WriteString("</svg>")
	if hasLegend {
		d.addLegend(curves)
	}
	d.WriteString("</figure>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names of this package, and of escaped texts
}

func (c Chart) drawLimits(d *drawing) {
	for _, l := range c.Limits {
		y := formatPercent(1 - c.Y.At(l.At))
		d.addElement("line", "limit", "x2", "100%", "y1", y, "y2", y)
		shift := "-6" // pixels, above the line
		if c.Y.At(l.At) > highLimit {
			shift = "18"
		}
		d.addText("strong", l.Name, "x", "6", "y", y, "dy", shift)
	}
}

func (d *drawing) addLegend(curves []Curve) {
	d.WriteString(`<ul class="legend">`)
	for i, curve := range curves {
		d.WriteString(`<li><svg class="swatch" viewBox="0 0 40 12" aria-hidden="true"><path class="` + curveClass(curve, i) + `" d="M1 6H39"/></svg> ` + template.HTMLEscapeString(curve.Name) + `</li>`)
	}
	d.WriteString("</ul>")
}

func (c Chart) drawTicks(d *drawing) {
	for _, t := range c.YTicks {
		y := formatPercent(1 - t.At)
		d.addElement("line", "rule", "x2", "100%", "y1", y, "y2", y)
		d.addText("y", t.Text, "x", "-8", "y", y, "dy", "5")
	}
	for _, t := range c.XTicks {
		x := formatPercent(t.At)
		d.addElement("line", "rule", "x1", x, "x2", x, "y2", "100%")
		if !c.Low {
			d.addText("x", t.Text, "x", x, "y", "100%", "dy", "18")
		}
	}
}

// drawLabels writes the names of curves next to their ends. Names that would overlap move down, or
// up from the lower edge.
func (c Chart) drawLabels(d *drawing, curves []Curve) {
	type end struct { // end of a curve
		y     float64 // share of the height, from the top
		name  string
		class string
	}
	var ends []end
	for i, curve := range curves {
		if n := len(curve.Points); n > 0 && curve.Name != "" {
			ends = append(ends, end{y: 1 - c.Y.At(curve.Points[n-1].Y), name: curve.Name, class: curveClass(curve, i)})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		if a.y < b.y {
			return -1
		}
		return 1
	})
	distance := labelDistance
	if c.Low {
		distance *= 2
	}
	for i := 1; i < len(ends); i++ {
		ends[i].y = max(ends[i].y, ends[i-1].y+distance)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		lowest := 1.0
		if i < len(ends)-1 {
			lowest = ends[i+1].y - distance
		}
		ends[i].y = min(ends[i].y, lowest)
		d.addText("end "+ends[i].class, ends[i].name, "x", "100%", "dx", "8", "y", formatPercent(ends[i].y), "dy", "5")
	}
}

// joinEqual joins curves with the same points to one, e.g. "service = first byte".
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

// curveClass returns a class such as "s1 k0": one of eight colours (s), and another dash (k) for
// further curves.
func curveClass(c Curve, index int) string {
	if c.Class != "" {
		return c.Class
	}
	return "s" + strconv.Itoa(index%8) + " k" + strconv.Itoa(index/8%4)
}

// formatUnits rounds a coordinate to units, which are about a pixel.
func formatUnits(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }

// dropStraight drops points of a line that a reader would not miss: those at most maxBend from the
// line through the remaining points.
func dropStraight(points []Point) []Point {
	const maxBend = 2 // units
	var out []Point
	i := 0
	for i < len(points) {
		out = append(out, points[i])
		next := i + 1 // first point that cannot be dropped
		for next+1 < len(points) && isStraight(points[i:next+2], maxBend) {
			next++
		}
		i = next
	}
	return out
}

// isStraight reports whether no point is more than maxBend above or below the line from the first
// to the last point.
func isStraight(points []Point, maxBend float64) bool {
	first, last := points[0], points[len(points)-1]
	for _, p := range points[1 : len(points)-1] {
		along := 0.0 // share of the way to the last
		if last.X != first.X {
			along = (p.X - first.X) / (last.X - first.X)
		}
		if math.Abs(first.Y+along*(last.Y-first.Y)-p.Y) > maxBend {
			return false
		}
	}
	return true
}

func (c Chart) drawPath(curve Curve) (line, dots string) {
	var lineTo, dotsAt strings.Builder // M moves, L draws a line, h0 a dot
	var connected []Point              // points without a gap, in units of area
	drawConnected := func() {
		command := "M" // L continues a line
		for _, p := range dropStraight(connected) {
			lineTo.WriteString(command + formatUnits(p.X) + " " + formatUnits(p.Y))
			command = "L"
		}
		connected = nil
	}
	for _, p := range curve.Points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) {
			drawConnected()
			continue
		}
		position := Point{X: c.X.At(p.X) * area, Y: (1 - c.Y.At(p.Y)) * area}
		connected = append(connected, position)
		dotsAt.WriteString("M" + formatUnits(position.X) + " " + formatUnits(position.Y) + "h0")
	}
	drawConnected()
	line = lineTo.String()
	if !strings.Contains(line, "L") {
		line += "h1" // makes the line visible
	}
	return line, dotsAt.String()
}

func (c Chart) drawCells(cells []Cell) string {
	var b strings.Builder
	for _, cell := range cells {
		left, right := formatUnits(c.X.At(cell.Left)*area), formatUnits(c.X.At(cell.Right)*area)
		top, bottom := formatUnits((1-c.Y.At(cell.High))*area), formatUnits((1-c.Y.At(cell.Low))*area)
		b.WriteString("M" + left + " " + top + "H" + right + "V" + bottom + "H" + left + "z")
	}
	return b.String()
}

// Trend is a value with its bounds for each run, in order.
type Trend struct {
	Axis  Axis
	Runs  int
	Marks []Mark
	Steps []int // runs with a new level
}

// Mark is one run of a trend.
type Mark struct {
	Run              int
	Value, Low, High float64 // Low or High 0 means no bounds
	Void             bool    // drawn as a cross
}

// HTML draws the trend as a line with a ribbon of its bounds.
func (t Trend) HTML(label string) template.HTML {
	var d drawing
	d.WriteString(`<svg class="trend" viewBox="0 0 160 36" role="img" aria-label="` + template.HTMLEscapeString(label) + `">`)
	// The view box has margins of 4 and 3 units.
	x := func(run int) string { return Number(4 + (float64(run)+0.5)/float64(max(t.Runs, 1))*152) }
	y := func(v float64) string { return Number(33 - t.Axis.At(v)*30) }
	var band, line, dots, void strings.Builder
	command, last := "M", -1 // L continues a line; last is the previous run
	for _, m := range t.Marks {
		if m.Run != last+1 {
			command = "M"
		}
		last = m.Run
		if m.Void {
			command = "M"
			void.WriteString("M" + x(m.Run) + " 30l4 4m0-4l-4 4")
			continue
		}
		if m.Low > 0 && m.High > 0 {
			band.WriteString("M" + x(m.Run) + " " + y(m.Low) + "V" + y(m.High))
		}
		line.WriteString(command + x(m.Run) + " " + y(m.Value))
		dots.WriteString("M" + x(m.Run) + " " + y(m.Value) + "h0")
		command = "L"
	}
	for _, path := range []struct{ class, d string }{
		{"ribbon", band.String()},
		{"line", line.String()},
		{"dots", dots.String()},
		{"cross", void.String()},
	} {
		if path.d != "" {
			d.addElement("path", path.class, "d", path.d)
		}
	}
	for _, run := range t.Steps {
		d.addElement("path", "step", "d", "M"+x(run)+" 1V35")
	}
	return d.closeDrawing()
}
