package load

import (
	"math"
	"sync"
	"time"
)

const never = math.MaxInt64

// ticket is one request of an open loop. The thread that takes it sends the next request at the intended
// time.
type ticket struct {
	at       int64 // intended time, ns
	measured bool  // the intended time is in the measured part
}

// queue is the schedule of an open loop: all intended times of a phase, for all threads. Only a thread with
// a free connection takes a ticket. If it loses the connection, it gives the ticket back. So no request
// waits at one thread while another could send it. Late requests wait in the queue.
type queue struct {
	mu       sync.Mutex
	next     func() time.Duration
	mean     func(time.Duration) float64 // per second
	start    int64                       // ns
	opened   bool
	lead     int64 // requests of the lead-in
	leadTime int64 // ns
	duration int64 // ns

	upcoming    ticket // next ticket; valid if hasUpcoming
	hasUpcoming bool
	returned    []ticket // tickets that were given back, the earliest at the end
	drawn       int64
	begin       int64 // start of the measured part in ns, or never while unknown
	taken       int64 // measured tickets that were taken
}

func newQueue(leg Leg) *queue {
	return &queue{
		next: leg.Profile.Times(leg.Seed), mean: leg.Profile.Mean,
		lead: leg.Lead, leadTime: int64(leg.LeadTime), duration: int64(leg.Duration), begin: never,
	}
}

// openAt sets time zero of the profile. Before this call there are no tickets.
func (q *queue) openAt(start int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start, q.opened = start, true
	if q.lead == 0 {
		q.begin = start + q.leadTime
	}
}

// takeTicket returns the next ticket. It returns false after the last one, and before openAt.
func (q *queue) takeTicket() (ticket, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.opened {
		return ticket{}, false
	}
	if n := len(q.returned); n > 0 {
		t := q.returned[n-1]
		q.returned = q.returned[:n-1]
		return t, true
	}
	if !q.hasUpcoming {
		q.drawNext()
	}
	if q.upcoming.at >= q.endTime() {
		return ticket{}, false
	}
	q.hasUpcoming = false
	if q.upcoming.measured {
		q.taken++
	}
	return q.upcoming, true
}

// drawNext sets upcoming to the next intended time of the profile. The first after the lead-in starts the
// measured part.
func (q *queue) drawNext() {
	after := int64(q.next())
	at := q.start + after
	if at < q.start { // overflow
		at = never
	}
	switch {
	case q.begin != never: // already known
	case at == never: // the profile has no more requests: all belong to the lead-in
		q.begin = max(q.start+q.leadTime, q.upcoming.at)
	case q.drawn < q.lead || after < q.leadTime: // still in the lead-in
	case q.drawn == q.lead:
		q.begin = at
	default:
		q.begin = q.start + q.leadTime
	}
	q.drawn++
	q.upcoming, q.hasUpcoming = ticket{at: at, measured: q.begin != never && at >= q.begin}, true
}

// endTime returns the end of the measured part, or never while unknown. The caller must lock q.mu.
func (q *queue) endTime() int64 {
	if q.begin == never {
		return never
	}
	return q.begin + q.duration
}

func (q *queue) measuredSpan() (begin, end int64, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.begin, q.endTime(), q.begin != never
}

func (q *queue) giveBack(t ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.returned = append(q.returned, t)
	for i := len(q.returned) - 1; i > 0 && q.returned[i].at > q.returned[i-1].at; i-- {
		q.returned[i], q.returned[i-1] = q.returned[i-1], q.returned[i]
	}
}

// maxCounted is the number of tickets that countUnsent counts one by one, in about a tenth of a second. The
// rest of a backlog is computed from the mean rate.
const maxCounted = 1 << 24

// countUnsent returns the number of requests that were due in the measured part, up to end. late is how
// many of them were not sent. It is called once, after the phase.
func (q *queue) countUnsent(end int64) (asked, late int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.returned {
		if t.measured && t.at < end {
			late++
		} else if t.measured {
			q.taken--
		}
	}
	end = min(end, q.endTime())
	for n := 0; ; n++ {
		if !q.hasUpcoming {
			q.drawNext()
		}
		if q.upcoming.at >= end {
			break
		}
		if n == maxCounted {
			more := q.meanCount(end) - q.meanCount(q.upcoming.at)
			q.taken, late = q.taken+more, late+more
			break
		}
		if q.hasUpcoming = false; q.upcoming.measured {
			q.taken++
			late++
		}
	}
	return q.taken, late
}

// rateSoFar returns the requested rate in the measured part so far, of length wall. late is the number of
// requests that no thread has taken. Both come from the profile's mean.
func (q *queue) rateSoFar(wall time.Duration) (perSecond float64, late int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begin == never || wall <= 0 {
		return 0, 0
	}
	asked := q.meanCount(q.begin+int64(wall)) - q.meanCount(q.begin)
	return float64(asked) / wall.Seconds(), max(0, asked-q.taken)
}

// meanCount returns the number of requests up to a time, by the mean rate.
func (q *queue) meanCount(at int64) int64 {
	d := time.Duration(at - q.start)
	return int64(q.mean(d) * d.Seconds())
}
