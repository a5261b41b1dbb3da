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

// driverKey and clientDriver are the setting with which a workload makes this client
// send the requests, in place of the load generator.
const (
	driverKey    = "driver"
	clientDriver = "client"
)

// hasOwnClient reports whether the contenders' clients send the requests of w.
func hasOwnClient(w tare.Workload) bool { return w.Set[driverKey] == clientDriver }

// headingSuffix returns the text after the name of a workload in headings, or "".
func headingSuffix(w tare.Workload) string {
	if hasOwnClient(w) {
		return " (by each one's own client)"
	}
	return ""
}

// isTwoSided reports whether the workload has a table of server and client, which lists the metrics of both
// next to each other.
func (v *view) isTwoSided() bool {
	return v.hasTraffic() && v.r.Kind == kindRPC
}

// sideMetrics returns the metrics of that table, except CPU time and bytes on the wire.
func sideMetrics() []string {
	return []string{"client-cpu", "bytes", "client-bytes", "allocs", "client-allocs"}
}

// newSidesTable returns the costs of a request on server and client, and their explanation.
func (v *view) newSidesTable() (t Table, means string) {
	if !v.isTwoSided() {
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
		if !v.hasValues(m.name) {
			continue
		}
		s := v.metricScale(m.name)
		unit := m.of
		if unit != "allocs" {
			short, _, _ := strings.Cut(s.unit, "/")
			unit += short
		}
		add(m.side, unit, func(c tare.Contender) Field { return v.newValueCell(c, m.name, s) })
	}
	for _, d := range wireStats(listDriveStats(tare.Traffic{})) {
		if slices.ContainsFunc(v.r.Contenders, func(c tare.Contender) bool {
			_, _, ok := findRange(listSamples(v.r, c.ID, v.workload), d.read)
			return ok && c.Role != tare.RoleNull // the load generator is its client everywhere
		}) {
			d.print = formatWireBytes
			add(d.name, "wire, B", func(c tare.Contender) Field { return Field{Text: d.formatRange(listSamples(v.r, c.ID, v.workload))} })
		}
	}
	for _, group := range v.listGroups() {
		for i, c := range group {
			line := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: i == 0 && len(t.Rows) > 0}
			for _, f := range fields {
				line.Cells = append(line.Cells, f(c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	short, long := sidesByOne, sidesMean+sidesByOneMeans
	if slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && hasOwnClient(w) }) {
		short, long = sidesByOwn, sidesMean+sidesByOwnMeans
	}
	if v.shown[long] {
		return t, short
	}
	v.shown[long] = true
	return t, long
}

// hasValues reports whether the workload has values of the metric.
func (v *view) hasValues(metric string) bool {
	return slices.Contains(v.listMetrics(), metric) && slices.ContainsFunc(v.r.Values, func(x tare.Value) bool {
		return x.Workload == v.workload && x.Metric == metric
	})
}

// formatWireBytes prints the bytes of one request, from 100 on without a decimal.
func formatWireBytes(x float64) string {
	if x >= 100 {
		return format.Grouped(x, 0)
	}
	return strings.TrimSuffix(format.Grouped(x, 1), ".0")
}

// wireStats returns the statistics of bytes on the wire.
func wireStats(all []driveStat) []driveStat {
	return slices.DeleteFunc(all, func(d driveStat) bool { return d.csv != tare.KeyBytesSent && d.csv != tare.KeyBytesReceived })
}
