package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Words above the table of both sides.
const (
	sidesByOne      = "Both sides of one request; the client is the load generator:"
	sidesByOwn      = "Both sides of one request; the client is the contender's own:"
	sidesMean       = "Both sides of one request: CPU time, heap that was allocated, allocations, and bytes on the wire, headers included."
	sidesByOneMeans = " The client is the load generator, one for all: it sends what was encoded beforehand, so that its CPU time and bytes are those of that engine and not of an idiomatic client."
	sidesByOwnMeans = " The client is the contender's own, in a process of its own, and does all that a caller of it does; its bytes on the wire are not counted."
)

// kindRPC is the kind of which contenders bring a client.
const kindRPC = "rpc"

// driver and byClient are how a workload of that kind says that this client
// asks, in place of the load generator.
const (
	driver   = "driver"
	byClient = "client"
)

// byOwnClient reports whether contenders are asked by clients of their own.
func byOwnClient(w tare.Workload) bool { return w.Set[driver] == byClient }

// suffix is what is said of such a workload wherever it is headed.
func suffix(w tare.Workload) string {
	if byOwnClient(w) {
		return " (by each one's own client)"
	}
	return ""
}

// twoSided reports whether the workload has a table of server and client, in
// which measures that are said of both stand side by side.
func (v *view) twoSided() bool {
	return v.hasTraffic() && v.r.Kind == kindRPC
}

// onSides are the measures of that table, but for CPU time and what is only on
// the wire.
func onSides() []string {
	return []string{"client-cpu", "bytes", "client-bytes", "allocs", "client-allocs"}
}

// bothSides is the table of what a request costs server and client.
func (v *view) bothSides() (t Table, means string) {
	if !v.twoSided() {
		return Table{}, ""
	}
	t.Columns = []Column{{Name: "contender"}}
	var fields []func(tare.Contender) Field
	add := func(side, unit string, of func(tare.Contender) Field) {
		t.Columns, fields = append(t.Columns, Column{Name: side, Unit: unit, Right: true}), append(fields, of)
	}
	for _, m := range []struct{ name, side, of string }{
		{"cpu", "server", "cpu, "}, {"client-cpu", "client", "cpu, "},
		{"bytes", "server", "heap, "}, {"client-bytes", "client", "heap, "},
		{"allocs", "server", "allocs"}, {"client-allocs", "client", "allocs"},
	} {
		if !v.shows(m.name) {
			continue
		}
		s := v.scale(m.name)
		unit := m.of
		if unit != "allocs" {
			short, _, _ := strings.Cut(s.unit, "/")
			unit += short
		}
		add(m.side, unit, func(c tare.Contender) Field { return v.valueCell(c, m.name, s) })
	}
	for _, d := range onWire(dials(tare.Traffic{})) {
		if slices.ContainsFunc(v.r.Contenders, func(c tare.Contender) bool {
			_, _, ok := extent(samples(v.r, c.ID, v.workload), d.of)
			return ok && c.Role != tare.RoleNull // which the load generator asks everywhere
		}) {
			d.print = wireBytes
			add(d.name, "wire, B", func(c tare.Contender) Field { return Field{Text: d.read(samples(v.r, c.ID, v.workload))} })
		}
	}
	for _, group := range v.groups() {
		for i, c := range group {
			line := Row{Cells: []Field{{Text: v.named(c)}}, Who: c.ID, Apart: i == 0 && len(t.Rows) > 0}
			for _, f := range fields {
				line.Cells = append(line.Cells, f(c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	short, long := sidesByOne, sidesMean+sidesByOneMeans
	if slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && byOwnClient(w) }) {
		short, long = sidesByOwn, sidesMean+sidesByOwnMeans
	}
	if v.told[long] {
		return t, short
	}
	v.told[long] = true
	return t, long
}

// shows reports whether there is a figure of the metric here.
func (v *view) shows(metric string) bool {
	return slices.Contains(v.metrics(), metric) && slices.ContainsFunc(v.r.Values, func(x tare.Value) bool {
		return x.Workload == v.workload && x.Metric == metric
	})
}

// wireBytes prints bytes of one request: of many a tenth says nothing.
func wireBytes(x float64) string {
	if x >= 100 {
		return format.Grouped(x, 0)
	}
	return strings.TrimSuffix(format.Grouped(x, 1), ".0")
}

// onWire are the dials of what a request is on the wire.
func onWire(all []dial) []dial {
	return slices.DeleteFunc(all, func(d dial) bool { return d.csv != tare.KeyBytesSent && d.csv != tare.KeyBytesReceived })
}
