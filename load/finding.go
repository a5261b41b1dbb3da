package load

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// The methods of meter below return findings about a phase. A finding warns about a measured value, or says
// why the values do not count.

// checkClient finds a load generator that was the limit, or that waited for a processor.
func (m meter) checkClient(a Assessment) []tare.Finding {
	const advice = "read CPU per request, which a busy load generator does not touch; or give it more processors (--threads), or ask for less"
	switch {
	case a.Limit == LimitClient:
		return []tare.Finding{{Check: "generator-headroom", Severity: tare.Void, Message: "throughput and latencies are limited by the load generator, not only by the server", Advice: advice}}
	case m.waitedShare() >= maxWaitShare:
		return []tare.Finding{{Check: "generator-headroom", Severity: tare.Warn, Advice: "let nothing else run at the same time, or give it processors of its own",
			Message: fmt.Sprintf("the load generator waited for a processor for %s of the time: latencies include that wait", format.Percent(m.waitedShare()))}}
	}
	return nil
}

func (m meter) checkSendLag() []tare.Finding {
	lag, late := m.excessLag()
	if !late || !m.isBlocked(lag) {
		return nil
	}
	return []tare.Finding{{Check: "send-lag", Severity: tare.Note, Advice: "that wait is part of the latencies; more connections make it shorter where the server's clients may have more",
		Message: fmt.Sprintf("requests were sent up to %s late (p99), because %s were busy", formatDuration(lag), formatSlots(m.r))}}
}

func (m meter) checkRate() []tare.Finding {
	if !m.isOpenLoop() || m.holdsRate() {
		return nil
	}
	text := fmt.Sprintf("%s requests per second were asked for and %s sent", formatNumber(m.r.Asked), formatNumber(float64(m.r.Sent)/m.wall))
	if m.r.Late > 0 {
		text += fmt.Sprintf("; %d were due and not sent when the time was over", m.r.Late)
	}
	return []tare.Finding{{Check: "rate-held", Severity: tare.Void, Message: text, Advice: "ask for a rate that is held; --search finds it"}}
}

// maxMeanShare is the longest mean time of a request for Little's law, as a share of the phase.
const maxMeanShare = 0.05

// checkLittle checks the phase with Little's law: requests in flight are their rate times their mean time.
func (m meter) checkLittle() []tare.Finding {
	n := m.r.Service.Count()
	mean := m.r.Service.Mean() / 1e9 // seconds
	// Requests that cross an end of the phase are not counted. That error is small only for short requests.
	if n < minLittleRequests || m.r.Concurrency <= 0 || mean > maxMeanShare*m.wall {
		return nil
	}
	product := float64(n) / m.wall * mean
	if math.Abs(product-m.r.Concurrency) <= maxLittleError*m.r.Concurrency {
		return nil
	}
	return []tare.Finding{{Check: "little", Severity: tare.Void, Advice: "this is a fault of the measurement: try --engine portable, and report it",
		Message: fmt.Sprintf("rate × latency comes to %s requests under way, but there were %s", formatNumber(product), formatNumber(m.r.Concurrency))}}
}

// checkConnections finds a closed loop with too few connections, or with connections that idled without a
// reason. The generator itself needs some time between a response and the next request. Up to 0.1 ms is
// accepted.
func (m meter) checkConnections() []tare.Finding {
	r := m.r
	if m.isOpenLoop() || r.Connections == 0 || r.Requests == 0 {
		return nil
	}
	const maxIdle = 1e-4                                                              // seconds
	idle := (float64(r.maxInFlight()) - r.Concurrency) * m.wall / float64(r.Requests) // seconds per request
	reconnects := r.Opened > int64(r.Connections)+r.Requests/10                       // connecting takes time, too
	allBusy := m.inFlightShare() >= 1-maxIdleShare
	if allBusy || idle < maxIdle || reconnects || m.f.Think > 0 {
		return nil
	}
	return []tare.Finding{{Check: "rate-held", Severity: tare.Void, Advice: "see the errors, and whether the server closes connections or takes fewer",
		Message: fmt.Sprintf("of %s only %s had a request under way in the mean", formatSlots(r), formatNumber(r.Concurrency))}}
}

func (m meter) checkErrors() []tare.Finding {
	share := errorShare(m.r)
	if share == 0 {
		return nil
	}
	text := fmt.Sprintf("%s of the requests failed", format.Percent(share))
	if m.r.FirstError != "" {
		text += "; the first: " + m.r.FirstError
	}
	out := []tare.Finding{{Check: "error-in-loop", Severity: tare.Warn, Message: text, Advice: "a server that refuses is often faster than one that works: read the rate with that in mind"}}
	if n := m.r.Errors[ErrTimeout]; n > 0 {
		out = append(out, tare.Finding{Check: "timeouts-counted", Severity: tare.Note, Message: fmt.Sprintf("%d timed out; each is among the latencies, at the timeout or above", n)})
	}
	return out
}

// checkTails finds the first of p99 and p99.9 with too few responses above it.
func (m meter) checkTails() []tare.Finding {
	for _, q := range []float64{0.99, 0.999} {
		beyond := float64(m.r.Latency.Count()) * (1 - q)
		if beyond < minTail-roundingError {
			return []tare.Finding{{Check: "thin-tail", Severity: tare.Note, Advice: "measure for longer (-d)",
				Message: fmt.Sprintf("p%s and what lies above rest on fewer than %d answers", strconv.FormatFloat(q*100, 'f', -1, 64), minTail)}}
		}
	}
	return nil
}

// formatNumber prints a number with three digits, or all digits before the point.
func formatNumber(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// formatDuration prints a duration with three digits.
func formatDuration(d time.Duration) string {
	for unit := time.Duration(1); unit < d; unit *= 10 { // the smallest unit in which d is below 1000
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}

func formatProcessors(n float64) string {
	if n == 1 {
		return "1 processor"
	}
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) + " processors"
}

func formatConnections(n int) string {
	if n == 1 {
		return "1 connection"
	}
	return strconv.Itoa(n) + " connections"
}

func (r *Result) maxInFlight() int { return r.Connections * max(1, r.Streams) }

func formatSlots(r *Result) string {
	if r.Streams > 1 {
		return formatConnections(r.Connections) + " of " + strconv.Itoa(r.Streams) + " streams"
	}
	return formatConnections(r.Connections)
}
