package load

import (
	"fmt"
	"math"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Limit is what kept a rate from being higher.
type Limit string

// Limits.
const (
	LimitServer  Limit = "server"  // its answers set the pace
	LimitClient  Limit = "client"  // this load generator: nothing follows about the server's capacity
	LimitLatency Limit = "latency" // each connection waits for its answer, and nobody is busy; or the path is full
	LimitNone    Limit = "none"    // the rate that was asked for was carried
)

// Facts are what is known of a leg beside its result. What is zero is not known.
type Facts struct {
	ClientCores float64       // processors that the load generator may use; zero: one for each of its threads
	Throttled   float64       // share of the time in which a CPU quota held it up
	ServerCPU   time.Duration // user and system, while measured
	ServerCores float64       // processors that the server may use
	RoundTrip   time.Duration // of the path: to make a connection, and what a relay adds
	Bandwidth   int64         // of the path, bits per second each way
	Think       time.Duration // closed loop: between an answer and the next request
}

// Assessment is what may be concluded from a leg.
type Assessment struct {
	Limit    Limit
	Why      string // one sentence about the limit
	Capacity bool   // throughput and latencies may be told of the server
	Findings []tare.Finding
}

// Thresholds of an assessment. docs/LOAD.md tells them to users.
const (
	saturated    = 0.85             // share of its processors from which a side is the limit
	throttledOff = 0.01             // share of the time in which a CPU quota holds the load generator up: more is in the p99 of everything
	throttledAny = 0.001            // the same, from which it may be why a request was late
	waitedOff    = 0.15             // share of the time for a processor, from which latencies hold it
	lagLeast     = time.Millisecond // send lag that is no matter whatever the latencies are
	lagShare     = 0.1              // of the p99, that send lag may take
	rateOff      = 0.03             // how far the rate may be from what was asked for
	littleOff    = 0.1              // how far rate × latency may be from the concurrency
	littleLeast  = 1000             // requests, below which Little's law is not asked
	idleShare    = 0.1              // of the connections, that may be without a request under way
	onTheLink    = 0.5              // share of a request's time on the path, from which that sets the pace
	linkFull     = 0.9              // share of the bandwidth, from which that is the limit
)

// Assess says what set the limit of a leg, and what else its reader should
// know. It is arithmetic on what was measured.
func Assess(r *Result, f Facts) Assessment {
	m := meter{r: r, f: f, wall: r.Wall.Seconds()}
	if m.wall <= 0 || r.Sent == 0 {
		return Assessment{Limit: LimitNone, Why: "nothing was measured", Findings: m.errors()}
	}
	var a Assessment
	a.Limit, a.Why = m.limit()
	a.Findings = append(a.Findings, m.client(a)...)
	a.Findings = append(a.Findings, m.lag()...)
	a.Findings = append(a.Findings, m.rate()...)
	a.Findings = append(a.Findings, m.little()...)
	a.Findings = append(a.Findings, m.connections()...)
	a.Findings = append(a.Findings, m.errors()...)
	a.Findings = append(a.Findings, m.tail()...)
	a.Capacity = a.Limit != LimitClient
	for _, f := range a.Findings {
		if f.Severity == tare.Void {
			a.Capacity = false
		}
	}
	return a
}

// meter reads one leg.
type meter struct {
	r    *Result
	f    Facts
	wall float64 // s
}

func (m meter) open() bool { return m.r.Asked > 0 }

// cores are the processors that the load generator may use.
func (m meter) cores() float64 {
	if m.f.ClientCores > 0 {
		return m.f.ClientCores
	}
	return float64(max(m.r.Threads, 1))
}

// busy is the share of its processors that the load generator used.
func (m meter) busy() float64 { return m.r.CPU.Seconds() / (m.wall * m.cores()) }

// waited is the share of its threads' time in which they were ready and did
// not run.
func (m meter) waited() float64 {
	return max(0, m.r.Wait.Seconds()) / (m.wall * float64(max(m.r.Threads, 1)))
}

// starved reports whether the load generator wanted to run nearly all the
// time, and for the greater part was not let.
func (m meter) starved() bool {
	ran := m.r.CPU.Seconds() / (m.wall * float64(max(m.r.Threads, 1)))
	return m.waited() >= ran && m.waited()+ran >= saturated
}

// served is the share of its processors that the server used; false: not known.
func (m meter) served() (float64, bool) {
	if m.f.ServerCores <= 0 {
		return 0, false
	}
	return m.f.ServerCPU.Seconds() / (m.wall * m.f.ServerCores), true
}

// path is the share of a request's time that it spends on the path.
func (m meter) path() float64 {
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

// full is how full the path is: the fuller way's share of the bandwidth.
func (m meter) full() float64 {
	if m.f.Bandwidth <= 0 {
		return 0
	}
	return 8 * float64(max(m.r.BytesIn, m.r.BytesOut)) / m.wall / float64(m.f.Bandwidth)
}

// under is the mean number of requests under way over the connections.
func (m meter) under() float64 {
	if m.r.Connections == 0 {
		return 0
	}
	return m.r.Concurrency / float64(m.r.places())
}

// lagging is the p99 of the send lag where that is too much.
func (m meter) lagging() (time.Duration, bool) {
	if !m.open() || m.r.SendLag == nil {
		return 0, false
	}
	lag := time.Duration(m.r.SendLag.Quantile(0.99))
	return lag, lag > max(lagLeast, time.Duration(lagShare*float64(m.r.Latency.Quantile(0.99))))
}

// blocked reports whether requests had to wait for a free connection: nearly
// all were busy all the time, or answers took as long as requests were late,
// and not because the load generator itself could not run. Then the lateness
// is the server's, and part of the latency it causes.
func (m meter) blocked(lag time.Duration) bool {
	alert := m.waited() < waitedOff && m.f.Throttled < throttledAny
	return m.under() >= 1-idleShare || alert && time.Duration(m.r.Service.Max()) >= lag/2
}

// thinks reports whether connections paused for longer than they waited.
func (m meter) thinks() bool { return float64(m.f.Think) >= m.r.Service.Mean() && m.f.Think > 0 }

// held reports whether the rate asked for was achieved.
func (m meter) held() bool {
	asked := m.r.Asked * m.wall
	off := max(rateOff, 4/math.Sqrt(max(asked, 1))) // a random profile varies by itself
	return math.Abs(float64(m.r.Sent)-asked) <= off*asked && float64(m.r.Late) <= off*asked
}

// limit is what set the pace, the surest reason first.
func (m meter) limit() (Limit, string) {
	lag, late := m.lagging()
	served, known := m.served()
	switch {
	case m.busy() >= saturated:
		return LimitClient, fmt.Sprintf("the load generator used %s of its %s", format.Percent(m.busy()), processors(m.cores()))
	case m.f.Throttled >= throttledOff:
		return LimitClient, fmt.Sprintf("a CPU quota held the load generator up for %s of the time", format.Percent(m.f.Throttled))
	case m.starved():
		return LimitClient, fmt.Sprintf("the load generator waited for a processor for %s of the time", format.Percent(m.waited()))
	case late && !m.blocked(lag):
		return LimitClient, fmt.Sprintf("requests were sent up to %s late (p99) although connections were free", short(lag))
	case m.full() >= linkFull:
		return LimitLatency, fmt.Sprintf("the path was %s full", format.Percent(m.full()))
	case known && served >= saturated:
		return LimitServer, fmt.Sprintf("the server used %s of its %s", format.Percent(served), processors(m.f.ServerCores))
	case m.open() && m.held():
		return LimitNone, fmt.Sprintf("the requested rate was achieved%s", m.spare())
	case !m.open() && m.thinks():
		return LimitNone, fmt.Sprintf("each of %s paused for %s after an answer, which took %s in the mean", placesOf(m.r), short(m.f.Think), short(time.Duration(m.r.Service.Mean())))
	case m.path() >= onTheLink:
		return LimitLatency, fmt.Sprintf("requests spent %s of their time on the path: the rate is that of %s waiting for it", format.Percent(m.path()), placesOf(m.r))
	case known:
		return LimitLatency, fmt.Sprintf("%s waited for answers while the server used %.2f of its %s: more connections may carry more, unless it works on one thread",
			placesOf(m.r), served*m.f.ServerCores, processors(m.f.ServerCores))
	}
	return LimitServer, fmt.Sprintf("the load generator used %s of its %s and the path took %s of a request's time: the rest passed at the server, whose processors cannot be seen from here",
		format.Percent(m.busy()), processors(m.cores()), format.Percent(m.path()))
}

// spare says how much the server has left; empty where that is not known.
func (m meter) spare() string {
	served, known := m.served()
	if !known {
		return ""
	}
	return fmt.Sprintf(" while the server used %s of its %s", format.Percent(served), processors(m.f.ServerCores))
}
