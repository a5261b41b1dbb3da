package load

import (
	"fmt"
	"math"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Limit is the factor that limited the rate of requests in a phase of load.
type Limit string

// Limits.
const (
	LimitServer  Limit = "server"  // the responses of the server determined the rate
	LimitClient  Limit = "client"  // the load generator determined the rate: the server's capacity remains unknown
	LimitLatency Limit = "latency" // connections waited for responses while neither side was busy, or the path was full
	LimitNone    Limit = "none"    // the requested rate was achieved
)

// Facts are further values of a phase that its result does not have. 0 means unknown.
type Facts struct {
	ClientCores float64       // processors of the load generator; 0 means one per thread
	Throttled   float64       // share of the time that a CPU quota paused the load generator
	ServerCPU   time.Duration // CPU time of the server in the measured part
	ServerCores float64       // processors that the server may use
	RoundTrip   time.Duration // round-trip time of the path, a relay included; 0 means the median time to open a connection
	Bandwidth   int64         // bits per second in each direction
	Think       time.Duration // closed loop: wait between a response and the next request
}

// Assessment says what limited a phase, and which of its values count.
type Assessment struct {
	Limit    Limit
	Why      string // one sentence about the limit
	Capacity bool   // throughput and latencies are those of the server
	Findings []tare.Finding
}

// Thresholds of an assessment. docs/LOAD.md documents them.
const (
	saturatedShare    = 0.85  // used share of the processors that makes a side the limit
	maxThrottledShare = 0.01  // share of the time that a CPU quota pauses the load generator; longer pauses affect every p99
	delayingShare     = 0.001 // the same share, from which a pause may have delayed a request
	maxWaitShare      = 0.15  // share of the time spent waiting for a processor; above it, latencies include the wait
	negligibleLag     = time.Millisecond
	maxLagShare       = 0.1  // largest send lag, as a share of the p99 latency
	maxRateError      = 0.03 // largest relative error of the rate
	maxLittleError    = 0.1  // largest relative difference of rate × latency and the concurrency
	minLittleRequests = 1000 // fewer requests are not checked with Little's law
	maxIdleShare      = 0.1  // largest share of idle connections
	pathBoundShare    = 0.5  // share of a request's time that makes the path the limit
	linkFullShare     = 0.9  // used share that makes the bandwidth the limit
)

// Assess returns what limited a phase, and the findings about it.
func Assess(r *Result, f Facts) Assessment {
	m := meter{r: r, f: f, wall: r.Wall.Seconds()}
	if m.wall <= 0 || r.Sent == 0 {
		return Assessment{Limit: LimitNone, Why: "nothing was measured", Findings: m.checkErrors()}
	}
	var a Assessment
	a.Limit, a.Why = m.findLimit()
	a.Findings = append(a.Findings, m.checkClient(a)...)
	a.Findings = append(a.Findings, m.checkSendLag()...)
	a.Findings = append(a.Findings, m.checkRate()...)
	a.Findings = append(a.Findings, m.checkLittle()...)
	a.Findings = append(a.Findings, m.checkConnections()...)
	a.Findings = append(a.Findings, m.checkErrors()...)
	a.Findings = append(a.Findings, m.checkTails()...)
	a.Capacity = a.Limit != LimitClient
	for _, f := range a.Findings {
		if f.Severity == tare.Void {
			a.Capacity = false
		}
	}
	return a
}

// meter computes the values that are compared with the thresholds.
type meter struct {
	r    *Result
	f    Facts
	wall float64 // measured part in seconds
}

func (m meter) isOpenLoop() bool { return m.r.Asked > 0 }

func (m meter) clientCores() float64 {
	if m.f.ClientCores > 0 {
		return m.f.ClientCores
	}
	return float64(max(m.r.Threads, 1))
}

func (m meter) clientShare() float64 { return m.r.CPU.Seconds() / (m.wall * m.clientCores()) }

// waitedShare returns the share of their time that the threads waited for a processor.
func (m meter) waitedShare() float64 {
	return max(0, m.r.Wait.Seconds()) / (m.wall * float64(max(m.r.Threads, 1)))
}

// isStarved reports whether the threads spent nearly all their time running or waiting for a processor, at
// least half of it waiting.
func (m meter) isStarved() bool {
	ran := m.r.CPU.Seconds() / (m.wall * float64(max(m.r.Threads, 1)))
	return m.waitedShare() >= ran && m.waitedShare()+ran >= saturatedShare
}

func (m meter) serverShare() (float64, bool) {
	if m.f.ServerCores <= 0 {
		return 0, false
	}
	return m.f.ServerCPU.Seconds() / (m.wall * m.f.ServerCores), true
}

// pathShare returns the share of a request's time on the path, or 0 if unknown.
func (m meter) pathShare() float64 {
	trip := m.f.RoundTrip
	if trip <= 0 && m.r.Connect != nil {
		trip = time.Duration(m.r.Connect.Quantile(0.5)) // opening a connection takes a round trip
	}
	mean := m.r.Service.Mean()
	if trip <= 0 || mean <= 0 {
		return 0
	}
	return min(1, float64(trip)/mean)
}

// linkShare returns the used share of the bandwidth in the busier direction, or 0 if unknown.
func (m meter) linkShare() float64 {
	if m.f.Bandwidth <= 0 {
		return 0
	}
	const bitsPerByte = 8
	return bitsPerByte * float64(max(m.r.BytesIn, m.r.BytesOut)) / m.wall / float64(m.f.Bandwidth)
}

// inFlightShare returns the used share of the possible requests in flight.
func (m meter) inFlightShare() float64 {
	if m.r.Connections == 0 {
		return 0
	}
	return m.r.Concurrency / float64(m.r.maxInFlight())
}

// excessLag returns the p99 of the send lag, and whether it is too large. The lag is the time from intended
// to actual sending.
func (m meter) excessLag() (time.Duration, bool) {
	if !m.isOpenLoop() || m.r.SendLag == nil {
		return 0, false
	}
	lag := time.Duration(m.r.SendLag.Quantile(0.99))
	return lag, lag > max(negligibleLag, time.Duration(maxLagShare*float64(m.r.Latency.Quantile(0.99))))
}

// isBlocked reports whether requests were late because no connection was free. Then the server caused the
// lag, which is part of the latency. Either nearly all connections were always busy, or some response took
// at least half as long as the lag. The latter counts only if the load generator had processors to run on.
func (m meter) isBlocked(lag time.Duration) bool {
	allBusy := m.inFlightShare() >= 1-maxIdleShare
	couldRun := m.waitedShare() < maxWaitShare && m.f.Throttled < delayingShare
	slowResponse := time.Duration(m.r.Service.Max()) >= lag/2
	return allBusy || couldRun && slowResponse
}

// hasLongThink reports whether connections paused for at least the mean time of a response.
func (m meter) hasLongThink() bool { return float64(m.f.Think) >= m.r.Service.Mean() && m.f.Think > 0 }

func (m meter) holdsRate() bool {
	asked := m.r.Asked * m.wall
	// The count of a random profile varies. Four standard deviations of a Poisson count are accepted.
	tolerance := max(maxRateError, 4/math.Sqrt(max(asked, 1))) * asked
	return math.Abs(float64(m.r.Sent)-asked) <= tolerance && float64(m.r.Late) <= tolerance
}

// findLimit returns the limit and the reason in words. The most certain reasons come first.
func (m meter) findLimit() (Limit, string) {
	lag, late := m.excessLag()
	served, known := m.serverShare()
	switch {
	case m.clientShare() >= saturatedShare:
		return LimitClient, fmt.Sprintf("the load generator used %s of its %s", format.Percent(m.clientShare()), formatProcessors(m.clientCores()))
	case m.f.Throttled >= maxThrottledShare:
		return LimitClient, fmt.Sprintf("a CPU quota stopped the load generator for %s of the time", format.Percent(m.f.Throttled))
	case m.isStarved():
		return LimitClient, fmt.Sprintf("the load generator waited for a processor for %s of the time", format.Percent(m.waitedShare()))
	case late && !m.isBlocked(lag):
		return LimitClient, fmt.Sprintf("requests were sent up to %s late (p99) although connections were free", formatDuration(lag))
	case m.linkShare() >= linkFullShare:
		return LimitLatency, fmt.Sprintf("the path was %s full", format.Percent(m.linkShare()))
	case known && served >= saturatedShare:
		return LimitServer, fmt.Sprintf("the server used %s of its %s", format.Percent(served), formatProcessors(m.f.ServerCores))
	case m.isOpenLoop() && m.holdsRate():
		return LimitNone, fmt.Sprintf("the requested rate was achieved%s", m.describeSpare())
	case !m.isOpenLoop() && m.hasLongThink():
		return LimitNone, fmt.Sprintf("each of %s paused for %s after an answer, which took %s in the mean", formatSlots(m.r), formatDuration(m.f.Think), formatDuration(time.Duration(m.r.Service.Mean())))
	case m.pathShare() >= pathBoundShare:
		return LimitLatency, fmt.Sprintf("requests spent %s of their time on the path: the rate is that of %s waiting for it", format.Percent(m.pathShare()), formatSlots(m.r))
	case known:
		return LimitLatency, fmt.Sprintf("%s waited for answers while the server used %.2f of its %s: more connections may carry more, unless it works on one thread",
			formatSlots(m.r), served*m.f.ServerCores, formatProcessors(m.f.ServerCores))
	}
	return LimitServer, fmt.Sprintf("the load generator used %s of its %s and the path took %s of a request's time: the rest passed at the server, whose processors cannot be seen from here",
		format.Percent(m.clientShare()), formatProcessors(m.clientCores()), format.Percent(m.pathShare()))
}

// describeSpare says how busy the server was. It returns "" if unknown.
func (m meter) describeSpare() string {
	served, known := m.serverShare()
	if !known {
		return ""
	}
	return fmt.Sprintf(" while the server used %s of its %s", format.Percent(served), formatProcessors(m.f.ServerCores))
}
