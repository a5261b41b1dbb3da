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

// This file draws the charts of a load test: latencies by quantile, and rates and latencies over
// time.

const (
	maxNines     = 5  // the axis of quantiles ends at 99.999 % (five nines) at most
	minPlotted   = 10 // requests that a curve of quantiles needs: 10 show the 90 % quantile, one nine
	curvePoints  = 200
	maxSpans     = 150  // columns of charts over time
	shadeCount   = 8    // shades of a heat map
	tickDistance = 0.09 // least distance between labels, as a share of the axis
)

// newLatencyAxis returns a logarithmic axis in ns. It covers at least a factor of 2, so that a single
// value has room.
func newLatencyAxis(low, high int64) plot.Axis {
	a := plot.Axis{Low: float64(max(low, 1)), High: float64(max(high, 2)), Log: true}
	if a.High < a.Low*2 {
		a.Low, a.High = a.Low/1.5, a.High*1.5
	}
	return a
}

// spellTick formats a latency in ns with at most three significant digits.
func spellTick(v float64) string {
	i := 0
	for ; v >= 999.5 && i < 3; i++ { // 999.5 would be rounded to 1e+03
		v /= 1000
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + []string{"ns", "µs", "ms", "s"}[i]
}

func formatRounded(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

type namedHist struct {
	name string
	h    *hist.Hist
}

// CountNines returns the nines of the highest quantile of an axis, at most maxNines. A quantile with n
// nines needs 10^n latencies.
func CountNines(h *hist.Hist) int { return min(int(math.Log10(float64(h.Count()))), maxNines) }

// QuantileAt returns the quantile with a number of nines, 1 − 10^−nines: 0.9 with 1, 0.99 with 2. On an
// axis of nines, equal steps lead from 0 to 90 %, 99 %, 99.9 % and so on.
func QuantileAt(nines float64) float64 { return 1 - math.Pow(10, -nines) }

// FormatNines returns the quantile with a number of nines in percent: 0, 90, 99, 99.9.
func FormatNines(n int) string {
	return strconv.FormatFloat(100*QuantileAt(float64(n)), 'f', max(0, n-2), 64)
}

// drawQuantiles draws distributions and the latency objectives, on an axis of nines.
func drawQuantiles(all []namedHist, limits []plot.Limit) template.HTML {
	all = slices.DeleteFunc(all, func(n namedHist) bool { return n.h == nil || n.h.Count() < minPlotted })
	if len(all) == 0 {
		return ""
	}
	nines, low, high := 1, int64(math.MaxInt64), int64(0)
	for _, n := range all {
		nines = max(nines, CountNines(n.h))
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
		c.XTicks = append(c.XTicks, plot.Tick{At: float64(n) / float64(nines), Text: FormatNines(n) + " %"})
	}
	for _, n := range all {
		curve := plot.Curve{Name: n.name}
		for j := range curvePoints + 1 {
			x := float64(j) / curvePoints * float64(nines)
			curve.Points = append(curve.Points, plot.Point{X: x, Y: float64(n.h.Quantile(QuantileAt(x)))})
		}
		c.Curves = append(c.Curves, curve)
	}
	return c.HTML()
}

// span is a column of a chart over time, of one or more consecutive seconds.
type span struct {
	from, to      time.Duration      // time since measuring began
	rate, failing float64            // responses and failures per second, in the mean of the seconds
	p50, p99, max time.Duration      // the greatest of any second
	bins          map[int64]hist.Bin // bins of latencies, by lower end
}

func mergeSeconds(seconds []load.Second, maxColumns int) []span {
	perColumn := (len(seconds) + maxColumns - 1) / maxColumns // rounded up
	var out []span
	for start := 0; start < len(seconds); start += perColumn {
		group := seconds[start:min(start+perColumn, len(seconds))]
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

// drawTime draws rates above a heat map of latencies, over the same time axis. It returns "" without
// responses.
func drawTime(all []span, limits []plot.Limit) template.HTML {
	low, high, maxCount := int64(math.MaxInt64), int64(0), int64(0)
	for _, s := range all {
		for _, b := range s.bins {
			low, high, maxCount = min(low, b.Low), max(high, b.High), max(maxCount, b.Count)
		}
	}
	if maxCount == 0 {
		return ""
	}
	x := plot.Axis{High: all[len(all)-1].to.Seconds()}
	ticks := x.Ticks(0, func(v float64) string { return formatRounded(v) + " s" })
	return drawRates(all, x, ticks) + drawHeatMap(all, limits, x, ticks, newLatencyAxis(low, high), maxCount)
}

func (s span) middleSeconds() float64 { return (s.from + s.to).Seconds() / 2 }

// drawRates draws responses per second, and failures if there are any.
func drawRates(all []span, x plot.Axis, ticks []plot.Tick) template.HTML {
	maxRate, hasFailures := 1.0, false
	answered, failed := plot.Curve{Name: "answered"}, plot.Curve{Name: "failed", Class: "fail"}
	for _, s := range all {
		maxRate, hasFailures = max(maxRate, s.rate, s.failing), hasFailures || s.failing > 0
		answered.Points = append(answered.Points, plot.Point{X: s.middleSeconds(), Y: s.rate})
		failed.Points = append(failed.Points, plot.Point{X: s.middleSeconds(), Y: s.failing})
	}
	c := plot.Chart{
		ID: "rates", Title: "Answered each second", Means: "Requests per second, since measuring began.", Low: true,
		X: x, Y: plot.Axis{High: maxRate * 1.05}, XTicks: ticks, Curves: []plot.Curve{answered}, // 1.05: room above
	}
	c.YTicks = []plot.Tick{{Text: "0"}, {At: c.Y.At(maxRate), Text: formatRounded(maxRate)}}
	if hasFailures {
		c.Curves = append(c.Curves, failed)
	}
	return c.HTML()
}

// drawHeatMap draws the numbers of requests by time and latency as cells, and lines for the median
// and the 99th percentile. maxCount is the greatest number in a cell.
func drawHeatMap(all []span, limits []plot.Limit, x plot.Axis, ticks []plot.Tick, y plot.Axis, maxCount int64) template.HTML {
	heat := plot.Chart{
		ID: "heat", Title: "Latency over time", X: x, Y: y, XTicks: ticks,
		Means: fmt.Sprintf("The darker, the more requests; logarithmic, up to %s in a cell. Lines: the median and the 99th percentile of each second.", FormatCount(maxCount)),
	}
	for _, l := range limits {
		if l.At >= heat.Y.Low && l.At <= heat.Y.High {
			heat.Limits = append(heat.Limits, l)
		}
	}
	heat.YTicks = heat.Y.Ticks(tickDistance, spellTick)
	heat.Shades = make([]plot.Shade, shadeCount)
	p50, p99 := plot.Curve{Name: "p50", Class: "s7"}, plot.Curve{Name: "p99", Class: "s7 k1"}
	for _, s := range all {
		for _, b := range s.bins {
			i := shadeOf(b.Count, maxCount)
			heat.Shades[i].Opacity = float64(i+1) / shadeCount
			heat.Shades[i].Cells = append(heat.Shades[i].Cells, plot.Cell{Left: s.from.Seconds(), Right: s.to.Seconds(), Low: float64(b.Low), High: float64(b.High)})
		}
		if s.max > 0 {
			p50.Points = append(p50.Points, plot.Point{X: s.middleSeconds(), Y: float64(s.p50)})
			p99.Points = append(p99.Points, plot.Point{X: s.middleSeconds(), Y: float64(s.p99)})
		}
	}
	heat.Shades = slices.DeleteFunc(heat.Shades, func(s plot.Shade) bool { return len(s.Cells) == 0 })
	for _, s := range heat.Shades { // the order of bins, which are in a map, is random
		slices.SortFunc(s.Cells, func(a, b plot.Cell) int {
			return cmp.Or(cmp.Compare(a.Left, b.Left), cmp.Compare(a.Low, b.Low))
		})
	}
	heat.Curves = []plot.Curve{p50, p99}
	return heat.HTML()
}

// shadeOf returns the index of the shade of a count, up to shadeCount-1 for maxCount. Shades are
// logarithmic, so that a few slow requests are visible.
func shadeOf(count, maxCount int64) int {
	if maxCount <= 1 {
		return shadeCount - 1
	}
	return min(int(math.Log(float64(count))/math.Log(float64(maxCount))*shadeCount), shadeCount-1)
}
