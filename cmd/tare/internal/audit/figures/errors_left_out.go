package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// errorsLeftOut returns the rule about this mistake: requests failed or timed out, and the latencies and the rate do not show it.
func errorsLeftOut() rule {
	return rule{audit.Rule{
		ID: "errors-left-out", Severity: tare.Warn, Title: "Requests failed or timed out, and the latencies and the rate do not show it.",
		Why:     "A request without an answer is not among the latencies, and an error is often answered faster than a result: the worse a server does, the better its figures.",
		Do:      "count failures against the server: timeouts at their limit, errors beside the rate, or compare only runs without them",
		Command: loadCommand, Lang: "text",
		Bad:  "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\n  Non-2xx or 3xx responses: 950\nRequests/sec:   1000.00\n",
		Good: "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     9.90ms    2.00ms  42.00ms   90.00%\n  10000 requests in 10.00s, 12.00MB read\nRequests/sec:   1000.00\n",
		Seen: []string{"ingest", "https://github.com/bitlet/benchmark", "https://github.com/tao-yi/my-benchmark"},
	}, findErrorsLeftOut}
}

// fewErrors is the share of requests up to which errors change no quantile that is printed.
const fewErrors = 0.001

// wrkTimeout is after how long wrk gives up a request by default, in s.
const wrkTimeout = 2

func findErrorsLeftOut(d *document, report reportFunc) {
	for _, l := range d.loads {
		if n := l.timeouts.value; n > 0 && (n >= fewErrors*l.requests.value || n*wrkTimeout > 0.01*l.requests.value*l.mean.value) {
			what := fmt.Sprintf("%s timed out, and are among neither the latencies nor the rate", format.Count(int(n), "request"))
			if l.requests.value > 0 {
				what += fmt.Sprintf(" (%s of the requests that were answered)", format.Percent(n/l.requests.value))
			}
			report(l.timeouts.line, what)
		}
		if n := l.broken.value; n > 0 && n >= fewErrors*l.requests.value {
			report(l.broken.line, fmt.Sprintf("%s of sockets with %.0f requests: what was under way on those connections is not among the latencies", format.Count(int(n), "error"), l.requests.value))
		}
		if n := l.errors.value; n >= 0.5 && n >= fewErrors*l.requests.value {
			what := fmt.Sprintf("%.0f requests failed", n)
			if l.requests.value > 0 {
				what += fmt.Sprintf(" (%s)", format.Percent(n/l.requests.value))
			}
			report(l.errors.line, what+": the latencies mix them with the others, or leave them out")
		}
	}
}
