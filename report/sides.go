package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Studies of kind rpc measure both the server and the client of a request. Texts above their table of both sides: a
// long text above the first such table of a report, a short one above the others.
const (
	sidesByOne      = "Both sides of one request; the client is the load generator:"
	sidesByOwn      = "Both sides of one request; the client is the contender's own:"
	sidesMean       = "Both sides of one request: CPU time, heap that was allocated, allocations, and bytes on the wire, headers included."
	sidesByOneMeans = " The client is the load generator, one for all: it sends what was encoded beforehand, so that its CPU time and bytes are those of that engine and not of an idiomatic client."
	sidesByOwnMeans = " The client is the contender's own, in a process of its own, and does all that a caller of it does; its bytes on the wire are not counted."
)

// kindRPC is the kind of studies whose contenders have a client of their own.
const kindRPC = "rpc"

// driverKey and clientDriver are the name and the value of a workload's setting: with it, the contender's own client
// sends the requests, otherwise the load generator does.
const (
	driverKey    = "driver"
	clientDriver = "client"
)

// sendsByContender reports whether the contenders' clients send the requests of w.
func sendsByContender(w tare.Workload) bool { return w.Set[driverKey] == clientDriver }

// headingSuffix returns the text to print after the name of a workload in headings; usually "".
func headingSuffix(w tare.Workload) string {
	if sendsByContender(w) {
		return " (by each one's own client)"
	}
	return ""
}

// isTwoSided reports whether the workload has the table of both sides.
func (v *view) isTwoSided() bool {
	return v.hasTraffic() && v.r.Kind == kindRPC
}

// sideMetrics returns the metrics that only the table of both sides has. CPU time of the server is also in the
// primary table.
func sideMetrics() []string {
	return []string{"client-cpu", "bytes", "client-bytes", "allocs", "client-allocs"}
}

// newSidesTable returns the table of both sides, with the costs of a request on server and client, and the text above
// it. means is "" if the workload has no such table.
func (v *view) newSidesTable() (t Table, means string) {
	if !v.isTwoSided() {
		return Table{}, ""
	}
	t.Columns = []Column{{Name: "contender"}}
	var newCells []func(tare.Contender) Field // one function per column after the first, which returns a contender's cell
	addColumn := func(name, unit string, newCell func(tare.Contender) Field) {
		t.Columns = append(t.Columns, Column{Name: name, Unit: unit, Right: true})
		newCells = append(newCells, newCell)
	}
	for _, m := range []struct{ name, side, quantity string }{
		{"cpu", "server", "cpu, "},
		{"client-cpu", "client", "cpu, "},
		{"bytes", "server", "heap, "},
		{"client-bytes", "client", "heap, "},
		{"allocs", "server", "allocs"},
		{"client-allocs", "client", "allocs"},
	} {
		if !v.hasValues(m.name) {
			continue
		}
		s := v.metricScale(m.name)
		unit := m.quantity
		if unit != "allocs" { // a count without a unit
			short, _, _ := strings.Cut(s.unit, "/")
			unit += short
		}
		addColumn(m.side, unit, func(c tare.Contender) Field { return v.newValueCell(c, m.name, s) })
	}
	for _, d := range listLoadStats(tare.Traffic{}) {
		isRecorded := func(c tare.Contender) bool {
			_, _, ok := findRange(listSamples(v.r, c.ID, v.workload), d.read)
			return ok && c.Role != tare.RoleNull // the client of the null contender is always the load generator
		}
		if d.isWire() && slices.ContainsFunc(v.r.Contenders, isRecorded) {
			d.print = formatWireBytes
			addColumn(d.name, "wire, B", func(c tare.Contender) Field { return Field{Text: d.formatRange(listSamples(v.r, c.ID, v.workload))} })
		}
	}
	for _, group := range v.listGroups() {
		for i, c := range group {
			line := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: i == 0 && len(t.Rows) > 0}
			for _, newCell := range newCells {
				line.Cells = append(line.Cells, newCell(c))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	short, long := sidesByOne, sidesMean+sidesByOneMeans
	if slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && sendsByContender(w) }) {
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

// isWire reports whether statistic d of the load counts bytes on the wire.
func (d loadStat) isWire() bool { return d.csv == tare.KeyBytesSent || d.csv == tare.KeyBytesReceived }
