package html

import (
	"html/template"
	"strings"

	"github.com/tarebench/tare/report"
)

// newRatiosPart returns one long table of all values. To keep the page small, its rows have no closing tags, which
// HTML does not require: a study may have a thousand rows.
func (b *builder) newRatiosPart() part {
	groups := report.AllRatios(b.r)
	if len(groups) == 0 {
		return part{}
	}
	var w strings.Builder
	escape := template.HTMLEscapeString
	w.WriteString(`<table class="t ratios" id="all-ratios"><caption class="vh">All ratios and medians</caption>` +
		`<thead><tr><th scope="col">contender<th scope="col" class="r">ratio<th scope="col" class="r">interval<th scope="col">rank<th scope="col" class="r">median</thead>` + "\n")
	for _, g := range groups {
		w.WriteString(`<tbody data-w="` + escape(g.Workload) + `" data-m="` + escape(g.Metric) + `">`)
		if len(g.About) > 0 {
			w.WriteString(`<tr class="about"><td colspan="5">` + escape(strings.Join(g.About, " ")))
		}
		if g.Metric != "" {
			head := g.Workload + " · " + g.Metric
			if g.Unit != "" {
				head += ", " + g.Unit
			}
			if g.Level != "" {
				head += " · intervals at " + g.Level
			}
			w.WriteString(`<tr><th scope="rowgroup" colspan="5">` + escape(head))
		}
		for _, r := range g.Rows {
			w.WriteString("<tr><td>" + escape(r.Name))
			for _, f := range []report.Field{r.Ratio, r.Interval, r.Rank, r.Median} {
				w.WriteString("<td>" + formatCell(f))
			}
		}
		w.WriteString("</tbody>\n")
	}
	w.WriteString("</table>")
	return part{ID: keyRatios, Blocks: []block{{Ratios: template.HTML(w.String())}}} //nolint:gosec // every text is escaped
}

// formatCell returns a field of a table as HTML.
func formatCell(f report.Field) string {
	text := template.HTMLEscapeString(f.Text)
	switch f.Mark {
	case report.Plain:
		return text
	case report.Struck:
		return "<s>" + text + "</s>"
	}
	return `<span class="` + string(f.Mark) + `">` + text + "</span>"
}
