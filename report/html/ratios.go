package html

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/report"
)

// maxMetrics is the number of metrics side by side on a phone.
const maxMetrics = 4

// newRatiosPart returns the table of all values, with a row per contender and a column per metric. A field has the
// ratio to the baseline, its interval and the median.
func (b *builder) newRatiosPart() part {
	groups := report.AllRatios(b.r)
	if len(groups) == 0 {
		return part{}
	}
	var w ratioTable
	w.WriteString(`<table class="t ratios" id="all-ratios"><caption class="dim">`)
	w.addText("The lines of a field: ratio to the baseline, interval, median. The head of a column has the unit of the medians and the level of the intervals; behind a name stands its rank by the first metric.")
	w.shared = findShared(groups)
	if len(w.shared) > 0 {
		w.addText(" If a workload does not say otherwise: " + strings.Join(w.shared, " "))
	}
	w.WriteString("</caption>\n")
	for len(groups) > 0 {
		n := 1 // groups of one workload, one per metric
		for n < len(groups) && groups[n].Workload == groups[0].Workload {
			n++
		}
		w.addWorkload(groups[:n])
		groups = groups[n:]
	}
	w.WriteString("</table>")
	return part{ID: keyRatios, Blocks: []block{{Ratios: template.HTML(w.String())}}} //nolint:gosec // every text is escaped
}

// ratioTable collects the HTML of this table. A study may have a thousand fields. To keep pages small, rows have
// no closing tags, and the style sheet breaks lines at line feeds.
type ratioTable struct {
	strings.Builder
	shared []string // sentences of findShared
}

func (w *ratioTable) addText(text string) { w.WriteString(template.HTMLEscapeString(text)) }

// findShared returns the sentences that most workloads share, at most one of each kind. Readers would apply them
// to all workloads, so each needs a sentence of that kind.
func findShared(groups []report.RatioGroup) []string {
	count, works := map[string]int{}, 0
	kinds := map[string]int{} // workloads with a sentence of the kind
	var order []string
	for _, g := range groups {
		if len(g.About) == 0 {
			continue
		}
		works++
		for _, text := range g.About {
			if count[text] == 0 {
				order = append(order, text)
			}
			count[text]++
			kinds[kindOf(text)]++
		}
	}
	return slices.DeleteFunc(order, func(text string) bool {
		isUsual, isInAll := count[text]*2 > works, kinds[kindOf(text)] == works
		return works < 2 || !isUsual || !isInAll
	})
}

// kindOf returns the kind of a sentence, which is its first word.
func kindOf(text string) string {
	start, _, _ := strings.Cut(text, " ")
	return start
}

// addWorkload adds the rows of one workload. groups has an element per metric, or one with only sentences.
func (w *ratioTable) addWorkload(groups []report.RatioGroup) {
	name := groups[0].Workload
	w.WriteString(`<tbody data-w="`)
	w.addText(name)
	w.WriteString(`">`)
	about := slices.DeleteFunc(slices.Clone(groups[0].About), func(text string) bool { return slices.Contains(w.shared, text) })
	if len(about) > 0 || groups[0].Metric == "" {
		w.WriteString(`<tr class="about"><td colspan="` + strconv.Itoa(maxMetrics+1) + `">`)
		if groups[0].Metric == "" {
			w.addText(name + ": ")
		}
		w.addText(strings.Join(about, " "))
	}
	groups = slices.DeleteFunc(slices.Clone(groups), func(g report.RatioGroup) bool { return g.Metric == "" })
	parts := (len(groups) + maxMetrics - 1) / maxMetrics // rounded up
	for i := range parts {
		w.addMetrics(name, groups[len(groups)*i/parts:len(groups)*(i+1)/parts])
	}
	w.WriteString("</tbody>\n")
}

func (w *ratioTable) addMetrics(workload string, groups []report.RatioGroup) {
	w.WriteString("<tr><th>")
	w.addText(workload)
	var names []string // contenders in the order of the first metric
	for _, g := range groups {
		w.WriteString("<th>")
		w.addText(g.Metric)
		if unit := strings.Join(slices.DeleteFunc([]string{g.Unit, g.Level}, func(s string) bool { return s == "" }), ", "); unit != "" {
			w.addText("\n" + unit)
		}
		for _, r := range g.Rows {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	for _, name := range names {
		w.WriteString("<tr><th>")
		w.addText(name)
		var fields []string
		for i, g := range groups {
			j := slices.IndexFunc(g.Rows, func(r report.RatioRow) bool { return r.Name == name })
			if j < 0 {
				fields = append(fields, "")
				continue
			}
			r := g.Rows[j]
			if i == 0 && r.Rank.Text != "" {
				w.WriteString(" <small>" + formatCell(r.Rank) + "</small>")
			}
			if r.Interval.Mark == report.Bad && r.Ratio.Mark == report.Bad {
				r.Ratio = report.Field{} // the interval has the reason too
			}
			lines := []string{formatCell(r.Ratio), formatCell(r.Interval), formatCell(r.Median)}
			fields = append(fields, strings.TrimRight(strings.Join(lines, "\n"), "\n"))
		}
		for _, f := range fields {
			w.WriteString("<td>" + f)
		}
	}
}

func formatCell(f report.Field) string {
	text := template.HTMLEscapeString(f.Text)
	switch f.Mark {
	case report.Plain:
		return text
	case report.Struck:
		return "<s>" + text + "</s>"
	}
	return `<b class="` + string(f.Mark) + `">` + text + "</b>"
}
