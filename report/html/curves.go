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

// This file draws curves: time over size, latency over throughput, and latency percentiles. The constants are
// shares of an axis.
const (
	xTickGap    = 0.12 // least distance of horizontal labels
	yTickGap    = 0.08 // least distance of vertical labels
	curveMargin = 0.05 // empty space at both ends
)

// roundUp is the share of a unit from which that unit is used: 0.99995 ms is not printed in µs.
const roundUp = 0.9999

// findValue returns the value of a contender if it is positive and not void.
func (b *builder) findValue(workload, contender, metric string) (float64, bool) {
	if len(b.r.VoidsMetric(contender, workload, metric)) > 0 {
		return 0, false
	}
	for _, v := range b.r.Values {
		isNamed := v.Workload == workload && v.Contender == contender && v.Metric == metric
		if isNamed && !v.Struck && v.Value > 0 {
			return v.Value, true
		}
	}
	return 0, false
}

func formatNS(ns float64) string {
	for _, step := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= step.ns*roundUp {
			return formatShort(ns/step.ns) + " " + step.name
		}
	}
	return formatShort(ns) + " ns"
}

func formatShort(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// formatCount prints a count on an axis: 20k.
func formatCount(x float64) string {
	switch {
	case x >= 1e6*roundUp:
		return formatShort(x/1e6) + "M"
	case x >= 1e3*roundUp:
		return formatShort(x/1e3) + "k"
	}
	return formatShort(x)
}

// newLogChart draws the curves of c on two logarithmic axes. formatY prints vertical labels.
func newLogChart(c plot.Chart, formatY func(float64) string) block {
	var xs, ys []float64
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	c.X, c.Y = plot.NewLogAxis(curveMargin, xs...), plot.NewLogAxis(curveMargin, ys...)
	c.XTicks, c.YTicks = c.X.Ticks(xTickGap, formatCount), c.Y.Ticks(yTickGap, formatY)
	return block{Chart: c.HTML()}
}

// newGrowthCharts draws time over size. There is a chart per set of workloads with a fit time ~ size^exponent.
func (b *builder) newGrowthCharts() []block {
	var out []block
	var done [][]string // sets of workloads with a chart
	for _, s := range b.r.Scaling {
		if slices.ContainsFunc(done, func(w []string) bool { return slices.Equal(w, s.Workloads) }) {
			continue
		}
		done = append(done, s.Workloads)
		by := cmp.Or(s.By, tare.ByBytes) // what a size counts, e.g. bytes
		c := plot.Chart{
			ID: fmt.Sprintf("growth-%d", len(out)+1), Title: report.Legible(fmt.Sprintf("%s of %s by %s", s.Op, s.Fixture, by)),
			Means: "Time of one operation over " + string(by) + ". Both axes are logarithmic: the slope is the exponent.",
		}
		for _, fit := range b.r.Scaling { // one per contender
			if !slices.Equal(fit.Workloads, s.Workloads) {
				continue
			}
			contender, _ := b.r.Contender(fit.Contender)
			curve := plot.Curve{Name: report.Legible(fmt.Sprintf("%s ^%.2f", contender.Title(), fit.Exponent)), Dots: true}
			for _, id := range fit.Workloads {
				size := b.findSize(id, by)
				if ns, ok := b.findValue(id, fit.Contender, "time"); ok && size > 0 {
					curve.Points = append(curve.Points, plot.Point{X: size, Y: ns})
				}
			}
			if len(curve.Points) > 1 {
				c.Curves = append(c.Curves, curve)
			}
		}
		if len(c.Curves) > 0 {
			out = append(out, newLogChart(c, formatNS))
		}
	}
	return out
}

// findSize returns the size of a workload, in units of by, or 0 if unknown.
func (b *builder) findSize(workload string, by tare.Extent) float64 {
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

// minSweep is the least number of workloads of a sweep. Workloads of a sweep differ only in their load.
const minSweep = 3

// newSweepPart draws latency over throughput: two charts (p50 and p99) per sweep.
func (b *builder) newSweepPart() part {
	p := part{ID: keySweep, Heading: "Throughput and latency"}
	for _, works := range b.groupSweeps() {
		for _, metric := range []string{"p50", "p99"} {
			c := plot.Chart{
				ID: fmt.Sprintf("sweep-%d", len(p.Blocks)+1), Title: report.Legible(fmt.Sprintf("%s from %s to %s", metric, works[0].ID, works[len(works)-1].ID)),
				Means: metric + " of a request over requests per second. Both axes are logarithmic.",
			}
			for _, contender := range b.r.Contenders {
				curve := plot.Curve{Name: report.Legible(contender.Title()), Dots: true}
				for _, w := range works {
					rate, hasRate := b.findRate(w, contender.ID)
					latency, hasLatency := b.findValue(w.ID, contender.ID, metric)
					if hasRate && hasLatency {
						curve.Points = append(curve.Points, plot.Point{X: rate, Y: latency})
					}
				}
				if len(curve.Points) > 1 {
					c.Curves = append(c.Curves, curve)
				}
			}
			if len(c.Curves) > 0 {
				p.Blocks = append(p.Blocks, newLogChart(c, formatNS))
			}
		}
	}
	return p
}

// groupSweeps returns the sweeps, each sorted by load.
func (b *builder) groupSweeps() [][]tare.Workload {
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
	out = slices.DeleteFunc(out, func(group []tare.Workload) bool { return len(group) < minSweep })
	for _, group := range out {
		slices.SortStableFunc(group, func(a, b tare.Workload) int {
			return cmp.Or(cmp.Compare(a.Traffic.Rate, b.Traffic.Rate), cmp.Compare(a.Traffic.Connections, b.Traffic.Connections))
		})
	}
	return out
}

// isAlike reports whether two workloads differ only in their rate or connections.
func isAlike(a, b tare.Workload) bool {
	withoutLoad := func(w tare.Workload) tare.Workload {
		t := *w.Traffic
		t.Rate, t.Connections, t.Segment = 0, 0, 0
		w.ID, w.SHA256, w.Contenders, w.Slice, w.Traffic = "", "", nil, 0, &t
		return w
	}
	sameLoop := (a.Traffic.Rate > 0) == (b.Traffic.Rate > 0) // both request a rate, or neither does
	return sameLoop && reflect.DeepEqual(withoutLoad(a), withoutLoad(b))
}

// findRate returns the requests per second: the requested rate, or the inverse of the time of a request.
func (b *builder) findRate(w tare.Workload, contender string) (float64, bool) {
	if w.Traffic.Rate > 0 {
		return w.Traffic.Rate, true
	}
	ns, ok := b.findValue(w.ID, contender, "time")
	return 1e9 / ns, ok
}

const (
	maxQuantile = 0.9999 // highest quantile
	minQuantile = 0.1    // lowest quantile; the few requests below would stretch the chart
	minAbove    = 10     // least number of requests above the end of a curve
	minHighest  = 0.5    // a curve always reaches this quantile
)

// newLatencyPart draws the latency percentiles of each workload over all rounds that count.
func (b *builder) newLatencyPart() part {
	p := part{ID: keyLatency, Heading: "Latency percentiles"}
	for _, w := range b.r.Workloads {
		c := plot.Chart{
			ID: fmt.Sprintf("latency-%d", len(p.Blocks)+1), Title: report.Legible("Latency percentiles on " + w.ID),
			Means: "Latency over the share of requests that take no longer, all rounds joined. Both axes are logarithmic.", X: plot.Axis{High: 1},
		}
		var ys []float64
		for _, contender := range b.r.Contenders {
			h := b.mergeHistograms(contender, w.ID)
			if h == nil {
				continue
			}
			curve := plot.Curve{Name: report.Legible(contender.Title())}
			highest := 1 - minAbove/float64(h.Count()) // minAbove requests are above it
			highest = min(max(highest, minHighest), maxQuantile)
			for _, q := range listQuantiles(highest) {
				ns := float64(max(h.Quantile(q), 1)) // 0 is not on a logarithmic axis
				curve.Points = append(curve.Points, plot.Point{X: quantileShare(q), Y: ns})
				ys = append(ys, ns)
			}
			c.Curves = append(c.Curves, curve)
		}
		if len(c.Curves) == 0 {
			continue
		}
		c.Y = plot.NewLogAxis(curveMargin, ys...)
		c.YTicks = c.Y.Ticks(yTickGap, formatNS)
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999, maxQuantile} {
			c.XTicks = append(c.XTicks, plot.Tick{At: quantileShare(q), Text: formatShort(q*100) + " %"})
		}
		p.Blocks = append(p.Blocks, block{Chart: c.HTML()})
	}
	return p
}

// mergeHistograms merges the histograms of a contender over the rounds that count. It returns nil if the contender
// does not count, or has no requests.
func (b *builder) mergeHistograms(c tare.Contender, workload string) *hist.Hist {
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
		if err != nil { // skip an invalid histogram
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

// quantileShare returns the position of a quantile on an axis from 0 to 1. 90 %, 99 %, 99.9 % and 99.99 % have
// equal distances.
func quantileShare(q float64) float64 { return math.Log10(1-q) / math.Log10(1-maxQuantile) }

// listQuantiles returns the quantiles of a curve's points, at equal distances on the axis.
func listQuantiles(highest float64) []float64 {
	const steps = 100 // points of a curve up to maxQuantile
	var out []float64
	for i := range steps + 1 {
		q := max(1-math.Pow(1-maxQuantile, float64(i)/steps), minQuantile)
		if q >= highest {
			return append(out, highest)
		}
		out = append(out, q)
	}
	return out
}
