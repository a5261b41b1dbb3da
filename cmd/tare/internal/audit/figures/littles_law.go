package figures

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// littlesLaw returns the rule about this mistake: rate × latency is not the number of connections.
func littlesLaw() rule {
	return rule{audit.Rule{
		ID: "littles-law", Severity: tare.Void, Title: "Rate × latency is not the number of connections.",
		Why:     "In a closed loop, as many requests are under way as there are connections: rate × mean latency. Where that is far less, slow requests are missing from the latencies (timeouts, errors) or connections stood idle; where it is more, the tool counted latencies of requests that it did not send (wrk does, after a stall).",
		Do:      "have timeouts counted in the latencies, or send at a rate and count latencies from the intended times",
		Command: loadCommand, Lang: "text",
		Bad:  "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    21.00ms   30.00ms   1.90s    97.00%\n  14200 requests in 30.00s, 3.10MB read\n  Socket errors: connect 0, read 0, write 0, timeout 210\nRequests/sec:    473.33\n",
		Good: "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    84.10ms   12.00ms 190.00ms   97.00%\n  14200 requests in 30.00s, 3.10MB read\nRequests/sec:    473.33\n",
		Seen: []string{"ingest", "https://github.com/joexbayer/HTTPcppd", "https://github.com/BlueRexPY/WebApiPerfromance"},
	}, findLittlesLaw}
}

// littleOff is the tolerance of rate × latency against the number of connections, as a part of
// it; the check little has the same.
const littleOff = 0.10

func findLittlesLaw(d *document, report reportFunc) {
	for _, l := range d.loads {
		if l.open || !l.rate.isKnown() || !l.mean.isKnown() || !l.connections.isKnown() || !(l.mean.value > 0) {
			continue
		}
		if l.tool == "k6" || l.tool == "ghz" || l.requests.isKnown() && l.requests.value < 20*l.connections.value {
			continue // virtual users pause; a start of all connections weighs in a short run
		}
		open := l.countOpen()
		under := l.rate.value * l.mean.value
		slack := littleOff
		if l.tool == "ab" {
			slack += 0.5e-3 / l.mean.value // printed in whole ms
		}
		off := math.Abs(under-open) / open
		if off <= slack || l.tool == "ab" && l.mean.value < 3e-3 {
			continue
		}
		stated := fmt.Sprintf("%.0f connections", open)
		if open != l.connections.value {
			stated += fmt.Sprintf(" (wrk opens the same number in each of its %.0f threads, so %.0f of %.0f)", l.threads.value, open, l.connections.value)
		}
		what := fmt.Sprintf("%s requests per second × %s in the mean are %s requests under way, with %s", formatNumber(l.rate.value), formatTime(l.mean.value), formatNumber(under), stated)
		if l.timeouts.value > 0 && under < open {
			what += fmt.Sprintf("; %.0f timeouts are not among the latencies", l.timeouts.value)
		}
		report(l.mean.line, what)
	}
	for i, t := range d.tables {
		findLittleInRows(t, t.measures(i), report)
	}
}

var (
	connectionsHeader = regexp.MustCompile(`(?i)^(?:#|number of |concurrent )?(?:connections?|conns?|concurrency)$`)
	meanHeader        = regexp.MustCompile(`(?i)^(?:(?:avg|average|mean)\.? ?(?:req\.? )?(?:latency|response time|time)?|(?:latency|response time) ?\(?(?:avg|average|mean)?\)?)(?:\s*[\[(,].*)?$`)
)

// findLittleInRows finds rows of a table with more requests under way than connections: those
// of a loop with a rate may have fewer.
func findLittleInRows(t *table, all []measure, report reportFunc) {
	column := -1
	for i, header := range t.header {
		if connectionsHeader.MatchString(strings.TrimSpace(header)) {
			column = i
		}
	}
	if column < 0 {
		return
	}
	for _, row := range t.rows {
		if column >= len(row.cells) {
			continue
		}
		n, ok := parseCell(row.cells[column])
		if !ok || n.kind != plainKind || !(n.value >= 1) {
			continue
		}
		rate, mean := measure{}, measure{}
		for _, m := range all {
			switch {
			case m.line != row.line:
			case m.kind == rateKind && rate.line == 0:
				rate = m
			case m.kind == timeKind && mean.line == 0 && m.column < len(t.header) && meanHeader.MatchString(t.header[m.column]):
				mean = m
			}
		}
		if under := rate.value * mean.value; under > 1.25*n.value {
			report(row.line, fmt.Sprintf("%s per second × %s in the mean are %s requests under way, with %s connections", formatNumber(rate.value), formatTime(mean.value), formatNumber(under), row.cells[column]))
		}
	}
}

// countOpen returns how many connections were really open. wrk divides them among threads and
// drops the rest.
func (l *load) countOpen() float64 {
	if l.tool == "wrk" && l.threads.value > 0 && l.connections.value >= l.threads.value {
		return math.Floor(l.connections.value/l.threads.value) * l.threads.value
	}
	return l.connections.value
}
