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
	serverBusy    = "server_busy"
	generatorBusy = "generator_busy"
)

func (s *Section) addDrives(r *tare.Result) {
	s.addOnly(forText|forMarkdown, func() { s.addDriveTables(listDriveTables(r, false)) })
	s.addOnly(forHTML, func() { s.addDriveTables(listDriveTables(r, true)) }) // a page has no table of both sides
}

func (s *Section) addDriveTables(parts []driveTable) {
	if len(parts) == 0 {
		return
	}
	s.addText(Dim, explainDrives(parts))
	for _, part := range parts {
		s.addCaptioned(part.means, part.table)
	}
}

// driveTable is a table of load statistics with its caption.
type driveTable struct {
	means string
	table Table
}

// driveStat is one statistic of the load on a server that trials recorded.
type driveStat struct {
	name, unit string
	means      string // explanation without the name; "" if another statistic explains it
	csv        string // name as a metric of CSV rows
	read       sampleReader
	isSum      bool // add up over rounds; otherwise print the least and greatest round
	print      func(float64) string
}

// listDriveStats returns the statistics that servers under such traffic can have.
func listDriveStats(t tare.Traffic) []driveStat {
	whole := func(x float64) string { return format.Grouped(x, 0) }
	tenth := func(x float64) string { return strings.TrimSuffix(format.Grouped(x, 1), ".0") }
	out := []driveStat{
		{name: "requests", unit: "in all", csv: tare.KeyRequests, read: readKey(tare.KeyRequests), isSum: true, print: whole},
		{name: "at once", unit: "requests", means: "requests under way, on average", csv: tare.KeyConcurrency, read: readKey(tare.KeyConcurrency), print: tenth},
		{name: "opened", unit: "a round", means: "connections, reconnects included", csv: tare.KeyConnects, read: readKey(tare.KeyConnects), print: whole},
		{name: "sent", unit: "B/req", means: "bytes per request to the server, headers included", csv: tare.KeyBytesSent, read: readKey(tare.KeyBytesSent), print: tenth},
		{name: "received", unit: "B/req", means: "those of the answer", csv: tare.KeyBytesReceived, read: readKey(tare.KeyBytesReceived), print: tenth},
		{name: "output", unit: "B/req", means: "what the server wrote to stdout, stderr, its terminal and its log file", csv: tare.KeyOutput, read: readKey(tare.KeyOutput), print: tenth},
		{name: "layers", unit: "calls/req", means: "calls of middleware that the server counted", csv: tare.KeyLayers, read: readKey(tare.KeyLayers), print: tenth},
		{name: "server", unit: "% busy", means: "CPU time used, of what the cores it may use can give", csv: serverBusy, read: readBusy(tare.KeyServerCPU, tare.KeyServerCores), print: whole},
		{name: "generator", unit: "% busy", means: "the same of the load generator; near 100 % it measures itself", csv: generatorBusy, read: readBusy(tare.KeyClientCPU, tare.KeyClientCores), print: whole},
	}
	if t.Rate > 0 {
		out = slices.Insert(out, 1,
			driveStat{name: "rate", unit: "of " + formatRate(t.Rate) + "/s", means: "requests answered per second, of those asked for", csv: tare.KeyRate, read: readKey(tare.KeyRate), print: tenth},
			driveStat{name: "sent late", unit: "p99, µs", means: "how much later than intended 99 % of requests were sent at most", csv: tare.KeySendLag, read: readKey(tare.KeySendLag), print: func(ns float64) string { return format.Grouped(ns/1e3, 0) }})
	}
	return out
}

// listDriveTables returns a table per workload with traffic. wire adds the columns that the table of both
// sides has too.
func listDriveTables(r *tare.Result, wire bool) []driveTable {
	var out []driveTable
	for _, w := range r.Workloads {
		if w.Traffic == nil {
			continue
		}
		if t := newDriveTable(r, w, wire); len(t.Rows) > 0 {
			out = append(out, driveTable{fmt.Sprintf("On %s (%s):", w.ID, describeTraffic(r, *w.Traffic)), t})
		}
	}
	return out
}

// newDriveTable returns the table of one workload, with a column per recorded statistic and a row per
// contender except the control, which repeats the baseline.
func newDriveTable(r *tare.Result, w tare.Workload, wire bool) Table {
	v := newView(r, w.ID)
	var shown []driveStat
	for _, d := range listDriveStats(*w.Traffic) {
		if !wire && v.isTwoSided() && len(wireStats([]driveStat{d})) > 0 {
			continue // it is in the table of both sides
		}
		if slices.ContainsFunc(r.Trials, func(t tare.Trial) bool {
			_, ok := d.read(t.Samples[w.ID])
			return ok && t.Error == nil && t.Contender != tare.ControlID
		}) {
			shown = append(shown, d)
		}
	}
	t := Table{Columns: []Column{{Name: "contender"}}}
	for _, d := range shown {
		t.Columns = append(t.Columns, Column{Name: d.name, Unit: d.unit, Right: true})
	}
	for _, group := range v.listGroups() {
		apart := len(t.Rows) > 0
		for _, c := range group {
			all := listSamples(r, c.ID, w.ID)
			if c.Role == tare.RoleControl || len(all) == 0 {
				continue
			}
			line := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: apart}
			for _, d := range shown {
				line.Cells = append(line.Cells, Field{Text: d.formatRange(all)})
			}
			if n, _ := sumSamples(all, readKey(tare.KeySharedProcess)); n > 0 {
				line.Notes = append(line.Notes, "server and load generator are one process")
			}
			t.Rows, apart = append(t.Rows, line), false
		}
	}
	return t
}

// formatRange prints the sum of d over samples, or its least and greatest value.
func (d driveStat) formatRange(all []tare.Sample) string {
	least, most, ok := findRange(all, d.read)
	if !ok {
		return nothing
	}
	if d.isSum {
		least, _ = sumSamples(all, d.read)
		most = least
	}
	return formatSpan(least, most, d.print)
}

// explainDrives explains the columns of the tables.
func explainDrives(parts []driveTable) string {
	text := "Requests are those of all rounds together; the other figures are of one round, the least and the most where rounds differ."
	for _, d := range listDriveStats(tare.Traffic{Rate: 1}) {
		if d.means != "" && slices.ContainsFunc(parts, func(p driveTable) bool {
			return slices.ContainsFunc(p.table.Columns, func(c Column) bool { return c.Name == d.name })
		}) {
			text += " " + upperFirst(d.name) + ": " + d.means + "."
		}
	}
	return text
}
