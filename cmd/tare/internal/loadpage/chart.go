package loadpage

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

const (
	mostNines = 5
	side      = 1000 // units of a drawing's width and height
	curveAt   = 200  // points of a curve over quantiles
	mostSpans = 150  // columns of drawings over time
	shades    = 8    // of a heat map
)

// drawing is one chart of a page: curves, or the shades of a heat map.
type drawing struct {
	ID, Title, Desc, X, Y string
	XTicks, YTicks        []tick
	Curves                []curve
	Shades                []shade
}

type tick struct{ At, Text string } // At is in percent

type curve struct{ Class, Name, Path string }

type shade struct{ Opacity, Path string }

// scale maps values to shares of an axis, which is logarithmic or linear.
type scale struct {
	low, high float64
	log       bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(max(v, 1)), math.Log(low), math.Log(high)
	}
	if high <= low {
		return 0
	}
	return min(max((v-low)/(high-low), 0), 1)
}

// latencyScale holds all latencies from low to high ns, with room around a
// single one.
func latencyScale(low, high int64) scale {
	s := scale{low: float64(max(low, 1)), high: float64(max(high, 2)), log: true}
	if s.high < s.low*2 {
		s.low, s.high = s.low/1.5, s.high*1.5
	}
	return s
}

// latencyTicks are decades of a logarithmic axis, and their halves where there
// are few.
func latencyTicks(s scale) []tick {
	steps := []float64{1}
	switch decades := math.Log10(s.high / s.low); {
	case decades < 0.7:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}
	case decades < 2.5:
		steps = []float64{1, 2, 5}
	}
	var out []tick
	for decade := math.Pow(10, math.Floor(math.Log10(s.low))); decade <= s.high; decade *= 10 {
		for _, step := range steps {
			if v := step * decade; v >= s.low && v <= s.high {
				out = append(out, tick{percent(1 - s.at(v)), Spell(int64(math.Round(v)))})
			}
		}
	}
	return out
}

// roundTicks are four to ten round values of a linear axis.
func roundTicks(s scale, up bool, text func(float64) string) []tick {
	step := math.Pow(10, math.Floor(math.Log10(max(s.high-s.low, 1e-9))))
	for _, finer := range []float64{1, 2, 5} {
		if (s.high-s.low)/(step/finer) >= 4 {
			step /= finer
			break
		}
	}
	var out []tick
	for v := math.Ceil(s.low/step) * step; v <= s.high+step/1e6; v += step {
		at := s.at(v)
		if up {
			at = 1 - at
		}
		out = append(out, tick{percent(at), text(v)})
	}
	return out
}

func percent(share float64) string { return brief(share*100) + "%" }

func brief(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

// path draws through points, which are shares from the lower left.
func path(points [][2]float64) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(brief(p[0]*side) + " " + brief((1-p[1])*side))
	}
	if len(points) == 1 {
		b.WriteString("h1")
	}
	return b.String()
}

// named is a distribution with the name of its curve.
type named struct {
	name string
	h    *hist.Hist
}

// quantiles draws distributions: to the right 100 % comes nearer, by a nine for
// each part of the axis.
func quantiles(all []named) *drawing {
	all = slices.DeleteFunc(all, func(n named) bool { return n.h == nil || n.h.Count() < 10 })
	if len(all) == 0 {
		return nil
	}
	nines, low, high := 1, int64(math.MaxInt64), int64(0)
	for _, n := range all {
		nines = max(nines, min(int(math.Log10(float64(n.h.Count()))), mostNines))
		low, high = min(low, n.h.Min()), max(high, n.h.Max())
	}
	s := latencyScale(low, high)
	d := &drawing{
		ID: "quantiles", Title: "Latency of each percentile", X: "share of the requests that were at least as fast", Y: "latency", YTicks: latencyTicks(s),
		Desc: "Both axes are logarithmic: to the right, 100 % comes nearer by a nine for each part.",
	}
	for n := range nines + 1 {
		text := strconv.FormatFloat(100-100*math.Pow(10, -float64(n)), 'f', max(0, n-2), 64) + " %"
		d.XTicks = append(d.XTicks, tick{percent(float64(n) / float64(nines)), text})
	}
	for i, n := range all {
		var points [][2]float64
		for j := range curveAt + 1 {
			x := float64(j) / curveAt
			points = append(points, [2]float64{x, s.at(float64(n.h.Quantile(1 - math.Pow(10, -x*float64(nines)))))})
		}
		d.Curves = append(d.Curves, curve{fmt.Sprintf("s%d", i), n.name, path(points)})
	}
	return d
}

// span is some seconds of a leg as one column: rates in the mean, quantiles the
// greatest.
type span struct {
	from, to      time.Duration
	rate, failing float64 // each second
	p50, p99, max time.Duration
	bins          map[int64]hist.Bin
}

// spans are the seconds of a leg in at most so many columns.
func spans(seconds []load.Second, most int) []span {
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

// overTime is the axis of time that spans lie on, in seconds.
func overTime(all []span) scale { return scale{high: all[len(all)-1].to.Seconds()} }

func secondsTicks(s scale) []tick {
	return roundTicks(s, false, func(v float64) string { return brief(v) + " s" })
}

func middle(s span) float64 { return (s.from + s.to).Seconds() / 2 }

// lines draws one or more values of each span.
func lines(d *drawing, all []span, y scale, names []string, values ...func(span) float64) *drawing {
	x := overTime(all)
	d.X, d.XTicks = "since measuring began", secondsTicks(x)
	for i, value := range values {
		var points [][2]float64
		for _, s := range all {
			points = append(points, [2]float64{x.at(middle(s)), y.at(value(s))})
		}
		d.Curves = append(d.Curves, curve{fmt.Sprintf("s%d", i), names[i], path(points)})
	}
	return d
}

// rates draws what was answered and what failed each second.
func rates(all []span) *drawing {
	y := scale{}
	failed := false
	for _, s := range all {
		y.high = max(y.high, s.rate, s.failing)
		failed = failed || s.failing > 0
	}
	y.high = max(y.high*1.05, 1)
	names := []string{"answered", "failed"}
	values := []func(span) float64{func(s span) float64 { return s.rate }, func(s span) float64 { return s.failing }}
	if !failed {
		values = values[:1]
	}
	d := &drawing{ID: "rates", Title: "Requests per second", Desc: "Requests answered and failed in each second.", Y: "requests per second", YTicks: roundTicks(y, true, brief)}
	return lines(d, all, y, names, values...)
}

// latencies draws quantiles of each second.
func latencies(all []span) *drawing {
	low, high := int64(math.MaxInt64), int64(0)
	for _, s := range all {
		if s.max > 0 {
			low, high = min(low, int64(s.p50)), max(high, int64(s.max))
		}
	}
	if high == 0 {
		return nil
	}
	y := latencyScale(low, high)
	d := &drawing{ID: "latencies", Title: "Latency of each second", Desc: "Median, 99th percentile and maximum of each second, on a logarithmic axis.", Y: "latency", YTicks: latencyTicks(y)}
	answered := slices.DeleteFunc(slices.Clone(all), func(s span) bool { return s.max == 0 })
	out := lines(d, answered, y, []string{"p50", "p99", "max"},
		func(s span) float64 { return float64(s.p50) }, func(s span) float64 { return float64(s.p99) }, func(s span) float64 { return float64(s.max) })
	return out
}

// heat draws how many requests of each span had each latency. The shade is on
// a logarithmic scale, so that few slow requests are seen beside many fast ones.
func heat(all []span) *drawing {
	low, high, most := int64(math.MaxInt64), int64(0), int64(0)
	for _, s := range all {
		for _, b := range s.bins {
			low, high, most = min(low, b.Low), max(high, b.High), max(most, b.Count)
		}
	}
	if most == 0 {
		return nil
	}
	x, y := overTime(all), latencyScale(low, high)
	paths := make([]strings.Builder, shades)
	for _, s := range all {
		left, right := x.at(s.from.Seconds()), x.at(s.to.Seconds())
		for _, low := range sortedKeys(s.bins) {
			b := s.bins[low]
			top, bottom := 1-y.at(float64(b.High)), 1-y.at(float64(b.Low))
			fmt.Fprintf(&paths[shadeOf(b.Count, most)], "M%s %sH%sV%sH%sz", brief(left*side), brief(top*side), brief(right*side), brief(bottom*side), brief(left*side))
		}
	}
	d := &drawing{
		ID: "heat", Title: "Latency over time", X: "since measuring began", Y: "latency", XTicks: secondsTicks(x), YTicks: latencyTicks(y),
		Desc: fmt.Sprintf("Each cell is a stretch of time and a range of latencies. The darker, the more requests; the scale is logarithmic, up to %s.", Counted(most)),
	}
	for i := range paths {
		if paths[i].Len() > 0 {
			d.Shades = append(d.Shades, shade{strconv.FormatFloat(float64(i+1)/shades, 'g', 3, 64), paths[i].String()})
		}
	}
	return d
}

// shadeOf is the shade of a count, of which the greatest is most.
func shadeOf(count, most int64) int {
	if most <= 1 {
		return shades - 1
	}
	return min(int(math.Log(float64(count))/math.Log(float64(most))*shades), shades-1)
}

func sortedKeys(bins map[int64]hist.Bin) []int64 {
	out := make([]int64, 0, len(bins))
	for low := range bins {
		out = append(out, low)
	}
	slices.Sort(out)
	return out
}
