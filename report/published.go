package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const publishedHeading = "Published figures next to those measured here"

// A publication may have a table of servers, with throughput and latency per operation and contender. addPublished
// adds such a table with the values of this run. The result needs published ratios for a workload with servers.
func (s *Section) addPublished(r *tare.Result) {
	b, ok := newPublishedTable(r)
	if !ok {
		return
	}
	s.addText(Dim, b.explainTables())
	for _, t := range b.newTables() {
		s.addSpace()
		s.addTable("", "", t)
	}
	s.addSpace()
	s.addText(Warned, b.describeMissing())
	if items := b.listOmitted(); len(items) > 0 {
		s.addText(Dim, "Published under the same heading, and without a row:")
		s.addList("", items...)
	}
}

// publishedTable makes the table. Its operations are workloads.
type publishedTable struct {
	r     *tare.Result
	base  string  // id of the baseline
	works []*view // measured operations
}

func newPublishedTable(r *tare.Result) (*publishedTable, bool) {
	b := &publishedTable{r: r, base: r.Baseline()}
	for _, w := range r.Workloads {
		isPublished := slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool {
			return c.Kind == tare.ClaimRatio && c.Published > 0 && c.Workload == w.ID
		})
		if w.Traffic == nil || !isPublished {
			continue
		}
		if v := newView(r, w.ID); len(b.listContenders(v)) > 1 {
			b.works = append(b.works, v)
		}
	}
	return b, b.base != "" && len(b.works) > 0
}

// listContenders returns the baseline and the contenders of an operation with published values.
func (b *publishedTable) listContenders(v *view) []tare.Contender {
	isPublished := func(c tare.Contender) bool {
		return slices.ContainsFunc(b.r.Claims, func(x tare.ClaimResult) bool {
			return x.Kind == tare.ClaimRatio && x.Published > 0 && x.Workload == v.workload && x.Contender == c.ID
		})
	}
	return slices.DeleteFunc(slices.Concat(v.ranked, v.statusOnly, v.traps), func(c tare.Contender) bool {
		return c.ID != b.base && !isPublished(c)
	})
}

// hasSegment reports whether an operation was measured in continuous segments, which latencies need.
func (b *publishedTable) hasSegment(v *view) bool {
	return slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic.Segment > 0 })
}

// operationSuffix marks an operation whose requests come from the contenders' own clients.
func (b *publishedTable) operationSuffix(v *view) string {
	for _, w := range b.r.Workloads {
		if w.ID == v.workload && sendsByContender(w) {
			return ", own client"
		}
	}
	return ""
}

func (b *publishedTable) explainTables() string {
	text := "One row for each operation and contender with a published ratio that is tested, and the baseline. Time is wall time divided by requests answered, the inverse of the rate: it is not how long a request takes."
	switch {
	case slices.ContainsFunc(b.works, b.hasSegment): // these tables have latencies
	case slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Segment > 0 }):
		text += " How long a request takes (its latency) is in the tables of the workloads that measured it."
	default:
		text += " How long a request takes (its latency) was not measured in this run."
	}
	text += " CPU time, bytes and allocations are the server's."
	if primary := primaryMetric(b.r); primary != "" {
		text += " Ranks are by " + primary + " and among all contenders of the operation: 1–3 is a tie for these places."
	}
	return text + " Published ratios were measured on another machine; next to them are the published figures, the baseline's rate above the contender's for a ratio of times. The levels of intervals are those of the operation's own table."
}

// describeMissing names operations with published values that were not measured.
func (b *publishedTable) describeMissing() string {
	var ids []string
	for _, c := range b.r.Claims {
		isMeasured := slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == c.Workload })
		if c.Kind == tare.ClaimRatio && c.Workload != "" && !isMeasured && !slices.Contains(ids, c.Workload) {
			ids = append(ids, c.Workload)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "Published as well, and not measured in this run: " + joinNames(ids) + "."
}

// listOmitted returns the published figures without a row, with the reason. They are only reported, under a
// heading with figures of the table.
func (b *publishedTable) listOmitted() []Item {
	isInTable := func(c tare.ClaimResult) bool {
		return c.Kind == tare.ClaimRatio && c.Contender != b.base && slices.ContainsFunc(b.works, func(v *view) bool { return v.workload == c.Workload })
	}
	var items []Item
	for _, c := range b.r.Claims {
		hasNeighbour := slices.ContainsFunc(b.r.Claims, func(x tare.ClaimResult) bool { return isInTable(x) && x.Source == c.Source && x.Place == c.Place })
		hasRow := slices.ContainsFunc(b.r.Claims, func(x tare.ClaimResult) bool { return isInTable(x) && strings.HasPrefix(c.ID, x.ID+"/") })
		if c.Kind == tare.ClaimReported && c.Published > 0 && hasNeighbour && !hasRow {
			items = append(items, Item{Text: c.Statement + ": " + c.Why})
		}
	}
	return items
}

// newTables returns tables of measured values and of measured next to published ratios. Throughput comes before
// latency.
func (b *publishedTable) newTables() []Table {
	var out []Table
	for _, isLatency := range []bool{false, true} {
		works := slices.DeleteFunc(slices.Clone(b.works), func(v *view) bool { return b.hasSegment(v) != isLatency })
		if len(works) == 0 {
			continue
		}
		if t := b.newMedianTable(works, isLatency); len(t.Columns) > 1 {
			out = append(out, t)
		}
		if t := b.newRatioTable(works); len(t.Columns) > 1 {
			out = append(out, t)
		}
	}
	return out
}

type tableField struct {
	Column
	cell func(*view, tare.Contender) Field
}

// newFieldTable returns a table with a column per field. A row with an operation's name is above its contenders.
func (b *publishedTable) newFieldTable(works []*view, fields []tableField) Table {
	t := Table{Columns: []Column{{Name: "operation,", Unit: "contender"}}}
	for _, f := range fields {
		t.Columns = append(t.Columns, f.Column)
	}
	for _, v := range works {
		t.Rows = append(t.Rows, Row{Cells: []Field{{v.workload + b.operationSuffix(v), Bold}}, Apart: len(t.Rows) > 0})
		for _, c := range b.listContenders(v) {
			line := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID}
			for _, f := range fields {
				line.Cells = append(line.Cells, f.cell(v, c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// newMedianTable returns the medians of latencies, or of other metrics with rate and ranks.
func (b *publishedTable) newMedianTable(works []*view, isLatency bool) Table {
	var fields []tableField
	for _, name := range []string{"time", "cpu", "bytes", "allocs", "p50", "p99"} {
		m := findMetric(name)
		values := b.listValues(works, name)
		if !slices.Contains(b.r.Metrics, name) || len(values) == 0 || m.IsLatency() != isLatency {
			continue
		}
		s := newScale(m.Unit, values)
		s.unit = requestUnit(s.unit)
		if m.IsLatency() {
			s = latencyScale(values)
		}
		fields = append(fields, tableField{Column{Name: name, Unit: s.unit, Right: true}, func(v *view, c tare.Contender) Field { return v.newValueCell(c, name, s) }})
		if name == "time" {
			fields = append(fields, tableField{Column{Name: "rate", Unit: "requests/s", Right: true}, (*view).newRateCell})
		}
	}
	if !isLatency && slices.ContainsFunc(works, func(v *view) bool { return len(v.rankRanges()) > 0 }) {
		fields = append(fields, tableField{Column{Name: "rank", Unit: "by " + primaryMetric(works[0].r)}, func(v *view, c tare.Contender) Field {
			rank, _, _ := strings.Cut(v.newRankCell(c).Text, " ") // without letters
			return Field{Text: rank}
		}})
	}
	return b.newFieldTable(works, fields)
}

// listValues returns the values of a metric for the table, without struck ones.
func (b *publishedTable) listValues(works []*view, metric string) []float64 {
	var out []float64
	for _, v := range works {
		for _, c := range b.listContenders(v) {
			if x, ok := v.findValue(c.ID, metric); ok && !x.Struck {
				out = append(out, x.Value)
			}
		}
	}
	return out
}

// newRatioTable returns measured next to published ratios to the baseline.
func (b *publishedTable) newRatioTable(works []*view) Table {
	var fields []tableField
	for _, name := range b.r.Metrics {
		isPublished := slices.ContainsFunc(b.r.Claims, func(c tare.ClaimResult) bool {
			return c.Kind == tare.ClaimRatio && c.Metric == name && slices.ContainsFunc(works, func(v *view) bool { return v.workload == c.Workload })
		})
		if !isPublished || strings.HasPrefix(name, "client-") {
			continue
		}
		fields = append(fields,
			tableField{Column{Name: name + " / " + b.base, Unit: "ratio [interval]"}, func(v *view, c tare.Contender) Field { return v.newRatioField(c, name, formatRatio) }},
			tableField{Column{Name: "published", Unit: "ratio: figures"}, func(v *view, c tare.Contender) Field { return b.claimField(v, c, name) }})
	}
	return b.newFieldTable(works, fields)
}

// claimField returns the published ratio of a contender with its sources. Claims that ask the figures of an
// earlier claim under other conditions were not published of this contender.
func (b *publishedTable) claimField(v *view, c tare.Contender, metric string) Field {
	if c.ID == b.base {
		return Field{Text: "1"}
	}
	for _, x := range b.r.Claims {
		if x.Kind == tare.ClaimRatio && x.Workload == v.workload && x.Contender == c.ID && x.Metric == metric && !b.repeatsFigures(x) {
			return Field{Text: formatPublished(x) + formatRates(x)}
		}
	}
	return Field{Text: noValue}
}

// repeatsFigures reports whether an earlier claim has the published figures of x, and measured another
// contender on the same workload.
func (b *publishedTable) repeatsFigures(x tare.ClaimResult) bool {
	for _, earlier := range b.r.Claims {
		if earlier.ID == x.ID {
			return false
		}
		hasFigures := earlier.PublishedBaseline == x.PublishedBaseline && earlier.PublishedValue == x.PublishedValue
		isMeasured := earlier.Outcome != tare.NotMeasured && earlier.Workload == x.Workload && earlier.Metric == x.Metric
		if hasFigures && isMeasured && x.PublishedValue > 0 && earlier.Contender != x.Contender {
			return true
		}
	}
	return false
}

// formatSources returns the two values of a published ratio, for the end of a field.
func formatSources(c tare.ClaimResult) string {
	if !(c.PublishedValue > 0) || !(c.PublishedBaseline > 0) {
		return ""
	}
	formatSource := func(x float64) string {
		if x == math.Trunc(x) {
			return format.Grouped(x, 0)
		}
		return format.Digits(x, 4)
	}
	return ": " + formatSource(c.PublishedValue) + " / " + formatSource(c.PublishedBaseline) + " " + c.Unit
}

// formatRates returns published times of a request as the rates that were published. Other values it leaves to
// formatSources.
func formatRates(c tare.ClaimResult) string {
	perSecond := map[string]float64{"ns/request": 1e9, "µs/request": 1e6, "ms/request": 1e3, "s/request": 1}[c.Unit]
	if perSecond == 0 || c.Metric != "time" || !(c.PublishedValue > 0) || !(c.PublishedBaseline > 0) {
		return formatSources(c)
	}
	return fmt.Sprintf(": %s / %s requests/s", format.Grouped(perSecond/c.PublishedBaseline, 0), format.Grouped(perSecond/c.PublishedValue, 0))
}
