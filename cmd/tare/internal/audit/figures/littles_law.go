package figures

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// littlesLaw finds closed loops that contradict themselves. For example, 40 connections send 473
// requests per second of 21 ms each: only 10 requests are in flight.
func littlesLaw() rule {
	return rule{Rule: audit.Rule{
		ID: "littles-law", Severity: tare.Void,
		Title:   "Rate × latency is not the number of connections.",
		Why:     "In a closed loop, as many requests are in flight as there are connections: rate × mean latency. Where that is far less, slow requests are missing from the latencies (timeouts, errors) or connections stood idle; where it is more, the tool counted latencies of requests that it did not send (wrk does, after a stall).",
		Do:      "have timeouts counted in the latencies, or send at a rate and count latencies from the intended times",
		Command: loadCommand,
		Bad:     "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    21.00ms   30.00ms   1.90s    97.00%\n  14200 requests in 30.00s, 3.10MB read\n  Socket errors: connect 0, read 0, write 0, timeout 210\nRequests/sec:    473.33\n",
		Good:    "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    84.10ms   12.00ms 190.00ms   97.00%\n  14200 requests in 30.00s, 3.10MB read\nRequests/sec:    473.33\n",
		Seen:    []string{"ingest", "https://github.com/joexbayer/HTTPcppd", "https://github.com/BlueRexPY/WebApiPerfromance"},
	}, find: findLittlesLaw}
}

const (
	// littleTolerance is a share of the connections, as in the check "little".
	littleTolerance = 0.10
	// minPerConnection is in requests. In shorter runs the first requests, sent together, matter
	// too much.
	minPerConnection = 20
	// ab prints latencies in integer ms. These are in s.
	abRounding = 0.5e-3
	minABMean  = 3e-3
	// rowTolerance is the factor by which a table may exceed its connections.
	rowTolerance = 1.25
)

// findLittlesLaw reports closed loops whose connections are not the requests in flight. By Little's
// law, rate × mean latency requests are in flight.
func findLittlesLaw(d *document, report reportFunc) {
	for _, l := range d.reports {
		if l.isOpenLoop || !l.rate.isKnown() || !l.meanLatency.isKnown() || !l.connections.isKnown() || !(l.meanLatency.value > 0) {
			continue
		}
		requests := l.countRequests()
		isShort := requests > 0 && requests < minPerConnection*l.connections.value
		connections := l.countConnections()
		inFlight := l.rate.value * l.meanLatency.value
		mayWait := l.tool == "k6" || l.tool == "ghz" && inFlight < connections // their users and workers may pause
		if isShort || mayWait {
			continue
		}
		tolerance := littleTolerance
		if l.tool == "ab" {
			tolerance += abRounding / l.meanLatency.value
		}
		isRounded := l.tool == "ab" && l.meanLatency.value < minABMean
		if isRounded || math.Abs(inFlight-connections)/connections <= tolerance {
			continue
		}
		stated := fmt.Sprintf("%.0f connections", connections)
		if connections != l.connections.value {
			stated += fmt.Sprintf(" (wrk opens the same number in each of its %.0f threads, so %.0f of %.0f)", l.threads.value, connections, l.connections.value)
		}
		text := fmt.Sprintf("%s requests per second × %s in the mean are %s requests in flight, with %s", formatNumber(l.rate.value), formatTime(l.meanLatency.value), formatNumber(inFlight), stated)
		switch {
		case inFlight > connections:
			// Missing latencies would only increase the number.
		case l.timedOut.value > 0:
			text += fmt.Sprintf("; %.0f timeouts are not among the latencies", l.timedOut.value)
		case l.errorResponses.value > 0:
			text += fmt.Sprintf("; %.0f failed requests may not be among the latencies", l.errorResponses.value)
		}
		report(l.meanLatency.line, text)
	}
	for i, t := range d.tables {
		findLittleInRows(t, t.figures(i), report)
	}
}

// Examples: "connections", "# conns"; and "avg latency (ms)", "mean", "response time".
var (
	connectionsHeaderRE = lazyregexp.New(`(?i)^(?:#|number of |concurrent )?(?:connections?|conns?|concurrency)$`)
	meanHeaderRE        = lazyregexp.New(`(?i)^(?:(?:avg|average|mean)\.? ?(?:req\.? )?(?:latency|response time|time)?` +
		`|(?:latency|response time) ?\(?(?:avg|average|mean)?\)?)(?:\s*[\[(,].*)?$`)
)

// findLittleInRows reports rows with more requests in flight than connections. Fewer are possible
// with a target rate.
func findLittleInRows(t *table, all []figure, report reportFunc) {
	t.eachCount(connectionsHeaderRE, func(row tableRow, cell string, n float64) {
		rate, mean := figure{}, figure{}
		for _, f := range all {
			switch {
			case f.line != row.line:
			case f.kind == rateKind && rate.line == 0:
				rate = f
			case f.kind == timeKind && mean.line == 0 && f.column < len(t.header) && meanHeaderRE.MatchString(t.header[f.column]):
				mean = f
			}
		}
		if inFlight := rate.value * mean.value; inFlight > rowTolerance*n {
			report(row.line, fmt.Sprintf("%s per second × %s in the mean are %s requests in flight, with %s connections", formatNumber(rate.value), formatTime(mean.value), formatNumber(inFlight), cell))
		}
	})
}

// countRequests returns the requests of a report, or rate × duration without them. 0 means unknown.
func (l *loadReport) countRequests() float64 {
	if l.requests.isKnown() {
		return l.requests.value
	}
	return l.rate.value * l.duration.value
}

// countConnections returns the open connections. wrk opens the same number in each thread and drops
// the remainder.
func (l *loadReport) countConnections() float64 {
	if l.tool == "wrk" && l.threads.value > 0 && l.connections.value >= l.threads.value {
		return math.Floor(l.connections.value/l.threads.value) * l.threads.value
	}
	return l.connections.value
}
