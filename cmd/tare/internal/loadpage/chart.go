package loadpage

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

const (
	maxNines     = 5
	curvePoints  = 200  // points of a curve of quantiles
	maxSpans     = 150  // columns of charts over time
	shadeCount   = 8    // of a heat map
	tickDistance = 0.09 // between labels, as a share of the axis
)

// newLatencyAxis returns a logarithmic axis from low to high ns, with room around a single
// value.
func newLatencyAxis(low, high int64) plot.Axis {
	a := plot.Axis{Low: float64(max(low, 1)), High: float64(max(high, 2)), Log: true}
	if a.High < a.Low*2 {
		a.Low, a.High = a.Low/1.5, a.High*1.5
	}
	return a
}

// spellTick formats a latency in ns for an axis.
func spellTick(v float64) string {
	i := 0
	for ; v >= 999.5 && i < 3; i++ {
		v /= 1000
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + []string{"ns", "µs", "ms", "s"}[i]
}

func formatRounded(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

// namedHist is a distribution with the name of its curve.
type namedHist struct {
	name string
	h    *hist.Hist
}

// drawQuantiles draws distributions with the latency objectives: each part of the horizontal
// axis adds a nine. It returns "" if no distribution has ten requests.
func drawQuantiles(all []namedHist, limits []plot.Limit) template.HTML {
	all = slices.DeleteFunc(all, func(n namedHist) bool { return n.h == nil || n.h.Count() < 10 })
	if len(all) == 0 {
		return ""
	}
	nines, low, high := 1, int64(math.MaxInt64), int64(0)
	for _, n := range all {
		nines = max(nines, min(int(math.Log10(float64(n.h.Count()))), maxNines))
		low, high = min(low, n.h.Min()), max(high, n.h.Max())
	}
	for _, l := range limits {
		low, high = min(low, int64(l.At)), max(high, int64(l.At))
	}
	c := plot.Chart{
		ID: "quantiles", Title: "Latency of each percentile", Means: "Share of the requests that were at least as fast; both axes are logarithmic.",
		X: plot.Axis{High: float64(nines)}, Y: newLatencyAxis(low, high), Limits: limits,
	}
	c.YTicks = c.Y.Ticks(tickDistance, spellTick)
	for n := range nines + 1 {
		text := strconv.FormatFloat(100-100*math.Pow(10, -float64(n)), 'f', max(0, n-2), 64) + " %"
		c.XTicks = append(c.XTicks, plot.Tick{At: float64(n) / float64(nines), Text: text})
	}
	for _, n := range all {
		curve := plot.Curve{Name: n.name}
		for j := range curvePoints + 1 {
			x := float64(j) / curvePoints * float64(nines)
			curve.Points = append(curve.Points, plot.Point{X: x, Y: float64(n.h.Quantile(1 - math.Pow(10, -x)))})
		}
		c.Curves = append(c.Curves, curve)
	}
	return c.HTML()
}

// span merges some seconds into one column: mean rates and the greatest quantiles.
type span struct {
	from, to      time.Duration
	rate, failing float64 // per second
	p50, p99, max time.Duration
	bins          map[int64]hist.Bin
}

// mergeSeconds merges the seconds into at most most columns.
func mergeSeconds(seconds []load.Second, most int) []span {
	each := (len(seconds) + most - 1) / most
	var out []span
	for at := 0; at < len(seconds); at += each {
		group := seconds[at:min(at+each, len(seconds))]
		s := span{from: group[0].At, to: group[len(group)-1].At + time.Second, bins: map[int64]hist.Bin{}}
		for _, second := range group {
			s.rate += float64(second.Requests) / float64(len(group))
			s.failing += float64(second.Errors) / float64(len(group))
			s.p50, s.p99, s.max = max(s.p50, second.P50), max(s.p99, second.P99), max(s.max, second.Max)
			for _, b := range second.Bins {
				b.Count += s.bins[b.Low].Count
				s.bins[b.Low] = b
			}
		}
		out = append(out, s)
	}
	return out
}

// drawTime draws responses and failures per second above a heat map of latencies, on one time
// axis. Shades are logarithmic, so that a few slow requests are visible. It returns "" without
// responses.
func drawTime(all []span, limits []plot.Limit) template.HTML {
	low, high, most, rate, failed := int64(math.MaxInt64), int64(0), int64(0), 1.0, false
	for _, s := range all {
		rate, failed = max(rate, s.rate, s.failing), failed || s.failing > 0
		for _, b := range s.bins {
			low, high, most = min(low, b.Low), max(high, b.High), max(most, b.Count)
		}
	}
	if most == 0 {
		return ""
	}
	x := plot.Axis{High: all[len(all)-1].to.Seconds()}
	ticks := x.Ticks(0, func(v float64) string { return formatRounded(v) + " s" })
	above := plot.Chart{ID: "rates", Title: "Answered each second", Means: "Requests per second, since measuring began.", Low: true, X: x, Y: plot.Axis{High: rate * 1.05}, XTicks: ticks}
	above.YTicks = []plot.Tick{{Text: "0"}, {At: above.Y.At(rate), Text: formatRounded(rate)}}
	lines := []plot.Curve{{Name: "answered"}, {Name: "failed", Class: "fail"}}
	for _, s := range all {
		at := (s.from + s.to).Seconds() / 2
		lines[0].Points = append(lines[0].Points, plot.Point{X: at, Y: s.rate})
		lines[1].Points = append(lines[1].Points, plot.Point{X: at, Y: s.failing})
	}
	if above.Curves = lines; !failed {
		above.Curves = lines[:1]
	}
	heat := plot.Chart{
		ID: "heat", Title: "Latency over time", X: x, Y: newLatencyAxis(low, high), XTicks: ticks,
		Means: fmt.Sprintf("The darker, the more requests; logarithmic, up to %s in a cell. Lines: the median and the 99th percentile of each second.", Counted(most)),
	}
	for _, l := range limits {
		if l.At >= heat.Y.Low && l.At <= heat.Y.High {
			heat.Limits = append(heat.Limits, l)
		}
	}
	heat.YTicks = heat.Y.Ticks(tickDistance, spellTick)
	heat.Shades = make([]plot.Shade, shadeCount)
	middle, high99 := plot.Curve{Name: "p50", Class: "s7"}, plot.Curve{Name: "p99", Class: "s7 k1"}
	for _, s := range all {
		for _, b := range s.bins {
			i := shadeOf(b.Count, most)
			heat.Shades[i].Opacity = float64(i+1) / shadeCount
			heat.Shades[i].Cells = append(heat.Shades[i].Cells, plot.Cell{Left: s.from.Seconds(), Right: s.to.Seconds(), Low: float64(b.Low), High: float64(b.High)})
		}
		if s.max > 0 {
			at := (s.from + s.to).Seconds() / 2
			middle.Points = append(middle.Points, plot.Point{X: at, Y: float64(s.p50)})
			high99.Points = append(high99.Points, plot.Point{X: at, Y: float64(s.p99)})
		}
	}
	heat.Shades = slices.DeleteFunc(heat.Shades, func(s plot.Shade) bool { return len(s.Cells) == 0 })
	for _, s := range heat.Shades { // bins have no order
		slices.SortFunc(s.Cells, func(a, b plot.Cell) int {
			return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Low, b.Low))
		})
	}
	heat.Curves = []plot.Curve{middle, high99}
	return above.HTML() + heat.HTML()
}

// shadeOf returns the shade of a count. The greatest count is most.
func shadeOf(count, most int64) int {
	if most <= 1 {
		return shadeCount - 1
	}
	return min(int(math.Log(float64(count))/math.Log(float64(most))*shadeCount), shadeCount-1)
}
