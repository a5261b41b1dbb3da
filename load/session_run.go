package load

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// run is one running phase, shared by the threads or goroutines of the engine. An unmeasured lead-in
// precedes the measured part. Times are ns since the session's base; 0 means unknown yet.
//
// In a closed loop a request is measured if it ends in the measured part. So connections are equally busy
// at both ends of that part. A request that is in flight at the end is measured only if it fails. Otherwise
// a server that stops responding would seem to have no errors. In an open loop a request is measured if its
// intended time is in the measured part.
type run struct {
	s      *settings
	engine engine
	leg    Leg
	opened int64
	queue  *queue // schedule of an open loop; nil in a closed loop
	steps  Step   // steps of the profile; without rates if it has none

	mu             sync.Mutex
	pendingDialers int          // remaining calls of markDialed
	ended          bool         // the measured part has ended, or the phase was aborted
	started        atomic.Int64 // time zero of a profile
	conns          atomic.Int64
	lastConn       atomic.Int64 // last known time with an open connection

	admitted atomic.Int64 // calls of admitRequest, if Leg.Ops is set
	done     atomic.Int64 // outcomes so far, lead-in included
	leadIn   atomic.Int64 // outcomes before measuring began; -1 if it has not begun
	begin    atomic.Int64
	end      atomic.Int64
	aborted  atomic.Bool

	err       error
	hasFirst  atomic.Bool
	first     string
	used      [2]usage // of the engine's threads, at both ends of the measured part
	collector *collector
}

// usage is CPU time, and time spent waiting for a processor. Negative means unknown.
type usage struct{ cpu, wait time.Duration }

func newRun(s *settings, e engine, leg Leg) *run {
	r := &run{s: s, engine: e, leg: leg, steps: findSteps(leg.Profile), pendingDialers: e.dialerCount(), opened: s.nowNS()}
	if leg.Profile != nil {
		r.queue = newQueue(leg)
	}
	r.leadIn.Store(-1)
	r.lastConn.Store(r.opened)
	r.collector = newCollector(r, e.recorderCount())
	return r
}

// markDialed records that a thread or connection has finished connecting. The last caller starts the
// requests.
func (r *run) markDialed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pendingDialers--; r.pendingDialers <= 0 {
		r.startRequests()
	}
}

func (r *run) addConn() { r.conns.Add(1) }

func (r *run) removeConn(now int64) {
	r.lastConn.Store(now)
	r.conns.Add(-1)
}

// startIfOverdue starts the requests after the timeout even without all connections.
func (r *run) startIfOverdue(now int64) {
	if now-r.opened >= int64(r.s.Timeout) && r.started.Load() == 0 && r.conns.Load() > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.startRequests()
	}
}

// abortIfUnconnected aborts the phase if there has been no connection for the timeout. It is called on a
// failed connection attempt.
func (r *run) abortIfUnconnected(now int64) {
	if r.conns.Load() > 0 || now-r.lastConn.Load() < int64(r.s.Timeout) {
		return
	}
	r.mu.Lock()
	why := r.first
	r.mu.Unlock()
	r.abort(fmt.Errorf("no connection to %s for %v: %s", r.s.Target.Addr, r.s.Timeout, why))
}

// startRequests starts the sending of requests, unless the phase has ended. The caller must lock r.mu.
func (r *run) startRequests() {
	if r.started.Load() != 0 || r.ended {
		return
	}
	if r.queue == nil && r.leg.Lead == 0 && r.leg.LeadTime == 0 {
		r.leadIn.Store(0)
		r.startMeasuring(0)
	}
	start := r.s.nowNS()
	if r.queue != nil {
		if !r.leg.At.IsZero() {
			start = max(1, int64(r.leg.At.Sub(r.s.base)))
		}
		r.queue.openAt(start)
	}
	r.started.Store(start)
	r.engine.wake()
}

// startMeasuring starts the measured part at a time in ns; 0 means now.
func (r *run) startMeasuring(at int64) {
	r.used[0] = r.engine.readUsage()
	r.callMark(true)
	if at == 0 {
		at = r.s.nowNS()
	}
	r.begin.Store(at)
}

func (r *run) callMark(begin bool) {
	if r.leg.Mark != nil {
		r.leg.Mark(begin)
	}
}

// admitRequest reports whether one more request of a closed loop may be sent. An admitted request must be
// sent: the phase ends with that number of outcomes.
func (r *run) admitRequest() bool {
	if r.leg.Ops == 0 {
		return true
	}
	n, leadIn := r.admitted.Add(1), r.leadIn.Load()
	inLeadIn := leadIn < 0
	return inLeadIn || n <= leadIn+r.leg.Ops
}

// countOutcome counts the outcome of a request of a closed loop and reports whether it is measured. An
// outcome may complete the lead-in or end the measured part.
func (r *run) countOutcome(now int64, failed bool) bool {
	n := r.done.Add(1)
	leadIn := r.leadIn.Load()
	if leadIn < 0 {
		if n < r.leg.Lead || now-r.started.Load() < int64(r.leg.LeadTime) {
			return false
		}
		var begun bool
		if leadIn, begun = r.finishLead(); !begun {
			return false
		}
	}
	// Another thread may have begun the measured part after n was counted.
	if n <= leadIn || r.aborted.Load() {
		return false
	}
	if d := int64(r.leg.Duration); d > 0 {
		if end := r.begin.Load() + d; now >= end {
			r.finishMeasuring(end)
			return failed
		}
	}
	if ops := r.leg.Ops; ops > 0 && n-leadIn >= ops {
		r.finishMeasuring(0) // not at now: another thread may have counted a later outcome before
		isLast := n-leadIn == ops
		return failed || isLast
	}
	return true
}

// finishLead starts measuring unless another thread has done so. It returns the number of outcomes before
// the measured part. begun is false if the phase was aborted before.
func (r *run) finishLead() (leadIn int64, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leadIn.Load() < 0 && !r.ended {
		r.startMeasuring(0)
		r.leadIn.Store(r.done.Load())
	}
	leadIn = r.leadIn.Load()
	return leadIn, leadIn >= 0
}

// updatePhase starts or ends the measured part if it is time. Threads call it when they wake, and at the
// time that it returns.
func (r *run) updatePhase(now int64) (next int64) {
	if r.end.Load() != 0 {
		return never
	}
	begin := r.begin.Load()
	if begin == 0 {
		if r.queue == nil {
			return never
		}
		at, _, known := r.queue.measuredSpan()
		if !known {
			return never
		}
		if now < at {
			return at
		}
		r.mu.Lock()
		if r.begin.Load() == 0 && !r.ended {
			r.startMeasuring(at)
		}
		begin = r.begin.Load()
		r.mu.Unlock()
		if begin == 0 {
			return never
		}
	}
	if r.leg.Duration == 0 {
		return never
	}
	end := begin + int64(r.leg.Duration)
	if now >= end {
		r.finishMeasuring(end)
		return never
	}
	return end
}

// finishMeasuring ends the measured part at a time in ns; 0 means now. It stores the end first, so that
// nothing later counts as measured.
func (r *run) finishMeasuring(at int64) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	r.ended = true
	if at == 0 {
		at = r.s.nowNS()
	}
	r.end.Store(at)
	if r.begin.Load() != 0 {
		r.callMark(false)
		r.used[1] = r.engine.readUsage()
	}
	r.mu.Unlock()
	r.engine.wake()
}

// measuredSpan returns when the measured part begins and ends. 0 means unknown.
func (r *run) measuredSpan() (begin, end int64) {
	begin, end = r.begin.Load(), r.end.Load()
	if end == 0 && begin != 0 && r.leg.Duration > 0 {
		end = begin + int64(r.leg.Duration)
	}
	return begin, end
}

func (r *run) isOver() bool { return r.end.Load() != 0 }

func (r *run) abort(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.aborted.Store(true)
	r.finishMeasuring(0)
	r.engine.wake()
}

func (r *run) recordFirst(class Class, err error) {
	if r.hasFirst.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" {
		r.first = fmt.Sprintf("%s: %v", class, err)
		r.hasFirst.Store(true)
	}
}

func (r *run) abortError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

var errTimeout = errors.New("no complete answer in time")
