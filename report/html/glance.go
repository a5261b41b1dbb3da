package html

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// glance is every ratio by its workload's leading metric in one table, where
// there are several workloads.
func (b *builder) glance() []block {
	if len(b.r.Workloads) < 2 {
		return nil
	}
	g := &grid{Key: "glance", Caption: report.Legible("Ratios to " + b.base + " at a glance"), Head: []report.Column{{Name: "contender"}}}
	for _, w := range b.r.Workloads {
		g.Head = append(g.Head, report.Column{Name: report.Legible(w.ID), Unit: report.Legible(report.Leading(b.r, w.ID)), Right: true})
	}
	for _, c := range b.r.Contenders {
		if c.ID == b.base || c.Role == tare.RoleNull || c.Role == tare.RoleTrap {
			continue
		}
		row := line{Row: report.Row{Who: c.ID, Apart: c.Role == tare.RoleControl, Cells: []report.Field{{Text: report.Legible(c.Title())}}}}
		any := false
		for _, w := range b.r.Workloads {
			f := b.glimpse(w.ID, c.ID)
			any = any || f.Text != "–"
			row.Cells = append(row.Cells, f)
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
		{Text: "▾ less and ▴ more than the baseline: the interval excludes 1 and the control shows less. ≈ no difference shown. The intervals stand with each workload below.", Mark: report.Dim},
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
		return report.Field{Text: "–"}
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
