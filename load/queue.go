package load

import (
	"math"
	"sync"
	"time"
)

// never is a time that does not come.
const never = math.MaxInt64

// ticket is a request that is to be sent at a time.
type ticket struct {
	at       int64 // intended time, ns
	measured bool
}

// queue is the schedule of an open loop: all intended times of a leg, in
// order, for all threads. A thread takes the next ticket only while it has a
// free connection for it, and gives it back if it loses that: so no request
// waits at one thread while another could send it. A thread holds its one
// ticket until its time has come; what cannot be sent in time waits here.
type queue struct {
	mu       sync.Mutex
	next     func() time.Duration
	mean     func(time.Duration) float64
	start    int64 // ns: time zero of the profile
	opened   bool  // start is known
	lead     int64
	leadTime int64
	duration int64

	ahead    ticket // drawn from next and not yet taken
	has      bool
	returned []ticket
	drawn    int64 // tickets
	begin    int64 // of the measured part; never: not known yet
	asked    int64 // measured tickets drawn
}

func newQueue(leg Leg) *queue {
	return &queue{
		next: leg.Profile.Times(leg.Seed), mean: leg.Profile.Mean,
		lead: leg.Lead, leadTime: int64(leg.LeadTime), duration: int64(leg.Duration), begin: never,
	}
}

// open sets time zero. Before it there are no tickets.
func (q *queue) open(start int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start, q.opened = start, true
	if q.lead == 0 {
		q.begin = start + q.leadTime
	}
}

// take hands out the next ticket; false: there is none before the end, or none
// yet.
func (q *queue) take() (ticket, bool) {
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
	if !q.has {
		q.draw()
	}
	if q.ahead.at >= q.end() {
		return ticket{}, false
	}
	q.has = false
	if q.ahead.measured {
		q.asked++
	}
	return q.ahead, true
}

// draw takes the next intended time from the profile.
func (q *queue) draw() {
	after := int64(q.next())
	at := q.start + after
	if at < q.start { // beyond what can be counted
		at = never
	}
	switch {
	case q.begin != never:
	case at == never: // nothing more will come: what there was is the lead-in
		q.begin = max(q.start+q.leadTime, q.ahead.at)
	case q.drawn < q.lead || after < q.leadTime:
	case q.drawn == q.lead:
		q.begin = at
	default:
		q.begin = q.start + q.leadTime
	}
	q.drawn++
	q.ahead, q.has = ticket{at: at, measured: q.begin != never && at >= q.begin}, true
}

// end is when the measured part is over; never where it has no beginning yet.
// The caller holds the lock.
func (q *queue) end() int64 {
	if q.begin == never {
		return never
	}
	return q.begin + q.duration
}

// measures returns when measuring begins and ends; false: that is not known
// yet.
func (q *queue) measures() (begin, end int64, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.begin, q.end(), q.begin != never
}

// giveBack takes back a ticket that could not be sent.
func (q *queue) giveBack(t ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.returned = append(q.returned, t)
	for i := len(q.returned) - 1; i > 0 && q.returned[i].at > q.returned[i-1].at; i-- {
		q.returned[i], q.returned[i-1] = q.returned[i-1], q.returned[i]
	}
}

// mostCounted is how many tickets are counted one by one after the end, for
// about a tenth of a second; the rest of a hopeless backlog is worked out from
// the profile's mean.
const mostCounted = 1 << 24

// rest returns how many requests were asked for in the measured part up to
// end, and how many of them nobody sent. It is called once, when all is over.
func (q *queue) rest(end int64) (asked, late int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.returned {
		if t.measured && t.at < end {
			late++
		} else if t.measured {
			q.asked--
		}
	}
	end = min(end, q.end())
	for n := 0; ; n++ {
		if !q.has {
			q.draw()
		}
		if q.ahead.at >= end {
			break
		}
		if n == mostCounted {
			more := q.meanCount(end) - q.meanCount(q.ahead.at)
			q.asked, late = q.asked+more, late+more
			break
		}
		if q.has = false; q.ahead.measured {
			q.asked++
			late++
		}
	}
	return q.asked, late
}

// soFar returns the rate asked for in the first so much of the measured part,
// and how many of its requests no thread has taken, by the profile's mean.
func (q *queue) soFar(wall time.Duration) (perSecond float64, late int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.begin == never || wall <= 0 {
		return 0, 0
	}
	asked := q.meanCount(q.begin+int64(wall)) - q.meanCount(q.begin)
	return float64(asked) / wall.Seconds(), max(0, asked-q.asked)
}

// meanCount is how many requests the profile has up to a time, in the mean.
func (q *queue) meanCount(at int64) int64 {
	d := time.Duration(at - q.start)
	return int64(q.mean(d) * d.Seconds())
}
