package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const costHeading = "What the difference comes to"

func (s *Section) cost(r *tare.Result) {
	parts := costs(r)
	if len(parts) == 0 {
		return
	}
	s.say(Dim, costMeans(r, parts))
	for _, part := range parts {
		s.captioned(part.means, part.table)
	}
}

// costLines adds a table for each workload if a rate was asked for, else a line
// for each workload: from which rate on each contender differs by 1 % of a core.
func (s *Section) costLines(r *tare.Result) {
	parts := costs(r)
	if len(parts) == 0 {
		return
	}
	s.say(Dim, costMeans(r, parts))
	if parts[0].first.Rate > 0 {
		for _, part := range parts {
			s.captioned(part.means, part.table)
		}
		return
	}
	var items []Item
	for _, w := range r.Workloads {
		var each []string
		for _, c := range look(r, w.ID, nil).ranked {
			if x, ok := costOf(r, w.ID, c.ID); ok {
				each = append(each, c.Title()+" "+perSecond(x.OnePercent))
			}
		}
		if len(each) > 0 {
			items = append(items, labelled(w.ID, strings.Join(each, ", ")))
		}
	}
	s.list("", items...)
}

// costing is one table of costs and what it is of.
type costing struct {
	means string
	first tare.Cost // of a contender
	table Table
}

// costs are the tables: one for each workload where a rate was asked for,
// otherwise one for all of them.
func costs(r *tare.Result) []costing {
	var out []costing
	for _, w := range r.Workloads {
		if part := costAt(r, w.ID); len(part.table.Rows) > 0 {
			out = append(out, part)
		}
	}
	if part := costAnywhere(r); len(out) == 0 && len(part.table.Rows) > 0 {
		out = append(out, part)
	}
	return out
}

// costMeans explains the tables.
func costMeans(r *tare.Result, parts []costing) string {
	first := parts[0].first
	rate := fmt.Sprintf("the rate at which the difference to %s, by %s, is 1 %% of one core; %s where no difference was shown", first.Against, first.Metric, nothing)
	if !(first.Rate > 0) {
		return capital(done(r)) + " per second: " + rate + "."
	}
	return fmt.Sprintf("Used and saved are percentages of one core, by %s, at %s %s per second; where less than 0 is saved it costs that much more. The last column is %s.",
		first.Metric, asRate(first.Rate), done(r), rate)
}

// done is what operations are called: requests where each of them is one.
func done(r *tare.Result) string {
	if len(r.Workloads) > 0 && !slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return !byRequest(r, w) }) {
		return "requests"
	}
	return "operations"
}

// costOf is what a contender costs on a workload; not where either is void.
func costOf(r *tare.Result, workload, contender string) (tare.Cost, bool) {
	i := slices.IndexFunc(r.Cost, func(c tare.Cost) bool { return c.Workload == workload && c.Contender == contender })
	if i < 0 || len(r.VoidsMetric(contender, workload, r.Cost[i].Metric)) > 0 || len(r.VoidsMetric(r.Cost[i].Against, workload, r.Cost[i].Metric)) > 0 {
		return tare.Cost{}, false
	}
	return r.Cost[i], true
}

// costAt is the table of one workload at the rate that was asked for.
func costAt(r *tare.Result, workload string) costing {
	out := costing{means: "On " + workload + ":", table: Table{Columns: []Column{
		{Name: "contender"}, {Name: "used", Unit: "% of a core", Right: true}, {Name: "saved", Unit: "% of a core [bounds]"},
		{Name: "1 % of a core", Unit: "at " + done(r) + "/s", Right: true},
	}}}
	for _, c := range look(r, workload, nil).ranked {
		x, ok := costOf(r, workload, c.ID)
		if !ok || !(x.Rate > 0) {
			continue
		}
		if len(out.table.Rows) == 0 {
			out.first = x
		}
		saved := core(x.Saved) + " [no bounds yet]"
		if x.SavedLow != 0 || x.SavedHigh != 0 {
			saved = core(x.Saved) + " [" + core(x.SavedLow) + ", " + core(x.SavedHigh) + "]"
		}
		out.table.Rows = append(out.table.Rows, Row{Cells: []Field{{Text: c.Title()}, {Text: core(x.Cores)}, {Text: saved}, {Text: perSecond(x.OnePercent)}}})
	}
	if len(out.table.Rows) > 0 {
		base := Row{Cells: []Field{{Text: title(r, out.first.Against) + " (baseline)"}, {Text: core(out.first.AgainstCores)}, {Text: nothing}, {Text: nothing}}}
		out.table.Rows = append(out.table.Rows, base)
	}
	return out
}

// costAnywhere is the table of the rates at which a difference is 1 % of a
// core, a column for each workload.
func costAnywhere(r *tare.Result) costing {
	out := costing{table: Table{Columns: []Column{{Name: "contender"}}}}
	var works []string
	for _, w := range r.Workloads {
		if slices.ContainsFunc(r.Cost, func(c tare.Cost) bool { return c.Workload == w.ID }) {
			works = append(works, w.ID)
			out.table.Columns = append(out.table.Columns, Column{Name: w.ID, Unit: done(r) + "/s", Right: true})
		}
	}
	for _, c := range r.Contenders {
		line, any := Row{Cells: []Field{{Text: c.Title()}}}, false
		for _, w := range works {
			x, ok := costOf(r, w, c.ID)
			if ok && len(out.table.Rows) == 0 {
				out.first = x
			}
			any = any || ok
			line.Cells = append(line.Cells, Field{Text: perSecond(x.OnePercent)})
		}
		if any {
			out.table.Rows = append(out.table.Rows, line)
		}
	}
	return out
}

// core prints a number of cores as a percentage of one, with three digits.
func core(cores float64) string {
	x := cores * 100
	if math.Abs(x) >= 100 {
		return format.Grouped(x, 0)
	}
	return significant(x, 3)
}
