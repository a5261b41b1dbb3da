package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Studies of kind rpc measure both sides of a request. The first table of both sides in a report has a long text
// above, others a short one.
const (
	sidesByOne      = "Both sides of one request; the client is the load generator:"
	sidesByOwn      = "Both sides of one request; the client is the contender's own:"
	sidesMean       = "Both sides of one request: CPU time, heap that was allocated, allocations, and bytes on the wire, headers included."
	sidesByOneMeans = " The client is the load generator, one for all: it sends what was encoded beforehand, so that its CPU time and bytes are those of that engine and not of an idiomatic client."
	sidesByOwnMeans = " The client is the contender's own, in a process of its own, and does all that a caller of it does; its bytes on the wire are not counted."
)

// kindRPC is the kind of studies whose contenders have clients of their own.
const kindRPC = "rpc"

// driverKey and clientDriver are a workload's setting. With it the contender's own client sends the requests, not
// the load generator.
const (
	driverKey    = "driver"
	clientDriver = "client"
)

func sendsByContender(w tare.Workload) bool { return w.Set[driverKey] == clientDriver }

// headingSuffix returns a text to print after the name of a workload.
func headingSuffix(w tare.Workload) string {
	if sendsByContender(w) {
		return " (by each one's own client)"
	}
	return ""
}

func (v *view) isTwoSided() bool {
	return v.hasTraffic() && v.r.Kind == kindRPC
}

// sideMetrics returns the metrics that only the table of both sides has.
func sideMetrics() []string {
	return []string{"client-cpu", "bytes", "client-bytes", "allocs", "client-allocs"}
}

// newSidesTable returns the costs of a request on server and client, and the text above. means is "" without such
// a table.
func (v *view) newSidesTable() (t Table, means string) {
	if !v.isTwoSided() {
		return Table{}, ""
	}
	t.Columns = []Column{{Name: "contender"}}
	var newCells []func(tare.Contender) Field // one function per column after the first
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
		if unit != "allocs" { // counts have no unit
			short, _, _ := strings.Cut(s.unit, "/")
			unit += short
		}
		addColumn(m.side, unit, func(c tare.Contender) Field { return v.newValueCell(c, m.name, s) })
	}
	for _, d := range listLoadStats(tare.Traffic{}) {
		isRecorded := func(c tare.Contender) bool {
			_, _, ok := findRange(listSamples(v.r, c.ID, v.workload), d.read)
			return ok && c.Role != tare.RoleNull // the contender that does nothing has no client of its own
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

func (v *view) hasValues(metric string) bool {
	return slices.Contains(v.listMetrics(), metric) && slices.ContainsFunc(v.r.Values, func(x tare.Value) bool {
		return x.Workload == v.workload && x.Metric == metric
	})
}

func formatWireBytes(x float64) string {
	if x >= 100 {
		return format.Grouped(x, 0)
	}
	return strings.TrimSuffix(format.Grouped(x, 1), ".0")
}

func (d loadStat) isWire() bool { return d.csv == tare.KeyBytesSent || d.csv == tare.KeyBytesReceived }
