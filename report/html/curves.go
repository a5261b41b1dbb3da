package html

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/report"
)

// Room between the labels of axes, and beyond the values, as shares.
const (
	xApart, yApart = 0.12, 0.08
	curveMargin    = 0.05
)

// value is an absolute figure that counts.
func (b *builder) value(workload, contender, metric string) (float64, bool) {
	for _, v := range b.r.Values {
		if v.Workload == workload && v.Contender == contender && v.Metric == metric && !v.Struck && v.Value > 0 &&
			len(b.r.VoidsMetric(contender, workload, metric)) == 0 {
			return v.Value, true
		}
	}
	return 0, false
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

// drawLogs puts curves on two logarithmic axes.
func drawLogs(c plot.Chart, y func(float64) string) block {
	var xs, ys []float64
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	c.X, c.Y = plot.NewLogAxis(curveMargin, xs...), plot.NewLogAxis(curveMargin, ys...)
	c.XTicks, c.YTicks = c.X.Ticks(xApart, counted), c.Y.Ticks(yApart, y)
	return block{Chart: c.HTML()}
}

// growths draw time over size, one chart for each row of workloads that an
// exponent is fitted over.
func (b *builder) growths() []block {
	var out []block
	var done [][]string
	for _, s := range b.r.Scaling {
		if slices.ContainsFunc(done, func(w []string) bool { return slices.Equal(w, s.Workloads) }) {
			continue
		}
		done = append(done, s.Workloads)
		by := cmp.Or(s.By, tare.ByBytes)
		c := plot.Chart{
			ID: fmt.Sprintf("growth-%d", len(out)+1), Title: report.Legible(fmt.Sprintf("%s of %s by %s", s.Op, s.Fixture, by)),
			Means: "Time of one operation over " + string(by) + ". Both axes are logarithmic: the slope is the exponent.",
		}
		for _, own := range b.r.Scaling {
			if !slices.Equal(own.Workloads, s.Workloads) {
				continue
			}
			who, _ := b.r.Contender(own.Contender)
			curve := plot.Curve{Name: report.Legible(fmt.Sprintf("%s ^%.2f", who.Title(), own.Exponent)), Dots: true}
			for _, id := range own.Workloads {
				if v, ok := b.value(id, own.Contender, "time"); ok && b.size(id, by) > 0 {
					curve.Points = append(curve.Points, plot.Point{X: b.size(id, by), Y: v})
				}
			}
			if len(curve.Points) > 1 {
				c.Curves = append(c.Curves, curve)
			}
		}
		if len(c.Curves) > 0 {
			out = append(out, drawLogs(c, lasting))
		}
	}
	return out
}

// size is that of a workload; zero if it is not known.
func (b *builder) size(workload string, by tare.Extent) float64 {
	i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == workload })
	switch {
	case i < 0:
		return 0
	case by == tare.ByMembers:
		return float64(b.r.Workloads[i].Members)
	case by == tare.ByLevels:
		return float64(b.r.Workloads[i].Levels)
	}
	return b.r.Workloads[i].BodyBytes()
}

// leastSwept is how many workloads that differ in their load alone make a curve.
const leastSwept = 3

// sweep draws throughput against latency if workloads differ in their load alone.
func (b *builder) sweep() part {
	p := part{ID: keySweep, Heading: "Throughput and latency"}
	for _, works := range b.swept() {
		for _, metric := range []string{"p50", "p99"} {
			c := plot.Chart{
				ID: fmt.Sprintf("sweep-%d", len(p.Blocks)+1), Title: report.Legible(fmt.Sprintf("%s from %s to %s", metric, works[0].ID, works[len(works)-1].ID)),
				Means: metric + " of a request over requests per second. Both axes are logarithmic.",
			}
			for _, who := range b.r.Contenders {
				curve := plot.Curve{Name: report.Legible(who.Title()), Dots: true}
				for _, w := range works {
					rate, known := b.answered(w, who.ID)
					if v, ok := b.value(w.ID, who.ID, metric); ok && known {
						curve.Points = append(curve.Points, plot.Point{X: rate, Y: v})
					}
				}
				if len(curve.Points) > 1 {
					c.Curves = append(c.Curves, curve)
				}
			}
			if len(c.Curves) > 0 {
				p.Blocks = append(p.Blocks, drawLogs(c, lasting))
			}
		}
	}
	return p
}

// swept are the groups of workloads that differ in rate or connections alone, by
// their load.
func (b *builder) swept() [][]tare.Workload {
	var out [][]tare.Workload
	for _, w := range b.r.Workloads {
		if w.Traffic == nil {
			continue
		}
		i := slices.IndexFunc(out, func(group []tare.Workload) bool { return isAlike(group[0], w) })
		if i < 0 {
			out = append(out, []tare.Workload{w})
			continue
		}
		out[i] = append(out[i], w)
	}
	out = slices.DeleteFunc(out, func(group []tare.Workload) bool { return len(group) < leastSwept })
	for _, group := range out {
		slices.SortStableFunc(group, func(a, b tare.Workload) int {
			return cmp.Or(cmp.Compare(a.Traffic.Rate, b.Traffic.Rate), cmp.Compare(a.Traffic.Connections, b.Traffic.Connections))
		})
	}
	return out
}

// isAlike reports whether two workloads differ in their load alone.
func isAlike(a, b tare.Workload) bool {
	bare := func(w tare.Workload) tare.Workload {
		t := *w.Traffic
		t.Rate, t.Connections, t.Segment = 0, 0, 0
		w.ID, w.SHA256, w.Contenders, w.Slice, w.Traffic = "", "", nil, 0, &t
		return w
	}
	return (a.Traffic.Rate > 0) == (b.Traffic.Rate > 0) && reflect.DeepEqual(bare(a), bare(b))
}

// answered is how many requests a second: those asked for, or under a closed loop
// the inverse of the time.
func (b *builder) answered(w tare.Workload, contender string) (float64, bool) {
	if w.Traffic.Rate > 0 {
		return w.Traffic.Rate, true
	}
	v, ok := b.value(w.ID, contender, "time")
	return 1e9 / v, ok
}

// deepest is the highest quantile that a chart has room for, and lowest the lowest
// that is drawn: below it single requests would stretch the chart.
const (
	deepest = 0.9999
	lowest  = 0.1
)

// latency draws the percentiles of each workload, from the histograms of all rounds
// that count, joined.
func (b *builder) latency() part {
	p := part{ID: keyLatency, Heading: "Latency percentiles"}
	for _, w := range b.r.Workloads {
		c := plot.Chart{
			ID: fmt.Sprintf("latency-%d", len(p.Blocks)+1), Title: report.Legible("Latency percentiles on " + w.ID),
			Means: "Latency over the share of requests that take no longer, all rounds joined. Both axes are logarithmic.", X: plot.Axis{High: 1},
		}
		var ys []float64
		for _, who := range b.r.Contenders {
			h := b.histogram(who, w.ID)
			if h == nil {
				continue
			}
			curve := plot.Curve{Name: report.Legible(who.Title())}
			for _, q := range quantiles(min(max(1-10/float64(h.Count()), 0.5), deepest)) {
				v := float64(max(h.Quantile(q), 1))
				curve.Points, ys = append(curve.Points, plot.Point{X: nines(q), Y: v}), append(ys, v)
			}
			c.Curves = append(c.Curves, curve)
		}
		if len(c.Curves) == 0 {
			continue
		}
		c.Y = plot.NewLogAxis(curveMargin, ys...)
		c.YTicks = c.Y.Ticks(yApart, lasting)
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999, deepest} {
			c.XTicks = append(c.XTicks, plot.Tick{At: nines(q), Text: brief(q*100) + " %"})
		}
		p.Blocks = append(p.Blocks, block{Chart: c.HTML()})
	}
	return p
}

// histogram joins the rounds of a contender that count; nil if there are none, or
// they cannot be read.
func (b *builder) histogram(c tare.Contender, workload string) *hist.Hist {
	var out *hist.Hist
	if c.Role == tare.RoleTrap || len(b.r.Voids(c.ID, workload)) > 0 {
		return nil
	}
	for _, t := range b.r.Trials {
		text, ok := t.Histograms[workload]
		if !ok || t.Contender != c.ID || !t.Counts(workload) {
			continue
		}
		h, err := hist.Decode(text)
		if err != nil {
			continue
		}
		if out == nil {
			out = &hist.Hist{}
		}
		out.Merge(h)
	}
	if out == nil || out.Count() == 0 {
		return nil
	}
	return out
}

// nines is where a quantile stands on an axis on which every further nine takes as
// much room: 0 at 0, 1 at 99.99 %.
func nines(q float64) float64 { return math.Log10(1-q) / math.Log10(1-deepest) }

// quantiles are those that a curve goes through, up to the highest.
func quantiles(highest float64) []float64 {
	const steps = 100
	var out []float64
	for i := range steps + 1 {
		q := max(1-math.Pow(1-deepest, float64(i)/steps), lowest)
		if q >= highest {
			return append(out, highest)
		}
		out = append(out, q)
	}
	return out
}
