package html

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// leastSwept is how many workloads that differ in their load alone make a
// curve.
const leastSwept = 3

// sweep draws throughput against latency where workloads differ in how much is
// asked alone.
func (b *builder) sweep() part {
	p := part{ID: keySweep, Key: keySweep, Heading: "Throughput and latency", Level: 2}
	for _, works := range b.swept() {
		for _, metric := range []string{"p50", "p99"} {
			c, g := b.swing(works, metric)
			if len(c.Curves) == 0 {
				continue
			}
			c.ID = identified(keySweep, len(p.Blocks))
			p.Blocks = append(p.Blocks, block{Chart: c}, block{Grid: g})
		}
	}
	return p
}

// swept are the groups of workloads that differ in rate or connections alone,
// by how much is asked.
func (b *builder) swept() [][]tare.Workload {
	var out [][]tare.Workload
	for _, w := range b.r.Workloads {
		if w.Traffic == nil {
			continue
		}
		i := slices.IndexFunc(out, func(group []tare.Workload) bool { return alike(group[0], w) })
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

// alike reports whether two workloads differ in how much is asked alone.
func alike(a, b tare.Workload) bool {
	bare := func(w tare.Workload) tare.Workload {
		t := *w.Traffic
		t.Rate, t.Connections, t.Segment = 0, 0, 0
		w.ID, w.SHA256, w.Contenders, w.Slice, w.Traffic = "", "", nil, 0, &t
		return w
	}
	return (a.Traffic.Rate > 0) == (b.Traffic.Rate > 0) && reflect.DeepEqual(bare(a), bare(b))
}

// value is an absolute figure that counts.
func (b *builder) value(workload, contender, metric string) (tare.Value, bool) {
	v, ok := b.r.Value(workload, contender, metric)
	return v, ok && !v.Struck && v.Value > 0 && len(b.r.VoidsMetric(contender, workload, metric)) == 0
}

// answered is how many requests a second: those asked for, or under a closed
// loop the inverse of the time.
func (b *builder) answered(w tare.Workload, contender string) (float64, bool) {
	if w.Traffic.Rate > 0 {
		return w.Traffic.Rate, true
	}
	v, ok := b.value(w.ID, contender, "time")
	return 1e9 / v.Value, ok
}

// swing is the curve of one metric, and its table.
func (b *builder) swing(works []tare.Workload, metric string) (*chart, *grid) {
	title := fmt.Sprintf("Requests per second and %s, from %s to %s", metric, works[0].ID, works[len(works)-1].ID)
	c := &chart{
		Title: report.Legible(title), X: "requests per second", Y: metric, Zooms: true,
		Desc: "One curve for each contender, from the smallest load to the largest. Both axes are logarithmic; the table beneath has the figures.",
	}
	g := &grid{Key: keySweep, Caption: c.Title, Head: []report.Column{
		{Name: "contender"}, {Name: "workload"}, {Name: "rate", Unit: "requests/s", Right: true}, {Name: metric, Unit: "ms", Right: true},
	}}
	var xs, ys []float64
	type swung struct {
		who  tare.Contender
		x, y []float64
	}
	var all []swung
	for _, who := range b.r.Contenders {
		s := swung{who: who}
		for _, w := range works {
			rate, known := b.answered(w, who.ID)
			v, ok := b.value(w.ID, who.ID, metric)
			if !ok || !known {
				continue
			}
			s.x, s.y = append(s.x, rate), append(s.y, v.Value)
			g.Rows = append(g.Rows, line{Row: report.Row{Who: who.ID, Cells: []report.Field{
				{Text: report.Legible(who.Title())}, {Text: report.Legible(w.ID)}, {Text: report.Grouped(rate)}, {Text: fmt.Sprintf("%.3f", v.Value/1e6)},
			}}})
		}
		if len(s.x) > 1 {
			all, xs, ys = append(all, s), append(xs, s.x...), append(ys, s.y...)
		}
	}
	x, y := logged(xs), logged(ys)
	for _, s := range all {
		var points []point
		for i := range s.x {
			points = append(points, point{x.at(s.x[i]), y.at(s.y[i])})
		}
		line := b.curve(s.who)
		line.Path, line.Marks = traced(points), marked(points)
		c.Curves = append(c.Curves, line)
	}
	c.XTicks, c.YTicks = x.ticks(0.12, counted), upward(y.ticks(0.08, lasting))
	return c, g
}
