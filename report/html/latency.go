package html

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/report"
)

// deepest is the highest quantile a chart has room for.
const deepest = 0.9999

// least is the lowest that is drawn: below it single requests would stretch the
// chart.
const least = 0.1

// latencies draws the percentiles of a workload, from the histograms of all
// rounds that count, joined; nil where the result has none.
func (b *builder) latencies(workload string) *chart {
	c := &chart{
		ID: identified("latency", b.place(workload)), On: workload, Zooms: true,
		Title: report.Legible("Latency percentiles on " + workload), X: "percentile of requests", Y: "latency",
		Desc: "One curve for each contender: how long a request takes at most, over the share of requests that take no longer. Both axes are logarithmic. All rounds that count are joined; the table beneath has the medians over rounds.",
	}
	joined := map[string]*hist.Hist{}
	var values []float64
	for _, who := range b.r.Contenders {
		h := b.histogram(who, workload)
		if h == nil {
			continue
		}
		joined[who.ID] = h
		values = append(values, float64(max(h.Quantile(least), 1)), float64(max(h.Quantile(reach(h)), 1)))
	}
	if len(joined) == 0 {
		return nil
	}
	y := logged(values)
	for _, who := range b.r.Contenders {
		h, ok := joined[who.ID]
		if !ok {
			continue
		}
		var points []point
		for _, q := range quantiles(reach(h)) {
			points = append(points, point{nines(q), y.at(float64(max(h.Quantile(q), 1)))})
		}
		line := b.curve(who)
		line.Path = traced(points)
		c.Curves = append(c.Curves, line)
	}
	c.YTicks = upward(y.ticks(0.08, lasting))
	for _, q := range []struct {
		at   float64
		text string
	}{{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}, {deepest, "99.99 %"}} {
		c.XTicks = append(c.XTicks, tick{nines(q.at) * 100, q.text})
	}
	return c
}

// place is where a workload stands in the study.
func (b *builder) place(workload string) int {
	return slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == workload })
}

// histogram joins the rounds of a contender that count; nil where there are
// none, or they cannot be read.
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

// reach is the highest quantile that ten requests lie above.
func reach(h *hist.Hist) float64 {
	return min(max(1-10/float64(h.Count()), 0.5), deepest)
}

// nines is where a quantile stands on an axis on which every further nine
// takes as much room: 0 at 0, 1 at 99.99 %.
func nines(q float64) float64 { return math.Log10(1-q) / math.Log10(1-deepest) }

// quantiles are those a curve goes through, up to the highest.
func quantiles(highest float64) []float64 {
	const steps = 100
	var out []float64
	for i := range steps + 1 {
		q := max(1-math.Pow(1-deepest, float64(i)/steps), least)
		if q >= highest {
			return append(out, highest)
		}
		out = append(out, q)
	}
	return out
}
