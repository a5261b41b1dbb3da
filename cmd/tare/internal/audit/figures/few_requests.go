package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

func fewRequests() rule {
	return rule{audit.Rule{
		ID: "few-requests", Severity: tare.Warn, Title: "A quantile is of too few requests.",
		Why:     "p99 of 200 requests is the second slowest: the next run has another. Ten requests or more have to lie beyond a quantile before it says anything",
		Do:      "send requests for longer: 1,000 for p99, 10,000 for p99.9",
		Command: loadCommand, Lang: "text",
		Bad:  "Summary:\n  Total:\t12.1000 secs\n  Slowest:\t0.2100 secs\n  Fastest:\t0.0120 secs\n  Average:\t0.0310 secs\n  Requests/sec:\t16.5289\n\nLatency distribution:\n  50% in 0.0290 secs\n  99% in 0.1900 secs\n\nStatus code distribution:\n  [200]\t200 responses\n",
		Good: "Summary:\n  Total:\t12.1000 secs\n  Slowest:\t0.2100 secs\n  Fastest:\t0.0020 secs\n  Average:\t0.0060 secs\n  Requests/sec:\t1652.89\n\nLatency distribution:\n  50% in 0.0050 secs\n  99% in 0.0190 secs\n\nStatus code distribution:\n  [200]\t20000 responses\n",
		Seen: []string{"https://github.com/bojand/ghz", "https://github.com/dukhyungkim/cyf"},
	}, findFewRequests}
}

// minBeyond is how many requests have to lie beyond a quantile.
const minBeyond = 10

func findFewRequests(d *document, report reportFunc) {
	for _, l := range d.loads {
		requests := l.requests.value
		if !l.requests.known() {
			requests = l.rate.value * l.duration.value
		}
		if requests <= 0 {
			continue
		}
		// Only the lowest such quantile: those above have fewer.
		var lowest quantileValue
		for _, q := range l.quantiles {
			// A quantile that says nothing yet is not printed to be believed by default above p99.9.
			if beyond := requests * (1 - q.q); beyond < minBeyond-1e-6 && q.q < 0.9991 && (lowest.line == 0 || q.q < lowest.q) {
				lowest = q
			}
		}
		if lowest.line > 0 {
			report(lowest.line, fmt.Sprintf("%s of %.0f requests: %s of them are beyond it", percentText(lowest.q), requests, number3(requests*(1-lowest.q))))
		}
	}
}
