package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// primary is the table of the leading metric's ratios with the medians of
// every metric beside them, latencies apart.
func (v *view) primary() Table {
	first := v.leading()
	t := Table{Columns: []Column{
		{Name: "contender"},
		{Name: first + " / " + v.baseline, Unit: v.intervalUnit(first)},
	}}
	fields := []func(tare.Contender) Field{
		func(c tare.Contender) Field { return Field{Text: v.named(c)} },
		v.ratioCell,
	}
	add := func(c Column, field func(tare.Contender) Field) {
		t.Columns, fields = append(t.Columns, c), append(fields, field)
	}
	if first == primaryMetric(v.r) { // nobody is ranked by another
		add(Column{Name: "rank,", Unit: "group"}, v.rankCell)
	}
	for _, name := range v.metrics() {
		if metricNamed(name).IsLatency() || !v.shows(name) || v.twoSided() && slices.Contains(onSides(), name) {
			continue
		}
		s := v.scale(name)
		add(Column{Name: name, Unit: s.unit, Right: true}, func(c tare.Contender) Field { return v.valueCell(c, name, s) })
		if items, one := v.items(); name == "cpu" && items > 0 {
			of := v.itemScale(items)
			add(Column{Name: "cpu/" + one, Unit: "ms per 1,000", Right: true}, func(c tare.Contender) Field { return v.valueCell(c, name, of) })
		}
		if metricNamed(name).Closed && v.hasTraffic() {
			add(Column{Name: "rate", Unit: "requests/s", Right: true}, v.rateCell)
		}
	}
	if v.anyFailed() {
		add(Column{Name: "errors", Unit: "(timeouts)", Right: true}, v.errorCell)
	}
	for _, group := range v.groups() {
		for i, c := range group {
			line := Row{Notes: v.notes(c), Who: c.ID, Apart: i == 0 && len(t.Rows) > 0}
			for _, field := range fields {
				line.Cells = append(line.Cells, field(c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// named is how a contender is called in the first column.
func (v *view) named(c tare.Contender) string {
	if c.ID == v.baseline {
		return c.Title() + " (baseline)"
	}
	return c.Title()
}

// valueCell is one figure, struck where it does not count.
func (v *view) valueCell(c tare.Contender, metric string, s scale) Field {
	x, ok := v.value(c.ID, metric)
	switch {
	case !ok:
		return Field{Text: nothing}
	case x.Struck || len(v.voidsOf(c.ID, metric)) > 0:
		return crossed(s.print(x.Value))
	}
	return Field{Text: s.print(x.Value)}
}

// rateCell is the time of a request as requests per second.
func (v *view) rateCell(c tare.Contender) Field {
	x, ok := v.value(c.ID, "time")
	rate := 1e9 / x.Value
	text := perSecond(rate)
	if rate >= 1000 {
		text = format.Grouped(rate, 0)
	}
	switch {
	case !ok || !(x.Value > 0):
		return Field{Text: nothing}
	case x.Struck || len(v.voidsOf(c.ID, "time")) > 0:
		return crossed(text)
	}
	return Field{Text: text}
}

// errorsCounted reports whether the requests that failed were counted here.
func (v *view) errorsCounted() bool {
	return v.hasTraffic() && slices.ContainsFunc(v.r.Trials, func(t tare.Trial) bool {
		_, ok := t.Samples[v.workload][tare.KeyErrors]
		return ok
	})
}

// anyFailed reports whether any request here did.
func (v *view) anyFailed() bool {
	return v.hasTraffic() && slices.ContainsFunc(v.r.Trials, func(t tare.Trial) bool { return t.Samples[v.workload][tare.KeyErrors] > 0 })
}

// failed says that no request did; empty where some did, or nobody counted.
func (v *view) failed() string {
	if v.anyFailed() || !v.errorsCounted() {
		return ""
	}
	return "Every request was answered as it should be, and none timed out."
}

// errorCell is how many requests of all rounds were not answered as they should
// be, and how many of these timed out.
func (v *view) errorCell(c tare.Contender) Field {
	all := samples(v.r, c.ID, v.workload)
	errors, ok := total(all, keyed(tare.KeyErrors))
	if !ok {
		return Field{Text: nothing}
	}
	text := format.Grouped(errors, 0)
	if timeouts, _ := total(all, keyed(tare.KeyTimeouts)); timeouts > 0 {
		text += " (" + format.Grouped(timeouts, 0) + ")"
	}
	if errors > 0 {
		return Field{text, Bad}
	}
	return Field{Text: text}
}

// hasTraffic reports whether requests reach a server here.
func (v *view) hasTraffic() bool {
	return slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic != nil })
}

func (v *view) intervalUnit(metric string) string {
	if usual := v.usual(metric); usual > 0 {
		return "ratio [" + level(usual) + " interval]"
	}
	return "ratio [interval]"
}

// held is what was measured of a comparison, with its level where that is
// another than the column's head says.
func (v *view) held(x tare.Comparison) string {
	text := measured(x)
	if usual := v.usual(x.Metric); !x.Exact && x.Low > 0 && x.High > 0 && x.Level > 0 && level(x.Level) != level(usual) {
		text += " at " + level(x.Level)
	}
	return text
}

// scale fits the figures of those that do the work; the null contender and
// struck figures follow.
func (v *view) scale(metric string) scale {
	m := metricNamed(metric)
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
	s := scaleFor(m.Unit, used)
	if v.ofRequests() {
		s.unit = perRequest(s.unit)
	}
	return s
}

func (v *view) ratioCell(c tare.Contender) Field { return v.ratioOf(c, v.leading(), v.held) }

// ratioOf is the contender's ratio to the baseline by metric.
func (v *view) ratioOf(c tare.Contender, metric string, shown func(tare.Comparison) string) Field {
	void := len(v.voidsOf(c.ID, metric)) > 0
	x, ok := v.comparison(c.ID, metric)
	switch {
	case void && ok && x.Ratio > 0:
		return crossed(format.Ratio(x.Ratio))
	case c.Role == tare.RoleNull:
		return Field{"not compared", Dim}
	case void:
		return Field{"void", Bad}
	case c.ID == v.baseline:
		return Field{Text: "1"}
	case c.Role == tare.RoleTrap:
		return Field{"not compared", Dim}
	case ok:
		return Field{Text: shown(x)}
	}
	return Field{Text: nothing}
}

// measured is a comparison's ratio and its interval.
func measured(c tare.Comparison) string {
	if c.Exact {
		return exactly(c.Ratio)
	}
	return format.Ratio(c.Ratio) + " " + interval(c.Low, c.High)
}

// rankCell is the place and the letters; the baseline's stand in whichever
// comparison is about it.
func (v *view) rankCell(c tare.Contender) Field {
	if len(v.voidsOf(c.ID, primaryMetric(v.r))) > 0 {
		return Field{Text: nothing}
	}
	x, ok := tare.FindComparison(v.r.Comparisons, v.workload, c.ID, primaryMetric(v.r))
	if !ok || x.RankLow == 0 {
		return Field{Text: nothing}
	}
	place := fmt.Sprint(x.RankLow)
	if x.RankHigh > x.RankLow {
		place += fmt.Sprintf("–%d", x.RankHigh)
	}
	return Field{Text: strings.TrimSpace(place + " " + x.Letters)}
}

// unranked says why nobody has a place, where there is somebody to rank.
func (v *view) unranked() string {
	if v.leading() != primaryMetric(v.r) {
		return "No ranks: contenders are ranked by " + primaryMetric(v.r) + ", which is not measured on this workload."
	}
	rounds, contenders := 0, 0
	for _, c := range v.ranked {
		if len(v.voidsOf(c.ID, primaryMetric(v.r))) == 0 {
			contenders++
		}
	}
	for _, x := range v.r.Comparisons {
		if x.Workload == v.workload && x.Metric == primaryMetric(v.r) {
			rounds = max(rounds, x.Rounds)
		}
	}
	if contenders < 2 || rounds == 0 || len(v.places()) > 0 {
		return ""
	}
	return fmt.Sprintf("No ranks: telling %d contenders apart pair by pair takes more than %s; the ratios to the baseline stand.", contenders, plural(rounds, "round"))
}

// others is the table of the other metrics' ratios.
func (v *view) others() (Table, bool) {
	names := v.compared()
	t := Table{Columns: []Column{{Name: "contender"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name + " / " + v.baseline, Unit: v.intervalUnit(name)})
	}
	for _, group := range v.groups()[:3] {
		apart := len(t.Rows) > 0
		for _, c := range group {
			if row, ok := v.otherRow(c, names); ok {
				row.Apart, apart = apart, false
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t, len(t.Rows) > 0
}

// compared are the metrics besides the leading one by which anybody is held
// against the baseline here.
func (v *view) compared() []string {
	return slices.DeleteFunc(slices.Clone(v.metrics()), func(name string) bool {
		return name == v.leading() || !slices.ContainsFunc(v.r.Comparisons, func(c tare.Comparison) bool {
			return c.Workload == v.workload && c.Metric == name && c.Against == v.baseline && c.Contender != v.baseline
		})
	})
}

func (v *view) otherRow(c tare.Contender, names []string) (Row, bool) {
	out, any := Row{Cells: []Field{{Text: c.Title()}}, Who: c.ID}, false
	for _, name := range names {
		x, ok := v.comparison(c.ID, name)
		switch {
		case !ok:
			out.Cells = append(out.Cells, Field{Text: nothing})
			continue
		case len(v.voidsOf(c.ID, name)) > 0:
			out.Cells = append(out.Cells, crossed(format.Ratio(x.Ratio)))
		default:
			out.Cells = append(out.Cells, Field{Text: v.held(x)})
		}
		any = true
	}
	return out, any
}
