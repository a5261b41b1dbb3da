package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A cost is the difference from the baseline in processor cores at a requested rate of operations. Without a
// requested rate, it is the rate at which the difference is 1 % of a core.

const costHeading = "What the difference comes to"

func (s *Section) addCost(r *tare.Result) {
	tables := listCostTables(r)
	if len(tables) == 0 {
		return
	}
	s.addText(Dim, explainCost(r, tables[0].first))
	for _, t := range tables {
		s.addCaptioned(t.caption, t.table)
	}
}

// addCostLines adds a table per workload if the user requested a rate. Otherwise it adds a line per workload with
// the rates for 1 % of a core.
func (s *Section) addCostLines(r *tare.Result) {
	tables := listCostTables(r)
	if len(tables) == 0 {
		return
	}
	if tables[0].first.Rate > 0 {
		s.addCost(r)
		return
	}
	s.addText(Dim, explainCost(r, tables[0].first))
	var items []Item
	for _, w := range r.Workloads {
		var rates []string
		for _, c := range newView(r, w.ID).ranked {
			if x, ok := findCost(r, w.ID, c.ID); ok {
				rates = append(rates, c.Title()+" "+formatPerSecond(x.OnePercent))
			}
		}
		if len(rates) > 0 {
			items = append(items, labelledItem(w.ID, strings.Join(rates, ", ")))
		}
	}
	s.addList("", items...)
}

type costTable struct {
	caption string    // "" for all workloads
	first   tare.Cost // first cost; all have its rate, metric and baseline
	table   Table
}

// listCostTables returns a table per workload at a requested rate, else one for all.
func listCostTables(r *tare.Result) []costTable {
	var out []costTable
	for _, w := range r.Workloads {
		if t := newRateTable(r, w.ID); len(t.table.Rows) > 0 {
			out = append(out, t)
		}
	}
	if t := newThresholdTable(r); len(out) == 0 && len(t.table.Rows) > 0 {
		out = append(out, t)
	}
	return out
}

// explainCost explains the tables by any cost in them.
func explainCost(r *tare.Result, first tare.Cost) string {
	rate := fmt.Sprintf("the rate at which the difference to %s, by %s, is 1 %% of one core; %s if no difference was shown", first.Against, first.Metric, noValue)
	if !(first.Rate > 0) {
		return upperFirst(operationsNoun(r)) + " per second: " + rate + ". In brackets: the contender takes more than " + first.Against + "; else it takes less."
	}
	return fmt.Sprintf("Used and saved are percentages of one core, by %s, at %s %s per second; where less than 0 is saved it costs that much more. The last column is %s.",
		first.Metric, formatRate(first.Rate), operationsNoun(r), rate)
}

// operationsNoun returns "requests" if all operations of r are requests, otherwise "operations".
func operationsNoun(r *tare.Result) string {
	if len(r.Workloads) > 0 && !slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return !isPerRequest(r, w) }) {
		return "requests"
	}
	return "operations"
}

// findCost returns the cost of a contender, unless the contender or the baseline is void.
func findCost(r *tare.Result, workload, contender string) (tare.Cost, bool) {
	i := slices.IndexFunc(r.Cost, func(c tare.Cost) bool { return c.Workload == workload && c.Contender == contender })
	if i < 0 {
		return tare.Cost{}, false
	}
	cost := r.Cost[i]
	if len(r.VoidsMetric(contender, workload, cost.Metric))+len(r.VoidsMetric(cost.Against, workload, cost.Metric)) > 0 {
		return tare.Cost{}, false
	}
	return cost, true
}

func newRateTable(r *tare.Result, workload string) costTable {
	out := costTable{caption: "On " + workload + ":", table: Table{Columns: []Column{
		{Name: "contender"}, {Name: "used", Unit: "% of a core", Right: true}, {Name: "saved", Unit: "% of a core [bounds]"},
		{Name: "1 % of a core", Unit: "at " + operationsNoun(r) + "/s", Right: true},
	}}}
	for _, c := range newView(r, workload).ranked {
		x, ok := findCost(r, workload, c.ID)
		if !ok || !(x.Rate > 0) {
			continue
		}
		if len(out.table.Rows) == 0 {
			out.first = x
		}
		saved := formatCore(x.Saved) + " [no bounds yet]"
		if x.SavedLow != 0 || x.SavedHigh != 0 {
			saved = formatCore(x.Saved) + " [" + formatCore(x.SavedLow) + ", " + formatCore(x.SavedHigh) + "]"
		}
		out.table.Rows = append(out.table.Rows, Row{Cells: []Field{{Text: c.Title()}, {Text: formatCore(x.Cores)}, {Text: saved}, {Text: formatPerSecond(x.OnePercent)}}})
	}
	if len(out.table.Rows) > 0 {
		base := Row{Cells: []Field{{Text: contenderTitle(r, out.first.Against) + " (baseline)"}, {Text: formatCore(out.first.AgainstCores)}, {Text: noValue}, {Text: noValue}}}
		out.table.Rows = append(out.table.Rows, base)
	}
	return out
}

// newThresholdTable returns the rates for 1 % of a core, with a column per workload.
func newThresholdTable(r *tare.Result) costTable {
	out := costTable{table: Table{Columns: []Column{{Name: "contender"}}}}
	var works []string
	for _, w := range r.Workloads {
		if slices.ContainsFunc(r.Cost, func(c tare.Cost) bool { return c.Workload == w.ID }) {
			works = append(works, w.ID)
			out.table.Columns = append(out.table.Columns, Column{Name: w.ID, Unit: operationsNoun(r) + "/s", Right: true})
		}
	}
	for _, c := range r.Contenders {
		row := Row{Cells: []Field{{Text: c.Title()}}}
		hasCost := false
		for _, w := range works {
			x, ok := findCost(r, w, c.ID)
			if ok && len(out.table.Rows) == 0 {
				out.first = x
			}
			hasCost = hasCost || ok
			row.Cells = append(row.Cells, Field{Text: formatThreshold(r, x)})
		}
		if hasCost {
			out.table.Rows = append(out.table.Rows, row)
		}
	}
	return out
}

// formatThreshold prints the rate for 1 % of a core. Brackets mean that the contender takes more than the
// baseline.
func formatThreshold(r *tare.Result, c tare.Cost) string {
	text := formatPerSecond(c.OnePercent)
	x, ok := tare.FindComparison(r.Comparisons, c.Workload, c.Contender, c.Metric)
	if ok && c.OnePercent > 0 && x.Ratio > 1 {
		return "(" + text + ")"
	}
	return text
}

// formatCore prints a number of cores as a percentage of one, with three digits.
func formatCore(cores float64) string {
	x := cores * 100
	if math.Abs(x) >= 100 {
		return format.Grouped(x, 0)
	}
	return format.Digits(x, 3)
}
