package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// errorsLeftOut finds reports with failed requests.
func errorsLeftOut() rule {
	return rule{Rule: audit.Rule{
		ID: "errors-left-out", Severity: tare.Warn,
		Title:   "Requests failed or timed out, and the latencies and the rate do not show it.",
		Why:     "A request without an answer is not among the latencies, and an error is often answered faster than a result: the worse a server does, the better its figures.",
		Do:      "count failures against the server: timeouts at their limit, errors next to the rate, or compare only runs without them",
		Command: loadCommand,
		Bad:     "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\n  Non-2xx or 3xx responses: 950\nRequests/sec:   1000.00\n",
		Good:    "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\nRequests/sec:   1000.00\n",
		Seen:    []string{"ingest", "https://github.com/bitlet/benchmark", "https://github.com/tao-yi/my-benchmark"},
	}, find: findErrorsLeftOut}
}

const (
	maxErrorShare = 0.001 // share of the requests: fewer errors do not change the printed quantiles
	wrkTimeout    = 2     // s; the default of wrk
	// maxLostTime is a share of the sum of all latencies. Shorter timeouts do not change the mean.
	maxLostTime = 0.01
)

// findErrorsLeftOut reports timeouts, socket errors and error responses of load generators. It omits
// those that are too few to change the latencies.
func findErrorsLeftOut(d *document, report reportFunc) {
	for _, l := range d.reports {
		n := l.timedOut.value
		areMany := n >= maxErrorShare*l.requests.value
		areLong := n*wrkTimeout > maxLostTime*l.requests.value*l.meanLatency.value
		if n > 0 && (areMany || areLong) {
			text := fmt.Sprintf("%s timed out, and are among neither the latencies nor the rate", format.Count(int(n), "request"))
			if l.requests.value > 0 {
				text += fmt.Sprintf(" (%s of the requests that were answered)", format.Percent(n/l.requests.value))
			}
			report(l.timedOut.line, text)
		}
		if n := l.socketErrors.value; n > 0 && n >= maxErrorShare*l.requests.value {
			report(l.socketErrors.line, fmt.Sprintf("%s of sockets with %.0f requests: what was under way on those connections is not among the latencies", format.Count(int(n), "error"), l.requests.value))
		}
		const oneRequest = 0.5 // a count that was computed from a share may be below 1 by rounding
		if n := l.errorResponses.value; n >= oneRequest && n >= maxErrorShare*l.requests.value {
			text := fmt.Sprintf("%.0f requests failed", n)
			if l.requests.value > 0 {
				text += fmt.Sprintf(" (%s)", format.Percent(n/l.requests.value))
			}
			report(l.errorResponses.line, text+": the latencies mix them with the others, or leave them out")
		}
	}
}
