package figures

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// sharedMachine finds reports about a server on localhost.
func sharedMachine() rule {
	return rule{Rule: audit.Rule{
		ID: "shared-machine", Severity: tare.Note,
		Title:   "The load generator ran on the server's machine.",
		Why:     "Both took processor time from each other: the rate is that of the two together, and a server that takes less leaves more to the generator.",
		Do:      "pin both to processors of their own, and read the CPU time per request of the server",
		Command: compareCommand,
		Bad:     "Running 10s test @ http://127.0.0.1:3000/\n  4 threads and 100 connections\n    Latency     1.00ms    0.20ms  12.00ms   90.00%\n  980000 requests in 10.00s, 12.00MB read\nRequests/sec:  98000.00\n",
		Good:    "Running 10s test @ http://10.0.0.7:3000/\n  4 threads and 100 connections\n    Latency     1.00ms    0.20ms  12.00ms   90.00%\n  980000 requests in 10.00s, 12.00MB read\nRequests/sec:  98000.00\n",
		Seen:    []string{"https://github.com/tao-yi/my-benchmark", "https://github.com/simon-laszlo/benchmark"},
	}, find: findSharedMachine}
}

func findSharedMachine(d *document, report reportFunc) {
	n, line, first := 0, 0, "" // reports, and line and host of the first one
	for _, l := range d.reports {
		host := l.url
		if u, err := url.Parse(l.url); err == nil && u.Host != "" {
			host = u.Hostname()
		}
		if host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") {
			if n++; n == 1 {
				line, first = l.line, host
			}
		}
	}
	if n > 0 {
		report(line, fmt.Sprintf("%s with a server on %s", format.Count(n, "report"), first))
	}
}
