package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

const (
	driveHeading  = "How the servers were driven"
	rateStat      = "rate"
	serverBusy    = "server_busy"
	generatorBusy = "generator_busy"
)

// addLoad adds tables about the load on servers. A page has one table for all workloads, with bytes on the wire.
// Other formats have these bytes in newSidesTable.
func (s *Section) addLoad(r *tare.Result) {
	const withWire, withoutWire = true, false
	s.addOnly(forText|forMarkdown, func() { s.addLoadTables(listLoadTables(r, withoutWire)) })
	s.addOnly(forHTML, func() {
		if tables := listLoadTables(r, withWire); len(tables) > 0 {
			s.addText(Dim, explainLoad(tables)+" What is the same for all contenders of a workload stands behind its name.")
			s.addTable("drives", "", joinLoadTables(tables))
		}
	})
}

// joinLoadTables joins the tables of all workloads. Above a workload's contenders, a row has its name and the
// values that all of them share. Rows of contenders omit these.
func joinLoadTables(tables []loadTable) Table {
	out := Table{Columns: joinColumns(tables)}
	for _, t := range tables {
		heading := strings.TrimSuffix(strings.TrimPrefix(t.caption, "On "), ":")
		var parts []string // shared values
		for i, c := range t.table.Columns {
			if t.isShared(i) {
				parts = append(parts, c.Name+" "+t.table.Rows[0].Cells[i].Text+" "+c.Unit)
			}
		}
		if len(parts) > 0 {
			heading += ": " + strings.Join(parts, ", ")
		}
		out.Rows = append(out.Rows, Row{Cells: []Field{{Text: heading}}})
		for _, row := range t.table.Rows {
			joined := Row{Who: row.Who, Notes: row.Notes, Cells: make([]Field, len(out.Columns))}
			for i, c := range t.table.Columns {
				if !t.isShared(i) {
					joined.Cells[columnNamed(out.Columns, c.Name)] = row.Cells[i]
				}
			}
			out.Rows = append(out.Rows, joined)
		}
	}
	return out
}

// joinColumns returns the columns of all tables, in the order of listLoadStats.
func joinColumns(tables []loadTable) (out []Column) {
	for _, t := range tables {
		last := -1 // previous column of t; a new one follows it
		for _, c := range t.table.Columns {
			if c.Name == rateStat {
				c.Unit = "answered/s" // requested rates differ between workloads
			}
			if columnNamed(out, c.Name) < 0 {
				out = slices.Insert(out, last+1, c)
			}
			last = columnNamed(out, c.Name)
		}
	}
	return out
}

func columnNamed(columns []Column, name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
}

func (s *Section) addLoadTables(tables []loadTable) {
	if len(tables) == 0 {
		return
	}
	s.addText(Dim, explainLoad(tables))
	for _, t := range tables {
		s.addCaptioned(t.caption, t.table)
	}
}

type loadTable struct {
	caption string
	table   Table
}

// isShared reports whether all of several contenders have the same value in column i.
func (t loadTable) isShared(i int) bool {
	if i == 0 || len(t.table.Rows) < 2 { // column 0 has the names
		return false
	}
	return !slices.ContainsFunc(t.table.Rows, func(row Row) bool { return row.Cells[i].Text != t.table.Rows[0].Cells[i].Text })
}

// loadStat is a statistic of the load on a server, from the trials (processes of contenders).
type loadStat struct {
	name, unit string
	means      string // explanation; "" if another statistic has it
	csv        string // metric of CSV rows
	read       sampleReader
	isSum      bool // print the sum over rounds, not a range
	print      func(float64) string
}

func listLoadStats(t tare.Traffic) []loadStat {
	integer := func(x float64) string { return format.Grouped(x, 0) }
	decimal := func(x float64) string { return strings.TrimSuffix(format.Grouped(x, 1), ".0") }
	micros := func(ns float64) string { return format.Grouped(ns/1e3, 0) }
	newStat := func(name, unit, key string, print func(float64) string, means string) loadStat {
		return loadStat{name: name, unit: unit, means: means, csv: key, read: readKey(key), print: print}
	}
	requests := newStat("requests", "in all", tare.KeyRequests, integer, "")
	requests.isSum = true
	out := []loadStat{requests}
	if t.Rate > 0 {
		out = append(out,
			newStat(rateStat, "of "+formatRate(t.Rate)+"/s", tare.KeyRate, decimal, "requests answered per second, of those asked for"),
			newStat("sent late", "p99, µs", tare.KeySendLag, micros, "how much later than intended 99 % of requests were sent at most"))
	}
	return append(out,
		newStat("at once", "requests", tare.KeyConcurrency, decimal, "requests under way, on average"),
		newStat("opened", "a round", tare.KeyConnects, integer, "connections, reconnects included"),
		newStat("sent", "B/req", tare.KeyBytesSent, decimal, "bytes per request to the server, headers included"),
		newStat("received", "B/req", tare.KeyBytesReceived, decimal, "those of the answer"),
		newStat("output", "B/req", tare.KeyOutput, decimal, "what the server wrote to stdout, stderr, its terminal and its log file"),
		newStat("layers", "calls/req", tare.KeyLayers, decimal, "calls of middleware that the server counted"),
		loadStat{
			name: "server", unit: "% busy", means: "CPU time used, of what the cores it may use can give",
			csv: serverBusy, read: readBusy(tare.KeyServerCPU, tare.KeyServerCores), print: integer,
		},
		loadStat{
			name: "generator", unit: "% busy", means: "the same of the load generator; near 100 % it measures itself",
			csv: generatorBusy, read: readBusy(tare.KeyClientCPU, tare.KeyClientCores), print: integer,
		})
}

// listLoadTables returns a table per workload with servers. Without withWire, workloads with a table of both sides
// omit bytes on the wire.
func listLoadTables(r *tare.Result, withWire bool) []loadTable {
	var out []loadTable
	for _, w := range r.Workloads {
		if w.Traffic == nil {
			continue
		}
		if t := newLoadTable(r, w, withWire); len(t.Rows) > 0 {
			out = append(out, loadTable{fmt.Sprintf("On %s (%s):", w.ID, describeTraffic(r, *w.Traffic)), t})
		}
	}
	return out
}

// newLoadTable returns the table of one workload, with a column per recorded statistic. The repeated baseline
// (control) has no row.
func newLoadTable(r *tare.Result, w tare.Workload, withWire bool) Table {
	v := newView(r, w.ID)
	var shown []loadStat
	for _, d := range listLoadStats(*w.Traffic) {
		if d.isWire() && !withWire && v.isTwoSided() {
			continue
		}
		isRecorded := func(t tare.Trial) bool {
			_, ok := d.read(t.Samples[w.ID])
			return ok && t.Error == nil && t.Contender != tare.ControlID
		}
		if slices.ContainsFunc(r.Trials, isRecorded) {
			shown = append(shown, d)
		}
	}
	t := Table{Columns: []Column{{Name: "contender"}}}
	for _, d := range shown {
		t.Columns = append(t.Columns, Column{Name: d.name, Unit: d.unit, Right: true})
	}
	for _, group := range v.listGroups() {
		isFirst := true // of the rows of the group
		for _, c := range group {
			samples := listSamples(r, c.ID, w.ID)
			if c.Role == tare.RoleControl || len(samples) == 0 {
				continue
			}
			row := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: isFirst && len(t.Rows) > 0}
			for _, d := range shown {
				row.Cells = append(row.Cells, Field{Text: d.formatRange(samples)})
			}
			if n, _ := sumSamples(samples, readKey(tare.KeySharedProcess)); n > 0 {
				row.Notes = append(row.Notes, "server and load generator are one process")
			}
			t.Rows, isFirst = append(t.Rows, row), false
		}
	}
	return t
}

func (d loadStat) formatRange(samples []tare.Sample) string {
	least, greatest, ok := findRange(samples, d.read)
	if !ok {
		return noValue
	}
	if d.isSum {
		sum, _ := sumSamples(samples, d.read)
		return d.print(sum)
	}
	return formatSpan(least, greatest, d.print)
}

func explainLoad(tables []loadTable) string {
	text := "Requests are those of all rounds together; the other figures are of one round, the least and the most where rounds differ."
	for _, d := range listLoadStats(tare.Traffic{Rate: 1}) { // with a rate there are all statistics
		hasColumn := func(t loadTable) bool {
			return slices.ContainsFunc(t.table.Columns, func(c Column) bool { return c.Name == d.name })
		}
		if d.means != "" && slices.ContainsFunc(tables, hasColumn) {
			text += " " + upperFirst(d.name) + ": " + d.means + "."
		}
	}
	return text
}
