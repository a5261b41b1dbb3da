package html

import (
	"slices"
	"strconv"

	"github.com/tarebench/tare"
)

// The page calls contenders, workloads and metrics by their places in the
// result, so that names of any kind do no harm to its elements.

func (b *builder) contender(id string) string {
	return numbered(slices.IndexFunc(b.r.Contenders, func(c tare.Contender) bool { return c.ID == id }))
}

func (b *builder) workload(id string) string { return numbered(b.place(id)) }

func (b *builder) metric(name string) string { return numbered(slices.Index(b.r.Metrics, name)) }

// numbered is a place as text; empty where there is none.
func numbered(place int) string {
	if place < 0 {
		return ""
	}
	return strconv.Itoa(place)
}

// number puts places in the stead of names throughout.
func (b *builder) number(parts []part) {
	for i := range parts {
		parts[i].On = b.workload(parts[i].On)
		b.numberAll(parts[i].Blocks)
	}
}

func (b *builder) numberAll(blocks []block) {
	for _, x := range blocks {
		switch {
		case x.Folded != nil:
			b.numberAll(x.Folded.Blocks)
		case x.Chart != nil:
			x.Chart.On = b.workload(x.Chart.On)
			for i, c := range x.Chart.Curves {
				x.Chart.Curves[i].Who = b.contender(c.Who)
			}
		case x.Rate != nil:
			b.numberRows(x.Rate.Grid)
		case x.Grid != nil:
			b.numberRows(x.Grid)
		}
	}
}

func (b *builder) numberRows(g *grid) {
	if g.Leading != "" {
		g.Leading = b.metric(g.Leading)
	}
	for i, on := range g.On {
		g.On[i] = b.workload(on)
	}
	for i := range g.Rows {
		g.Rows[i].Who = b.contender(g.Rows[i].Who)
		if on, ok := g.Rows[i].Data["work"]; ok {
			g.Rows[i].Data["work"] = b.workload(on)
		}
	}
}
