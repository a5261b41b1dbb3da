// Package plot draws the charts of tare's pages as SVG: intervals on one axis ([Scale]), bars
// ([Bar], [Stack]), curves ([Chart]), and values over runs ([Trend]). Positions are percentages, so
// a drawing fits any width. Pages include [Style] once.
package plot

import (
	_ "embed"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

//go:embed plot.css
var style string

// Style returns the style sheet of all drawings.
func Style() string { return style }

// Axis maps the values from Low to High to shares of its length, from 0 to 1.
type Axis struct {
	Low, High float64
	Log       bool // logarithmic; Low and High are then above zero
}

// NewLogAxis returns a logarithmic axis that contains all positive, finite values. margin is the
// free part at each end, as a share of its length. Without values the axis reaches from 1 to 10.
func NewLogAxis(margin float64, values ...float64) Axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, math.Log(v)), max(high, math.Log(v))
		}
	}
	if high < low {
		return Axis{Low: 1, High: 10, Log: true}
	}
	const minMargin = 0.02 // for a single value
	room := max((high-low)*margin, minMargin)
	return Axis{Low: math.Exp(low - room), High: math.Exp(high + room), Log: true}
}

// At returns the position of v as a share of the axis. Values beyond an end are at that end.
func (a Axis) At(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		if !(v > 0) {
			return 0
		}
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if !(high > low) || math.IsNaN(v) {
		return 0
	}
	return min(max((v-low)/(high-low), 0), 1)
}

// Tick is a labelled position on an axis.
type Tick struct {
	At   float64 // share of the axis
	Text string
}

// Ticks returns ticks at round values, the roundest first. On a logarithmic axis no two ticks are
// closer than distance, a share of the axis. text returns the label of a value.
func (a Axis) Ticks(distance float64, text func(float64) string) []Tick {
	if !a.Log {
		return a.linearTicks(text)
	}
	const enough = 4 // number of ticks; if there are fewer, less round values are added
	var out []Tick
	// Multiples of powers of ten, the roundest first.
	for _, steps := range [][]float64{{1}, {2, 5}, {3, 7, 1.5}, {1.2, 1.7, 2.5, 4, 6, 8, 9}, {1.1, 1.3, 1.4, 1.6, 1.8, 2.2}} {
		for exponent := math.Floor(math.Log10(a.Low)); exponent <= math.Log10(a.High); exponent++ {
			for _, s := range steps {
				out = a.addTick(out, s*math.Pow(10, exponent), distance, text)
			}
		}
		if len(out) >= enough {
			break
		}
	}
	return out
}

// RatioTicks returns ticks at 1 and at values around it, the most important first. These are powers
// of ten on a long axis, otherwise powers of two and round percentages. No two are closer than
// distance, a share of the axis.
func (a Axis) RatioTicks(distance float64) []Tick {
	values := []float64{1, 2, 0.5, 4, 0.25, 8, 0.125, 16, 0.0625, 32, 1.5, 0.75, 1.25, 0.8, 1.1, 0.9, 1.2, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99}
	if a.High > 40*a.Low {
		values = []float64{1, 10, 0.1, 100, 0.01, 1000, 0.001, 1e4, 1e-4, 1e5, 1e-5, 1e6, 1e-6, 3, 0.3, 30, 0.03, 300, 0.003}
	}
	var out []Tick
	for _, v := range values {
		if v >= a.Low && v <= a.High {
			out = a.addTick(out, v, distance, formatRatio)
		}
	}
	return out
}

func formatRatio(v float64) string { return format.Trimmed(v, 6) + "×" }

func (a Axis) addTick(ticks []Tick, v, distance float64, text func(float64) string) []Tick {
	if v < a.Low || v > a.High {
		return ticks
	}
	pos := a.At(v)
	for _, t := range ticks {
		if math.Abs(t.At-pos) < distance {
			return ticks
		}
	}
	return append(ticks, Tick{At: pos, Text: text(v)})
}

// linearTicks returns four to ten ticks at round values.
func (a Axis) linearTicks(text func(float64) string) []Tick {
	step := math.Pow(10, math.Floor(math.Log10(max(a.High-a.Low, 1e-9))))
	for _, divisor := range []float64{1, 2, 5} {
		if (a.High-a.Low)/(step/divisor) >= 4 {
			step /= divisor
			break
		}
	}
	var out []Tick
	for v := math.Ceil(a.Low/step) * step; v <= a.High+step/1e6; v += step { // step/1e6 for rounding errors
		out = append(out, Tick{At: a.At(v), Text: text(v)})
	}
	return out
}

// Number prints a coordinate with at most two decimals, or 0 if it is not finite.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}

// formatPercent prints one decimal, which is a pixel of a drawing 1,000 wide.
func formatPercent(share float64) string { return Number(math.Round(share*1000)/10) + "%" }

// drawing builds an SVG element as text.
type drawing struct{ strings.Builder }

// addElement adds an empty element. attributes are pairs of name and value.
func (d *drawing) addElement(name, class string, attributes ...string) {
	d.openTag(name, class, attributes)
	d.WriteString("/>")
}

func (d *drawing) addText(class, text string, attributes ...string) {
	d.openTag("text", class, attributes)
	d.WriteString(">" + template.HTMLEscapeString(text) + "</text>")
}

// openTag writes a tag without its end.
func (d *drawing) openTag(name, class string, attributes []string) {
	d.WriteString("<" + name)
	if class != "" {
		d.WriteString(` class="` + class + `"`)
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		d.WriteString(" " + attributes[i] + `="` + attributes[i+1] + `"`)
	}
}

func (d *drawing) closeDrawing() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // made of numbers and class names of this package, and of escaped texts
}
