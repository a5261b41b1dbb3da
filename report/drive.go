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

func (s *Section) drives(r *tare.Result) {
	s.only(forText|forMarkdown, func() { s.driveTables(drives(r, false)) })
	s.only(forHTML, func() { s.driveTables(drives(r, true)) }) // a page has no table of both sides
}

func (s *Section) driveTables(parts []drive) {
	if len(parts) == 0 {
		return
	}
	s.say(Dim, driveMeans(parts))
	for _, part := range parts {
		s.captioned(part.means, part.table)
	}
}

// drive is one table of how servers were driven, and of what.
type drive struct {
	means string
	table Table
}

// dial is one thing that trials recorded about the driving of a server.
type dial struct {
	name, unit string
	means      string // with the name before it; empty: explained by another
	csv        string // as a metric of rows for programs
	of         gauge
	added      bool // over rounds; otherwise the least and the most of them
	print      func(float64) string
}

// dials are what there is to be known of servers under such traffic.
func dials(t tare.Traffic) []dial {
	whole := func(x float64) string { return format.Grouped(x, 0) }
	tenth := func(x float64) string { return strings.TrimSuffix(format.Grouped(x, 1), ".0") }
	out := []dial{
		{name: "requests", unit: "in all", csv: tare.KeyRequests, of: keyed(tare.KeyRequests), added: true, print: whole},
		{name: "at once", unit: "requests", means: "requests under way, on average", csv: tare.KeyConcurrency, of: keyed(tare.KeyConcurrency), print: tenth},
		{name: "opened", unit: "a round", means: "connections, reconnects included", csv: tare.KeyConnects, of: keyed(tare.KeyConnects), print: whole},
		{name: "sent", unit: "B/req", means: "bytes per request to the server, headers included", csv: tare.KeyBytesSent, of: keyed(tare.KeyBytesSent), print: tenth},
		{name: "received", unit: "B/req", means: "those of the answer", csv: tare.KeyBytesReceived, of: keyed(tare.KeyBytesReceived), print: tenth},
		{name: "output", unit: "B/req", means: "what the server wrote to stdout, stderr, its terminal and its log file", csv: tare.KeyOutput, of: keyed(tare.KeyOutput), print: tenth},
		{name: "layers", unit: "calls/req", means: "calls of middleware that the server counted", csv: tare.KeyLayers, of: keyed(tare.KeyLayers), print: tenth},
		{name: "server", unit: "% busy", means: "CPU time used, of what the cores it may use can give", csv: serverBusy, of: busy(tare.KeyServerCPU, tare.KeyServerCores), print: whole},
		{name: "generator", unit: "% busy", means: "the same of the load generator; near 100 % it measures itself", csv: generatorBusy, of: busy(tare.KeyClientCPU, tare.KeyClientCores), print: whole},
	}
	if t.Rate > 0 {
		out = slices.Insert(out, 1,
			dial{name: "rate", unit: "of " + asRate(t.Rate) + "/s", means: "requests answered per second, of those asked for", csv: tare.KeyRate, of: keyed(tare.KeyRate), print: tenth},
			dial{name: "sent late", unit: "p99, µs", means: "how much later than intended 99 % of requests were sent at most", csv: tare.KeySendLag, of: keyed(tare.KeySendLag), print: func(ns float64) string { return format.Grouped(ns/1e3, 0) }})
	}
	return out
}

// drives are the tables: one for each workload with traffic. wire adds what stands in
// the table of both sides.
func drives(r *tare.Result, wire bool) []drive {
	var out []drive
	for _, w := range r.Workloads {
		if w.Traffic == nil {
			continue
		}
		if t := driveOf(r, w, wire); len(t.Rows) > 0 {
			out = append(out, drive{fmt.Sprintf("On %s (%s):", w.ID, traffic(r, *w.Traffic)), t})
		}
	}
	return out
}

// driveOf is the table of one workload, with a column for each dial that any
// trial shows, and a row for each contender but the control, which is the
// baseline again.
func driveOf(r *tare.Result, w tare.Workload, wire bool) Table {
	v := look(r, w.ID, map[string]bool{})
	var shown []dial
	for _, d := range dials(*w.Traffic) {
		if !wire && v.twoSided() && len(onWire([]dial{d})) > 0 {
			continue // which stands there
		}
		if slices.ContainsFunc(r.Trials, func(t tare.Trial) bool {
			_, ok := d.of(t.Samples[w.ID])
			return ok && t.Error == nil && t.Contender != tare.ControlID
		}) {
			shown = append(shown, d)
		}
	}
	t := Table{Columns: []Column{{Name: "contender"}}}
	for _, d := range shown {
		t.Columns = append(t.Columns, Column{Name: d.name, Unit: d.unit, Right: true})
	}
	for _, group := range v.groups() {
		apart := len(t.Rows) > 0
		for _, c := range group {
			all := samples(r, c.ID, w.ID)
			if c.Role == tare.RoleControl || len(all) == 0 {
				continue
			}
			line := Row{Cells: []Field{{Text: v.named(c)}}, Who: c.ID, Apart: apart}
			for _, d := range shown {
				line.Cells = append(line.Cells, Field{Text: d.read(all)})
			}
			if n, _ := total(all, keyed(tare.KeySharedProcess)); n > 0 {
				line.Notes = append(line.Notes, "server and load generator are one process")
			}
			t.Rows, apart = append(t.Rows, line), false
		}
	}
	return t
}

// read is what a dial shows over samples.
func (d dial) read(all []tare.Sample) string {
	least, most, ok := extent(all, d.of)
	if !ok {
		return nothing
	}
	if d.added {
		least, _ = total(all, d.of)
		most = least
	}
	return reach(least, most, d.print)
}

// driveMeans explains the columns that there are.
func driveMeans(parts []drive) string {
	text := "Requests are those of all rounds together; the other figures are of one round, the least and the most where rounds differ."
	for _, d := range dials(tare.Traffic{Rate: 1}) {
		if d.means != "" && slices.ContainsFunc(parts, func(p drive) bool {
			return slices.ContainsFunc(p.table.Columns, func(c Column) bool { return c.Name == d.name })
		}) {
			text += " " + capital(d.name) + ": " + d.means + "."
		}
	}
	return text
}
