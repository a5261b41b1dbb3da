package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

// This check finds servers for which the load generator opens more connections than for the
// baseline. For example, a server closes each connection after its response. Its time then includes
// connecting.

const (
	maxExtraConnects = 0.01 // tolerated difference, in connections per request
	minConnectsEach  = 0.5  // in connections per request: above it each counts as opening one
)

func connectionParity() Check {
	return Check{
		ID:       "connection-parity",
		Severity: tare.Warn,
		Summary: "Requests to all contenders should use the same number of connections. Connections that were opened per request, beyond the planned ones, are compared with the baseline's; the check warns if the two differ by more than 0.01 " + byRounds + ". " +
			"It also names each contender, the baseline too, for which nearly every request opened a connection.",
		Why: "gRPC was published as four times as fast as REST. Its client had one connection; the clients of REST closed each body unread, which closes the connection, and opened a new one for every request: " +
			"the measured time included connecting.",
		Advice:    "find out which side closes the connection: a response without a length, Connection: close, an idle timeout shorter than the pauses between visits, a limit of requests per connection",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measuredContenders(), in.trafficWorkloads(), func(c tare.Contender, w tare.Workload) (message string) {
				base, okBase := in.estimateValue(in.Study.Baseline, w.ID, readReconnects)
				e, ok := in.estimateValue(c.ID, w.ID, readReconnects)
				switch {
				case ok && e.isAbove(minConnectsEach):
					message = fmt.Sprintf("a connection is opened for every request, or nearly: %.2g for each", e.mid)
				case ok && okBase && e.isOutside(base, maxExtraConnects):
					message = fmt.Sprintf("%.2g connections are opened for a request beyond the planned ones", e.mid)
				default:
					return ""
				}
				if okBase && c.ID != in.Study.Baseline {
					message += fmt.Sprintf(", and %.2g for one to %s", base.mid, in.Study.Baseline)
				}
				return message
			})
		},
	}
}

// readReconnects reads the additional connections per request. Requests before the measurement open
// some, too. They count if their number is known.
func readReconnects(s tare.Sample) (value float64, ok bool) {
	opened, okOpened := s[tare.KeyConnects]
	planned, okPlanned := s[tare.KeyConnections]
	requests := max(s[tare.KeyRequests], s[tare.KeyReceivedSent])
	if !okOpened || !okPlanned || !(requests > 0) {
		return 0, false
	}
	return max(0, opened-planned) / requests, true
}
