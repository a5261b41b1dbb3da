package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A view is the part of a result about one workload. This file makes its tables.

// newPrimaryTable returns a row per contender with its ratio by the leading metric, its rank, and its failed
// requests. It also has the medians that no other table has.
func (v *view) newPrimaryTable() Table {
	leading := v.leadingMetric()
	t := Table{Columns: []Column{
		{Name: "contender"},
		{Name: leading + " / " + v.baseline, Unit: v.intervalUnit(leading)},
	}}
	newCells := []func(tare.Contender) Field{ // one function per column, which returns the cell
		func(c tare.Contender) Field { return Field{Text: v.titleOf(c)} },
		v.newRatioCell,
	}
	addColumn := func(c Column, newCell func(tare.Contender) Field) {
		t.Columns = append(t.Columns, c)
		newCells = append(newCells, newCell)
	}
	if leading == primaryMetric(v.r) { // ranks are by the primary metric only
		addColumn(Column{Name: "rank,", Unit: "group"}, v.newRankCell)
	}
	for _, name := range v.listMetrics() {
		isInOtherTable := findMetric(name).IsLatency() || v.isTwoSided() && slices.Contains(sideMetrics(), name)
		if isInOtherTable || !v.hasValues(name) {
			continue
		}
		s := v.metricScale(name)
		addColumn(Column{Name: name, Unit: s.unit, Right: true}, func(c tare.Contender) Field { return v.newValueCell(c, name, s) })
		if items, itemName := v.countItems(); name == "cpu" && items > 0 {
			perItem := v.itemScale(items)
			addColumn(Column{Name: "cpu/" + itemName, Unit: "ms per 1,000", Right: true}, func(c tare.Contender) Field { return v.newValueCell(c, name, perItem) })
		}
		if findMetric(name).Closed && v.hasTraffic() {
			addColumn(Column{Name: "rate", Unit: "requests/s", Right: true}, v.newRateCell)
		}
	}
	if v.hasFailed() {
		addColumn(Column{Name: "errors", Unit: "(timeouts)", Right: true}, v.newErrorCell)
	}
	for _, group := range v.listGroups() {
		for i, c := range group {
			startsGroup := i == 0 && len(t.Rows) > 0
			row := Row{Notes: v.listNotes(c), Who: c.ID, Apart: startsGroup}
			for _, newCell := range newCells {
				row.Cells = append(row.Cells, newCell(c))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (v *view) titleOf(c tare.Contender) string {
	if c.ID == v.baseline {
		return c.Title() + " (baseline)"
	}
	return c.Title()
}

// newValueCell returns a contender's value, struck if it does not count.
func (v *view) newValueCell(c tare.Contender, metric string, s scale) Field {
	x, ok := v.findValue(c.ID, metric)
	switch {
	case !ok:
		return Field{Text: noValue}
	case x.Struck || len(v.voidsMetric(c.ID, metric)) > 0:
		return struckField(s.formatValue(x.Value))
	}
	return Field{Text: s.formatValue(x.Value)}
}

// newRateCell returns the requests per second of a contender, from its time of a request.
func (v *view) newRateCell(c tare.Contender) Field {
	x, ok := v.findValue(c.ID, "time") // in ns
	if !ok || !(x.Value > 0) {
		return Field{Text: noValue}
	}
	rate := 1e9 / x.Value // requests per second
	text := formatPerSecond(rate)
	if rate >= 1000 {
		text = format.Grouped(rate, 0)
	}
	if x.Struck || len(v.voidsMetric(c.ID, "time")) > 0 {
		return struckField(text)
	}
	return Field{Text: text}
}

func (v *view) hasErrorCounts() bool {
	return v.hasTraffic() && slices.ContainsFunc(v.r.Trials, func(t tare.Trial) bool {
		_, ok := t.Samples[v.workload][tare.KeyErrors]
		return ok
	})
}

func (v *view) hasFailed() bool {
	return v.hasTraffic() && slices.ContainsFunc(v.r.Trials, func(t tare.Trial) bool { return t.Samples[v.workload][tare.KeyErrors] > 0 })
}

// describeNoFailures returns the sentence that no request failed, or "" if that is not known.
func (v *view) describeNoFailures() string {
	if v.hasFailed() || !v.hasErrorCounts() {
		return ""
	}
	return "Every request was answered as it should be, and none timed out."
}

// newErrorCell returns the failed requests of all rounds, and how many timed out: "12 (3)".
func (v *view) newErrorCell(c tare.Contender) Field {
	all := listSamples(v.r, c.ID, v.workload)
	errors, ok := sumSamples(all, readKey(tare.KeyErrors))
	if !ok {
		return Field{Text: noValue}
	}
	text := format.Grouped(errors, 0)
	if timeouts, _ := sumSamples(all, readKey(tare.KeyTimeouts)); timeouts > 0 {
		text += " (" + format.Grouped(timeouts, 0) + ")"
	}
	if errors > 0 {
		return Field{text, Bad}
	}
	return Field{Text: text}
}

func (v *view) hasTraffic() bool {
	return slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic != nil })
}

// intervalUnit returns the unit of a column of ratios, with the usual confidence level.
func (v *view) intervalUnit(metric string) string {
	if usual := v.usualLevel(metric); usual > 0 {
		return "ratio [" + formatLevel(usual) + " interval]"
	}
	return "ratio [interval]"
}

// formatComparison prints a ratio and interval. An unusual confidence level is added.
func (v *view) formatComparison(x tare.Comparison) string {
	text := formatRatio(x)
	hasInterval := !x.Exact && x.Low > 0 && x.High > 0
	if hasInterval && x.Level > 0 && formatLevel(x.Level) != formatLevel(v.usualLevel(x.Metric)) {
		text += " at " + formatLevel(x.Level)
	}
	return text
}

// metricScale returns the scale of a metric. The contender that does nothing does not
// determine it. Struck values do only if there are no others.
func (v *view) metricScale(metric string) scale {
	m := findMetric(metric)
	var used, all []float64
	for _, x := range v.r.Values {
		if x.Workload != v.workload || x.Metric != metric || x.Contender == tare.NullID {
			continue
		}
		all = append(all, x.Value)
		if !x.Struck {
			used = append(used, x.Value)
		}
	}
	if len(used) == 0 {
		used = all
	}
	s := newScale(m.Unit, used)
	if v.hasRequests() {
		s.unit = requestUnit(s.unit)
	}
	return s
}

func (v *view) newRatioCell(c tare.Contender) Field {
	return v.newRatioField(c, v.leadingMetric(), v.formatComparison)
}

// newRatioField returns the contender's ratio to the baseline, printed by printRatio. Without a ratio it is the
// reason: "void" or "not compared". A void ratio is struck.
func (v *view) newRatioField(c tare.Contender, metric string, printRatio func(tare.Comparison) string) Field {
	isVoid := len(v.voidsMetric(c.ID, metric)) > 0
	x, ok := v.findComparison(c.ID, metric)
	switch {
	case isVoid && ok && x.Ratio > 0:
		return struckField(format.Ratio(x.Ratio))
	case c.Role == tare.RoleNull:
		return Field{"not compared", Dim}
	case isVoid:
		return Field{"void", Bad}
	case c.ID == v.baseline:
		return Field{Text: "1"}
	case c.Role == tare.RoleTrap: // it repeats a published mistake
		return Field{"not compared", Dim}
	case ok:
		return Field{Text: printRatio(x)}
	}
	return Field{Text: noValue}
}

// formatRatio prints a ratio and its interval: "0.71 [0.69, 0.73]".
func formatRatio(c tare.Comparison) string {
	if c.Exact {
		return formatExact(c.Ratio)
	}
	return format.Ratio(c.Ratio) + " " + formatInterval(c.Low, c.High)
}

// newRankCell returns the range of ranks and the letters of a contender: "2–4 bc". Contenders with a common letter
// do not differ significantly.
func (v *view) newRankCell(c tare.Contender) Field {
	if len(v.voidsMetric(c.ID, primaryMetric(v.r))) > 0 {
		return Field{Text: noValue}
	}
	x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r))
	if !ok || x.RankLow == 0 {
		return Field{Text: noValue}
	}
	return Field{Text: strings.TrimSpace(formatRank(x.RankLow, x.RankHigh) + " " + x.Letters)}
}

func formatRank(low, high int) string {
	if high > low {
		return fmt.Sprintf("%d–%d", low, high)
	}
	return fmt.Sprint(low)
}

// whyUnranked returns why no contender has a rank. It returns "" if there are ranks, or nothing to rank.
func (v *view) whyUnranked() string {
	if v.leadingMetric() != primaryMetric(v.r) {
		return "No ranks: contenders are ranked by " + primaryMetric(v.r) + ", which is not measured on this workload."
	}
	rounds, contenders := 0, 0
	for _, c := range v.ranked {
		if len(v.voidsMetric(c.ID, primaryMetric(v.r))) == 0 {
			contenders++
		}
	}
	for _, x := range v.r.Comparisons {
		if x.Workload == v.workload && x.Metric == primaryMetric(v.r) {
			rounds = max(rounds, x.Rounds)
		}
	}
	if contenders < 2 || rounds == 0 || len(v.rankRanges()) > 0 {
		return ""
	}
	return fmt.Sprintf("No ranks: telling %d contenders apart pair by pair takes more than %s; the ratios to the baseline stand.", contenders, countNoun(rounds, "round"))
}

// newOthersTable returns the ratios by all metrics except the leading one. Traps (deliberate mistakes) have no
// row.
func (v *view) newOthersTable() (Table, bool) {
	names := v.otherMetrics()
	t := Table{Columns: []Column{{Name: "contender"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name + " / " + v.baseline, Unit: v.intervalUnit(name)})
	}
	for _, group := range [][]tare.Contender{v.ranked, v.statusOnly, v.controls} {
		isFirst := true // of the rows of the group
		for _, c := range group {
			if row, ok := v.newOtherRow(c, names); ok {
				row.Apart = isFirst && len(t.Rows) > 0
				t.Rows, isFirst = append(t.Rows, row), false
			}
		}
	}
	return t, len(t.Rows) > 0
}

// otherMetrics returns the compared metrics except the leading one.
func (v *view) otherMetrics() []string {
	var names []string
	for _, name := range v.listMetrics() {
		isCompared := slices.ContainsFunc(v.r.Comparisons, func(c tare.Comparison) bool {
			return c.Workload == v.workload && c.Metric == name && c.Against == v.baseline && c.Contender != v.baseline
		})
		if isCompared && name != v.leadingMetric() {
			names = append(names, name)
		}
	}
	return names
}

// newOtherRow returns false if the contender has no ratio.
func (v *view) newOtherRow(c tare.Contender, names []string) (Row, bool) {
	row := Row{Cells: []Field{{Text: c.Title()}}, Who: c.ID}
	hasRatio := false
	for _, name := range names {
		cell := Field{Text: noValue}
		if x, ok := v.findComparison(c.ID, name); ok {
			hasRatio = true
			cell.Text = v.formatComparison(x)
			if len(v.voidsMetric(c.ID, name)) > 0 {
				cell = struckField(format.Ratio(x.Ratio))
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row, hasRatio
}
