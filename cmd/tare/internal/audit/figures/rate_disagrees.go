package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// rateDisagrees finds rates other than requests ÷ duration.
func rateDisagrees() rule {
	return rule{Rule: audit.Rule{
		ID: "rate-disagrees", Severity: tare.Void,
		Title:   "The rate is not requests divided by the duration.",
		Why:     "These three figures are of one run and follow from each other: one of them is from another run, or was changed by hand.",
		Do:      "publish the output of one run as it is",
		Command: loadCommand,
		Bad:     "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     1.00ms    0.20ms  12.00ms   90.00%\n  98000 requests in 10.00s, 12.00MB read\nRequests/sec:  12800.00\n",
		Good:    "Running 10s test @ http://10.0.0.7:8080/\n  2 threads and 10 connections\n    Latency     1.00ms    0.20ms  12.00ms   90.00%\n  98000 requests in 10.00s, 12.00MB read\nRequests/sec:   9800.00\n",
	}, find: findRateDisagrees}
}

const (
	rateTolerance  = 0.03 // share of the rate: durations have two or three digits
	minRateSeconds = 0.2  // s; shorter runs are skipped
)

func findRateDisagrees(d *document, report reportFunc) {
	for _, l := range d.reports {
		if !l.rate.isKnown() || !l.requests.isKnown() || !l.duration.isKnown() || l.duration.value < minRateSeconds {
			continue
		}
		if l.tool == "k6" || l.tool == "hey" || l.tool == "oha" {
			continue // hey and oha print only requests with a status
		}
		requests := l.requests.value
		if l.tool == "vegeta" {
			requests -= l.errorResponses.value // its throughput counts successful requests
		}
		if rate := requests / l.duration.value; !isNear(rate, l.rate.value, rateTolerance) && requests > 0 {
			report(l.rate.line, fmt.Sprintf("%.0f requests in %s are %s per second, not %s", requests, formatTime(l.duration.value), formatNumber(rate), formatNumber(l.rate.value)))
		}
	}
}
