package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// chart is a drawing of curves on two axes. Its figures stand in a table beside
// it.
type chart struct {
	ID, Title, Desc string
	On              string // workload
	X, Y            string // what the axes are
	XTicks, YTicks  []tick
	Curves          []curve
	Zooms           bool
}

// curve is one contender's.
type curve struct {
	Who, Name, Class string
	Path, Marks      string // in thousandths of the area
}

// area is how many units an axis of a chart has.
const area = 1000

// log is a logarithmic axis of a chart.
type log struct{ low, high float64 }

// logged is the axis that holds all values.
func logged(values []float64) log {
	a := log{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			a.low, a.high = min(a.low, math.Log10(v)), max(a.high, math.Log10(v))
		}
	}
	if a.high < a.low {
		return log{0, 1}
	}
	room := max((a.high-a.low)*0.05, 0.02)
	return log{a.low - room, a.high + room}
}

// at is where v lies, as a share.
func (a log) at(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return (math.Log10(v) - a.low) / (a.high - a.low)
}

// ticks are round values with room between them, as percentages.
func (a log) ticks(apart float64, text func(float64) string) []tick {
	var out []tick
	for _, steps := range [][]float64{{1}, {2, 5}, {3, 7, 1.5}, {1.2, 1.7, 2.5, 4, 6, 8, 9}, {1.1, 1.3, 1.4, 1.6, 1.8, 2.2}} {
		for e := math.Floor(a.low); e <= a.high; e++ {
			for _, s := range steps {
				v := s * math.Pow(10, e)
				at, free := a.at(v), true
				for _, t := range out {
					free = free && math.Abs(t.At/100-at) >= apart
				}
				if free && at >= 0 && at <= 1 {
					out = append(out, tick{at * 100, text(v)})
				}
			}
		}
		if len(out) >= 4 {
			break
		}
	}
	return out
}

// upward turns the ticks of a vertical axis: zero is above.
func upward(ticks []tick) []tick {
	for i := range ticks {
		ticks[i].At = 100 - ticks[i].At
	}
	return ticks
}

// point is a place in a chart, in shares from the lower left.
type point struct{ x, y float64 }

// traced is the path through points.
func traced(points []point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(short(p.x*area) + " " + short((1-p.y)*area))
	}
	return b.String()
}

// marked is a dot on each of the points.
func marked(points []point) string {
	var b strings.Builder
	for _, p := range points {
		b.WriteString("M" + short(p.x*area) + " " + short((1-p.y)*area) + "h0")
	}
	return b.String()
}

// curve begins that of a contender. Those that are ranked take the colours that
// are easiest to distinguish.
func (b *builder) curve(c tare.Contender) curve {
	switch c.Role {
	case tare.RoleControl:
		return curve{Who: c.ID, Name: report.Legible(c.Title()), Class: "sx k2"}
	case tare.RoleNull:
		return curve{Who: c.ID, Name: report.Legible(c.Title()), Class: "sx k1"}
	}
	place := 0
	for _, first := range []bool{true, false} {
		for _, x := range b.r.Contenders {
			if (x.Role == tare.RoleBaseline || x.Role == tare.RoleContender) != first {
				continue
			}
			if x.ID == c.ID {
				return curve{Who: c.ID, Name: report.Legible(c.Title()), Class: series(place)}
			}
			place++
		}
	}
	return curve{Who: c.ID, Name: report.Legible(c.Title()), Class: series(0)}
}

// lasting prints nanoseconds on an axis.
func lasting(ns float64) string {
	for _, step := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= step.ns*0.9999 {
			return brief(ns/step.ns) + " " + step.name
		}
	}
	return brief(ns) + " ns"
}

// brief prints a figure of an axis.
func brief(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// counted prints a count on an axis: 20k.
func counted(x float64) string {
	switch {
	case x >= 0.9999e6:
		return brief(x/1e6) + "M"
	case x >= 0.9999e3:
		return brief(x/1e3) + "k"
	}
	return brief(x)
}

// identified is a name for the element of chart i of a sort.
func identified(sort string, i int) string { return fmt.Sprintf("%s-%d", sort, i+1) }
