package report

import (
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const publishedHeading = "The published table, measured here"

// published adds the table that the original author published, with what was
// measured here beside it. It adds nothing unless the study has published ratios for
// a server's workload.
func (s *Section) published(r *tare.Result) {
	b, ok := boardOf(r)
	if !ok {
		return
	}
	s.say(Dim, b.means())
	for _, t := range b.tables() {
		s.space()
		s.show("", "", t)
	}
	s.space()
	s.say(Warned, b.missing())
}

// board is the published table: its operations, each with the contenders that have
// published figures.
type board struct {
	r     *tare.Result
	base  string
	works []*view // measured, in the order of the study
}

// boardOf is the table of r; it reports false where no ratio was published for
// a server that was measured.
func boardOf(r *tare.Result) (*board, bool) {
	b := &board{r: r, base: r.Baseline()}
	for _, w := range r.Workloads {
		if w.Traffic == nil || !slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Kind == tare.ClaimRatio && c.Workload == w.ID }) {
			continue
		}
		if v := look(r, w.ID, map[string]bool{}); len(b.rows(v)) > 1 {
			b.works = append(b.works, v)
		}
	}
	return b, b.base != "" && len(b.works) > 0
}

// rows are the contenders of an operation that figures were published of, the
// baseline among them, in the order of the operation's own table.
func (b *board) rows(v *view) []tare.Contender {
	return slices.DeleteFunc(slices.Concat(v.ranked, v.aside, v.traps), func(c tare.Contender) bool {
		return c.ID != b.base && !slices.ContainsFunc(b.r.Claims, func(x tare.ClaimResult) bool {
			return x.Kind == tare.ClaimRatio && x.Workload == v.workload && x.Contender == c.ID
		})
	})
}

// alone reports whether an operation was measured in a continuous segment, for
// latencies.
func (b *board) alone(v *view) bool {
	return slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic.Segment > 0 })
}

// suffix says of an operation that the contender's own client asks.
func (b *board) suffix(v *view) string {
	for _, w := range b.r.Workloads {
		if w.ID == v.workload && byOwnClient(w) {
			return ", own client"
		}
	}
	return ""
}

// means says what the tables show.
func (b *board) means() string {
	text := "One row for each operation and contender that figures were published of. Time is wall time divided by requests answered, the inverse of the rate: it is not how long a request takes."
	switch {
	case slices.ContainsFunc(b.works, b.alone):
	case slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Segment > 0 }):
		text += " How long a request takes (its latency) is in the tables of the workloads that measured it."
	default:
		text += " How long a request takes (its latency) was not measured in this run."
	}
	text += " CPU time, bytes and allocations are the server's."
	if primary := primaryMetric(b.r); primary != "" {
		text += " Ranks are by " + primary + " and among all contenders of the operation: 1–3 is a tie for these places."
	}
	return text + " Published ratios stand beside those measured, with the figures they are of, the contender's and " + b.base + "'s on another machine. The levels of intervals are those of the operation's own table."
}

// missing names the operations that figures were published of and that were not
// measured.
func (b *board) missing() string {
	var ids []string
	for _, c := range b.r.Claims {
		known := slices.ContainsFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == c.Workload })
		if c.Kind == tare.ClaimRatio && c.Workload != "" && !known && !slices.Contains(ids, c.Workload) {
			ids = append(ids, c.Workload)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "Published as well, and not measured in this run: " + inWords(ids) + "."
}

// tables are, for throughput and then for latency, the measured figures and the
// ratios beside the published ones.
func (b *board) tables() []Table {
	var out []Table
	for _, latency := range []bool{false, true} {
		works := slices.DeleteFunc(slices.Clone(b.works), func(v *view) bool { return b.alone(v) != latency })
		if len(works) == 0 {
			continue
		}
		if t := b.figures(works, latency); len(t.Columns) > 1 {
			out = append(out, t)
		}
		if t := b.ratios(works); len(t.Columns) > 1 {
			out = append(out, t)
		}
	}
	return out
}

// field is a column and what it shows of a contender of an operation.
type field struct {
	Column
	of func(*view, tare.Contender) Field
}

// laid is a table of fields, a line with the operation before its contenders.
func (b *board) laid(works []*view, fields []field) Table {
	t := Table{Columns: []Column{{Name: "operation,", Unit: "contender"}}}
	for _, f := range fields {
		t.Columns = append(t.Columns, f.Column)
	}
	for _, v := range works {
		t.Rows = append(t.Rows, Row{Cells: []Field{{v.workload + b.suffix(v), Bold}}, Apart: len(t.Rows) > 0})
		for _, c := range b.rows(v) {
			line := Row{Cells: []Field{{Text: v.named(c)}}, Who: c.ID}
			for _, f := range fields {
				line.Cells = append(line.Cells, f.of(v, c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// figures are the medians, or those of latencies.
func (b *board) figures(works []*view, latency bool) Table {
	var fields []field
	for _, name := range []string{"time", "cpu", "bytes", "allocs", "p50", "p99"} {
		m := metricNamed(name)
		values := b.values(works, name)
		if !slices.Contains(b.r.Metrics, name) || len(values) == 0 || m.IsLatency() != latency {
			continue
		}
		s := scaleFor(m.Unit, values)
		s.unit = perRequest(s.unit)
		if m.IsLatency() {
			s = latencyScale(values)
		}
		fields = append(fields, field{Column{Name: name, Unit: s.unit, Right: true}, func(v *view, c tare.Contender) Field { return v.valueCell(c, name, s) }})
		if name == "time" {
			fields = append(fields, field{Column{Name: "rate", Unit: "requests/s", Right: true}, (*view).rateCell})
		}
	}
	if !latency && slices.ContainsFunc(works, func(v *view) bool { return len(v.places()) > 0 }) {
		fields = append(fields, field{Column{Name: "rank", Unit: "by " + primaryMetric(works[0].r)}, func(v *view, c tare.Contender) Field {
			place, _, _ := strings.Cut(v.rankCell(c).Text, " ")
			return Field{Text: place}
		}})
	}
	return b.laid(works, fields)
}

// values are those of a metric that the table shows and that count.
func (b *board) values(works []*view, metric string) []float64 {
	var out []float64
	for _, v := range works {
		for _, c := range b.rows(v) {
			if x, ok := v.value(c.ID, metric); ok && !x.Struck {
				out = append(out, x.Value)
			}
		}
	}
	return out
}

// ratios are those to the baseline as measured and as published, for each
// metric that anything was published of.
func (b *board) ratios(works []*view) Table {
	var fields []field
	for _, name := range b.r.Metrics {
		if strings.HasPrefix(name, "client-") || !slices.ContainsFunc(b.r.Claims, func(c tare.ClaimResult) bool {
			return c.Kind == tare.ClaimRatio && c.Metric == name && slices.ContainsFunc(works, func(v *view) bool { return v.workload == c.Workload })
		}) {
			continue
		}
		fields = append(fields,
			field{Column{Name: name + " / " + b.base, Unit: "ratio [interval]"}, func(v *view, c tare.Contender) Field { return v.ratioOf(c, name, measured) }},
			field{Column{Name: "published", Unit: "ratio: figures"}, func(v *view, c tare.Contender) Field { return b.claimed(v, c, name) }})
	}
	return b.laid(works, fields)
}

// claimed is the ratio that was published.
func (b *board) claimed(v *view, c tare.Contender, metric string) Field {
	if c.ID == b.base {
		return Field{Text: "1"}
	}
	for _, x := range b.r.Claims {
		if x.Kind == tare.ClaimRatio && x.Workload == v.workload && x.Contender == c.ID && x.Metric == metric {
			return Field{Text: published(x) + ofFigures(x)}
		}
	}
	return Field{Text: nothing}
}

// ofFigures are those that a published ratio is of, to follow it; empty where the
// result does not have them.
func ofFigures(c tare.ClaimResult) string {
	if !(c.PublishedValue > 0) || !(c.PublishedBaseline > 0) {
		return ""
	}
	figure := func(x float64) string {
		if x == math.Trunc(x) {
			return format.Grouped(x, 0)
		}
		return significant(x, 4)
	}
	return ": " + figure(c.PublishedValue) + " / " + figure(c.PublishedBaseline) + " " + c.Unit
}
