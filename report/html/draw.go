package html

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

// drawing is an SVG in the making. Every text that enters it is escaped.
type drawing struct{ b strings.Builder }

// cellWidth and cellHeight are the units of a drawing in a table's field. It is
// stretched to the field, so strokes do not scale.
const (
	cellWidth  = 300
	cellHeight = 26
)

// cell begins a drawing for a table's field, whose figures stand beside it.
func (d *drawing) cell(class string) {
	d.b.WriteString(`<svg class="cell ` + class + `" viewBox="0 0 300 26" preserveAspectRatio="none" aria-hidden="true" focusable="false">`)
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.b.WriteString(`<path class="` + class + `" d="M` + short(x1) + ` ` + short(y1) + `L` + short(x2) + ` ` + short(y2) + `"/>`)
}

// dot is a line without length, which a round cap makes a dot in any scale.
func (d *drawing) dot(class string, x, y float64) {
	d.b.WriteString(`<path class="` + class + `" d="M` + short(x) + ` ` + short(y) + `h0"/>`)
}

// dots are many of them at one height, as one path.
func (d *drawing) dots(class string, xs []float64, y float64) {
	if len(xs) == 0 {
		return
	}
	d.b.WriteString(`<path class="` + class + `" d="`)
	for _, x := range xs {
		d.b.WriteString(`M` + short(x) + ` ` + short(y) + `h0`)
	}
	d.b.WriteString(`"/>`)
}

func (d *drawing) box(class string, x, y, w, h float64) {
	d.b.WriteString(`<rect class="` + class + `" x="` + short(x) + `" y="` + short(y) + `" width="` + short(max(w, 0)) + `" height="` + short(h) + `"/>`)
}

func (d *drawing) end() template.HTML {
	d.b.WriteString(`</svg>`)
	return template.HTML(d.b.String()) //nolint:gosec // made of numbers and class names of this package, and of escaped texts
}

// short is a coordinate to a tenth.
func short(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0"
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// axis maps values on a logarithmic scale to 0…width.
type axis struct{ low, high, width float64 } // low and high are logarithms

// around is the axis that holds all values and 1, with some room beside them.
func around(width float64, values []float64) axis {
	low, high := math.Log(0.97), math.Log(1.03)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, math.Log(v)), max(high, math.Log(v))
		}
	}
	room := (high - low) * 0.05
	return axis{low - room, high + room, width}
}

// at is where v lies, its ends beyond the axis on its ends.
func (a axis) at(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(max((math.Log(v)-a.low)/(a.high-a.low), 0), 1) * a.width
}

// tick is a mark on an axis.
type tick struct {
	At   float64
	Text string
}

// Left is where the tick stands, as a percentage.
func (t tick) Left() string { return short(t.At) + "%" }

// ratios are the marks of an axis of ratios, the roundest first and each only
// where it has room: apart is how much it needs of the whole, as a share.
func (a axis) ratios(apart float64) []tick {
	var out []tick
	for _, v := range []float64{
		1, 10, 0.1, 100, 0.01, 1000, 0.001, 1e4, 1e5, 1e6, 1e-4, 1e-5, 2, 0.5, 5, 0.2, 20, 0.05, 50, 0.02, 500, 200, 0.005, 0.002,
		1.5, 0.7, 3, 0.3, 1.25, 0.8, 1.1, 0.9, 1.2, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99,
	} {
		at := (math.Log(v) - a.low) / (a.high - a.low)
		free := at >= 0.02 && at <= 0.98
		for _, t := range out {
			free = free && math.Abs(t.At/100-at) >= apart
		}
		if free {
			out = append(out, tick{at * 100, strconv.FormatFloat(v, 'f', -1, 64)})
		}
	}
	return out
}

// series is how the drawings of the contender at a place look: a colour and a
// dash, the same everywhere on a page.
func series(i int) string {
	if i < 0 {
		return "s0 k0"
	}
	return "s" + strconv.Itoa(i%8) + " k" + strconv.Itoa(i/8%4)
}
