package html

import (
	"html/template"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// nothing stands where there is no figure, as in package report.
const nothing = "–"

// glance is every ratio by its workload's leading metric in one table, where
// there are several workloads.
func (b *builder) glance() []block {
	if len(b.r.Workloads) < 2 {
		return nil
	}
	g := &grid{Key: "glance", Caption: report.Legible("Ratios to " + b.base), Head: []report.Column{{Name: "contender"}}}
	g.On = append(g.On, "")
	axes := map[string]axis{}
	for _, w := range b.r.Workloads {
		axes[w.ID] = b.ratioAxis(w.ID)
		g.On = append(g.On, w.ID)
		g.Head = append(g.Head, report.Column{Name: report.Legible(w.ID), Unit: report.Legible(report.Leading(b.r, w.ID)), Right: true})
	}
	for _, c := range b.r.Contenders {
		if c.ID == b.base || c.Role == tare.RoleNull || c.Role == tare.RoleTrap {
			continue
		}
		row := line{Row: report.Row{Who: c.ID, Apart: c.Role == tare.RoleControl, Cells: []report.Field{{Text: report.Legible(c.Title())}}}}
		any := false
		row.Bars = map[int]template.HTML{}
		for _, w := range b.r.Workloads {
			f := b.glimpse(w.ID, c.ID)
			row.Cells = append(row.Cells, f)
			if f.Text != nothing {
				any = true
				metric := report.Leading(b.r, w.ID)
				row.Bars[len(row.Cells)-1] = b.whisker(axes[w.ID], b.noise(w.ID, metric), w.ID, c.ID, metric)
			}
		}
		if any {
			g.Rows = append(g.Rows, row)
		}
	}
	if len(g.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(g.Rows, func(x, y line) int { // the control last
		return boolean(x.Apart) - boolean(y.Apart)
	})
	return []block{
		{Text: "▾ less and ▴ more than the baseline, beyond what the control shows; ≈ no difference shown. Beneath each ratio its interval, on the column's own logarithmic axis: the line is the baseline, the band the control.", Mark: report.Dim},
		{Grid: g},
	}
}

// glimpse is one ratio, and whether it is a difference.
func (b *builder) glimpse(workload, id string) report.Field {
	metric := report.Leading(b.r, workload)
	c, ok := b.comparison(workload, id, metric)
	void := len(b.r.VoidsMetric(id, workload, metric)) > 0
	switch {
	case void && ok:
		return report.Field{Text: report.Ratio(c.Ratio), Mark: report.Struck}
	case void:
		return report.Field{Text: "void", Mark: report.Bad}
	case !ok:
		return report.Field{Text: nothing}
	}
	switch told(b.r, c) {
	case "less":
		return report.Field{Text: report.Ratio(c.Ratio) + " ▾", Mark: "less"}
	case "more":
		return report.Field{Text: report.Ratio(c.Ratio) + " ▴", Mark: "more"}
	}
	return report.Field{Text: report.Ratio(c.Ratio) + " ≈", Mark: report.Dim}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
