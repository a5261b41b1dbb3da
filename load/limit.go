package load

import (
	"fmt"
	"math"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Limit is the factor that limited a rate.
type Limit string

// Limits.
const (
	LimitServer  Limit = "server"  // its responses determined the rate
	LimitClient  Limit = "client"  // this load generator: nothing follows about the server's capacity
	LimitLatency Limit = "latency" // each connection waits for its response, and neither side is busy; or the path is full
	LimitNone    Limit = "none"    // the requested rate was achieved
)

// Facts are the known facts about a phase that its result does not contain. 0 means unknown.
type Facts struct {
	ClientCores float64       // processors that the load generator may use; zero: one for each of its threads
	Throttled   float64       // share of the time in which a CPU quota throttled it
	ServerCPU   time.Duration // user and system, while measured
	ServerCores float64       // processors that the server may use
	RoundTrip   time.Duration // of the path: to make a connection, and what a relay adds
	Bandwidth   int64         // of the path, bits per second each way
	Think       time.Duration // closed loop: between a response and the next request
}

// Assessment is the conclusion from a phase.
type Assessment struct {
	Limit    Limit
	Why      string // one sentence about the limit
	Capacity bool   // throughput and latencies are those of the server
	Findings []tare.Finding
}

// Thresholds of an assessment. docs/LOAD.md documents them.
const (
	saturated    = 0.85             // use of its processors from which a side is the limit
	throttledOff = 0.01             // share of the time in which a CPU quota throttles the load generator: more affects every p99
	throttledAny = 0.001            // the same, from which it may have delayed a request
	waitedOff    = 0.15             // share of the time spent waiting for a processor, from which latencies include it
	lagLeast     = time.Millisecond // send lag that is negligible at any latency
	lagShare     = 0.1              // share of the p99 that send lag may be
	rateOff      = 0.03             // relative error of the rate
	littleOff    = 0.1              // relative difference of rate × latency and the concurrency
	littleLeast  = 1000             // requests, below which Little's law is not checked
	idleShare    = 0.1              // share of the connections that may have no request in flight
	onTheLink    = 0.5              // share of a request's time on the path, from which the path determines the rate
	linkFull     = 0.9              // share of the bandwidth, from which it is the limit
)

// Assess returns what limited a phase, and the findings about it. It computes only from measured values.
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

// meter computes the figures of an assessment.
type meter struct {
	r    *Result
	f    Facts
	wall float64 // s
}

func (m meter) isOpenLoop() bool { return m.r.Asked > 0 }

// clientCores returns the number of processors that the load generator may use.
func (m meter) clientCores() float64 {
	if m.f.ClientCores > 0 {
		return m.f.ClientCores
	}
	return float64(max(m.r.Threads, 1))
}

// clientShare returns the share of its processors that the load generator used.
func (m meter) clientShare() float64 { return m.r.CPU.Seconds() / (m.wall * m.clientCores()) }

// waitedShare returns the share of its threads' time in which they were runnable and did not run.
func (m meter) waitedShare() float64 {
	return max(0, m.r.Wait.Seconds()) / (m.wall * float64(max(m.r.Threads, 1)))
}

// isStarved reports whether the load generator was runnable nearly all the time and waited for most of it.
func (m meter) isStarved() bool {
	ran := m.r.CPU.Seconds() / (m.wall * float64(max(m.r.Threads, 1)))
	return m.waitedShare() >= ran && m.waitedShare()+ran >= saturated
}

// serverShare returns the share of its processors that the server used, or false if unknown.
func (m meter) serverShare() (float64, bool) {
	if m.f.ServerCores <= 0 {
		return 0, false
	}
	return m.f.ServerCPU.Seconds() / (m.wall * m.f.ServerCores), true
}

// pathShare returns the share of a request's time that it spends on the path, or 0 if unknown.
func (m meter) pathShare() float64 {
	trip := m.f.RoundTrip
	if trip <= 0 && m.r.Connect != nil {
		trip = time.Duration(m.r.Connect.Quantile(0.5))
	}
	mean := m.r.Service.Mean()
	if trip <= 0 || mean <= 0 {
		return 0
	}
	return min(1, float64(trip)/mean)
}

// linkShare returns the used share of the path's bandwidth in the busier direction, or 0 if unknown.
func (m meter) linkShare() float64 {
	if m.f.Bandwidth <= 0 {
		return 0
	}
	return 8 * float64(max(m.r.BytesIn, m.r.BytesOut)) / m.wall / float64(m.f.Bandwidth)
}

// inFlightShare returns the mean number of requests in flight as a share of the possible number.
func (m meter) inFlightShare() float64 {
	if m.r.Connections == 0 {
		return 0
	}
	return m.r.Concurrency / float64(m.r.maxInFlight())
}

// excessLag returns the p99 of the send lag, and whether it is too large. It returns false for a closed loop.
func (m meter) excessLag() (time.Duration, bool) {
	if !m.isOpenLoop() || m.r.SendLag == nil {
		return 0, false
	}
	lag := time.Duration(m.r.SendLag.Quantile(0.99))
	return lag, lag > max(lagLeast, time.Duration(lagShare*float64(m.r.Latency.Quantile(0.99))))
}

// isBlocked reports whether late requests had waited for a free connection: nearly all connections were busy
// all the time, or a response took at least half as long as requests were late while the load generator could
// run. Then the server caused the lateness, and it is part of the latency.
func (m meter) isBlocked(lag time.Duration) bool {
	alert := m.waitedShare() < waitedOff && m.f.Throttled < throttledAny
	return m.inFlightShare() >= 1-idleShare || alert && time.Duration(m.r.Service.Max()) >= lag/2
}

// hasLongThink reports whether connections paused longer than they waited.
func (m meter) hasLongThink() bool { return float64(m.f.Think) >= m.r.Service.Mean() && m.f.Think > 0 }

// holdsRate reports whether the requested rate was achieved.
func (m meter) holdsRate() bool {
	asked := m.r.Asked * m.wall
	off := max(rateOff, 4/math.Sqrt(max(asked, 1))) // a random profile varies by itself
	return math.Abs(float64(m.r.Sent)-asked) <= off*asked && float64(m.r.Late) <= off*asked
}

// findLimit returns the limit and the reason, checking the most certain reason first.
func (m meter) findLimit() (Limit, string) {
	lag, late := m.excessLag()
	served, known := m.serverShare()
	switch {
	case m.clientShare() >= saturated:
		return LimitClient, fmt.Sprintf("the load generator used %s of its %s", format.Percent(m.clientShare()), formatProcessors(m.clientCores()))
	case m.f.Throttled >= throttledOff:
		return LimitClient, fmt.Sprintf("a CPU quota held the load generator up for %s of the time", format.Percent(m.f.Throttled))
	case m.isStarved():
		return LimitClient, fmt.Sprintf("the load generator waited for a processor for %s of the time", format.Percent(m.waitedShare()))
	case late && !m.isBlocked(lag):
		return LimitClient, fmt.Sprintf("requests were sent up to %s late (p99) although connections were free", formatDuration(lag))
	case m.linkShare() >= linkFull:
		return LimitLatency, fmt.Sprintf("the path was %s full", format.Percent(m.linkShare()))
	case known && served >= saturated:
		return LimitServer, fmt.Sprintf("the server used %s of its %s", format.Percent(served), formatProcessors(m.f.ServerCores))
	case m.isOpenLoop() && m.holdsRate():
		return LimitNone, fmt.Sprintf("the requested rate was achieved%s", m.describeSpare())
	case !m.isOpenLoop() && m.hasLongThink():
		return LimitNone, fmt.Sprintf("each of %s paused for %s after an answer, which took %s in the mean", formatSlots(m.r), formatDuration(m.f.Think), formatDuration(time.Duration(m.r.Service.Mean())))
	case m.pathShare() >= onTheLink:
		return LimitLatency, fmt.Sprintf("requests spent %s of their time on the path: the rate is that of %s waiting for it", format.Percent(m.pathShare()), formatSlots(m.r))
	case known:
		return LimitLatency, fmt.Sprintf("%s waited for answers while the server used %.2f of its %s: more connections may carry more, unless it works on one thread",
			formatSlots(m.r), served*m.f.ServerCores, formatProcessors(m.f.ServerCores))
	}
	return LimitServer, fmt.Sprintf("the load generator used %s of its %s and the path took %s of a request's time: the rest passed at the server, whose processors cannot be seen from here",
		format.Percent(m.clientShare()), formatProcessors(m.clientCores()), format.Percent(m.pathShare()))
}

// describeSpare returns how busy the server was, or "" if unknown.
func (m meter) describeSpare() string {
	served, known := m.serverShare()
	if !known {
		return ""
	}
	return fmt.Sprintf(" while the server used %s of its %s", format.Percent(served), formatProcessors(m.f.ServerCores))
}
