package figures

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

func littlesLaw() rule {
	return rule{audit.Rule{
		ID: "littles-law", Severity: tare.Void, Title: "Rate × latency is not the number of connections.",
		Why:     "in a closed loop, as many requests are under way as there are connections: rate × mean latency. Where that is far less, slow requests are missing from the latencies (timeouts, errors) or connections stood idle; where it is more, the tool counted latencies of requests that it did not send (wrk does, after a stall)",
		Do:      "have timeouts counted in the latencies, or send at a rate and count latencies from the intended times",
		Command: loadCommand, Lang: "text",
		Bad:  "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    21.00ms   30.00ms   1.90s    97.00%\n  14200 requests in 30.00s, 3.10MB read\n  Socket errors: connect 0, read 0, write 0, timeout 210\nRequests/sec:    473.33\n",
		Good: "Running 30s test @ http://10.0.0.7:8080/\n  4 threads and 40 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    84.10ms   12.00ms 190.00ms   97.00%\n  14200 requests in 30.00s, 3.10MB read\nRequests/sec:    473.33\n",
		Seen: []string{"ingest", "https://github.com/joexbayer/HTTPcppd", "https://github.com/BlueRexPY/WebApiPerfromance"},
	}, findLittlesLaw}
}

// littleOff is how far rate × latency may be from the number of connections; the check of
// tare's own runs allows as much.
const littleOff = 0.10

func findLittlesLaw(d *document, report reportFunc) {
	for _, l := range d.loads {
		if l.open || !l.rate.known() || !l.mean.known() || !l.connections.known() || !(l.mean.value > 0) {
			continue
		}
		if l.tool == "k6" || l.tool == "ghz" || l.requests.known() && l.requests.value < 20*l.connections.value {
			continue // virtual users pause; a start of all connections weighs in a short run
		}
		open := l.opened()
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
		what := fmt.Sprintf("%s requests per second × %s in the mean are %s requests under way, with %s", number3(l.rate.value), timeText(l.mean.value), number3(under), stated)
		if l.timeouts.value > 0 && under < open {
			what += fmt.Sprintf("; %.0f timeouts are not among the latencies", l.timeouts.value)
		}
		report(l.mean.line, what)
	}
}

// opened returns how many connections were really open. wrk divides them among threads and
// drops the rest.
func (l *load) opened() float64 {
	if l.tool == "wrk" && l.threads.value > 0 && l.connections.value >= l.threads.value {
		return math.Floor(l.connections.value/l.threads.value) * l.threads.value
	}
	return l.connections.value
}
