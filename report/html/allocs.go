package html

import (
	"html/template"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// allocated are the metrics of what an operation allocates.
func allocated() []string { return []string{"bytes", "allocs"} }

// allocations draw what an operation allocates: the medians of the tables, as
// bars from zero. Several workloads are columns of a table for each metric, one
// has both metrics in one table.
func (b *builder) allocations() part {
	p := part{ID: keyAllocs, Key: keyAllocs, Heading: "Allocations", Level: 2}
	var grids []*grid
	for _, metric := range allocated() {
		g := b.allocs(metric)
		switch {
		case g == nil:
		case len(b.r.Workloads) == 1 && len(grids) == 1 && len(grids[0].Rows) == len(g.Rows):
			beside(grids[0], g)
		default:
			grids = append(grids, g)
		}
	}
	if len(grids) == 0 {
		return p
	}
	p.Blocks = append(p.Blocks, block{Text: "What one operation allocates on the heap: medians over rounds, with a bar from 0 to the greatest of its column.", Mark: report.Dim})
	for _, g := range grids {
		p.Blocks = append(p.Blocks, block{Grid: g})
	}
	return p
}

// allocs is the table of one metric; nil where nobody allocates, or nobody
// knows.
func (b *builder) allocs(metric string) *grid {
	g := &grid{Key: keyAllocs, Caption: "Allocations: " + metric, Head: []report.Column{{Name: "contender"}}, On: []string{""}}
	var columns []map[string]report.Field
	most := 0.0
	for _, w := range b.r.Workloads {
		head, fields := b.printed(w.ID, metric)
		if fields == nil {
			continue
		}
		if len(b.r.Workloads) > 1 {
			head.Name = report.Legible(w.ID)
		}
		g.Head, g.On, columns = append(g.Head, head), append(g.On, w.ID), append(columns, fields)
		most = max(most, b.greatest(w.ID, metric))
	}
	if most == 0 {
		return nil
	}
	for _, c := range b.r.Contenders {
		if c.Role == tare.RoleControl || c.Role == tare.RoleTrap {
			continue
		}
		row, any := line{Row: report.Row{Who: c.ID, Apart: c.Role == tare.RoleNull, Cells: []report.Field{{Text: report.Legible(c.Title())}}}, Bars: map[int]template.HTML{}}, false
		for i, fields := range columns {
			f, ok := fields[c.ID]
			if !ok {
				f.Text = nothing
			}
			any = any || ok
			row.Cells = append(row.Cells, f)
			if v, ok := b.median(g.On[i+1], c.ID, metric); ok {
				row.Bars[i+1] = bar(v, b.greatest(g.On[i+1], metric))
			}
		}
		if any {
			g.Rows = append(g.Rows, row)
		}
	}
	slices.SortStableFunc(g.Rows, func(x, y line) int { return boolean(x.Apart) - boolean(y.Apart) })
	return g
}

// printed is the column of a metric in the table of a workload, by contender;
// nil where there is none.
func (b *builder) printed(workload, metric string) (report.Column, map[string]report.Field) {
	for _, s := range b.out {
		if s.Key != report.KeyWorkload || s.About != workload {
			continue
		}
		for _, x := range s.Blocks {
			if x.Key != "primary" || x.Table == nil {
				continue
			}
			at := slices.IndexFunc(x.Table.Columns, func(c report.Column) bool { return c.Name == metric })
			if at < 0 {
				break
			}
			fields := map[string]report.Field{}
			for _, r := range x.Table.Rows {
				if at < len(r.Cells) {
					fields[r.Who] = r.Cells[at]
				}
			}
			return x.Table.Columns[at], fields
		}
	}
	return report.Column{}, nil
}

// median is an absolute figure that counts; unlike [builder.value] it may be
// zero.
func (b *builder) median(workload, contender, metric string) (float64, bool) {
	v, ok := b.r.Value(workload, contender, metric)
	return v.Value, ok && !v.Struck && len(b.r.VoidsMetric(contender, workload, metric)) == 0
}

// greatest is the largest of those that have a bar.
func (b *builder) greatest(workload, metric string) float64 {
	most := 0.0
	for _, c := range b.r.Contenders {
		if c.Role == tare.RoleControl || c.Role == tare.RoleTrap {
			continue
		}
		if v, ok := b.median(workload, c.ID, metric); ok {
			most = max(most, v)
		}
	}
	return most
}

// bar is a share of the whole, from the left.
func bar(v, most float64) template.HTML {
	var d drawing
	d.cell("amounts")
	if most > 0 {
		d.box("amount", 0, 0, v/most*cellWidth, cellHeight)
	}
	return d.end()
}

// beside puts the columns of a table behind those of another with the same
// rows.
func beside(g, other *grid) {
	for i := range g.Rows {
		for j, bar := range other.Rows[i].Bars {
			g.Rows[i].Bars[len(g.Head)+j-1] = bar
		}
		g.Rows[i].Cells = append(g.Rows[i].Cells, other.Rows[i].Cells[1:]...)
	}
	g.Head, g.On, g.Caption = append(g.Head, other.Head[1:]...), append(g.On, other.On[1:]...), "Allocations"
}
