package load

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// run is one leg under way, as all that send for it see it. Its times are ns
// since the session's base; 0 means not yet.
//
// In a closed loop a request is measured if its outcome falls between the
// outcome that completes the lead-in and the last one: connections are as busy
// at either end as between, so that nothing of filling or draining them is in
// the figures. A request that is under way at the end is measured only if it
// fails later: else a server that stops answering would look faultless. In an
// open loop a request is measured if its intended time lies in the measured
// part.
type run struct {
	s      *settings
	engine engine
	leg    Leg
	opened int64  // when connections began to be opened
	queue  *queue // of an open loop; nil: closed loop

	mu       sync.Mutex
	unready  int          // parties whose connections have not all been made
	ended    bool         // nothing more is measured
	started  atomic.Int64 // when requests began to be sent
	conns    atomic.Int64 // open connections
	lastConn atomic.Int64 // when there was one

	admitted atomic.Int64 // requests of a leg with Ops that were to be sent, and refusals after them
	done     atomic.Int64 // outcomes, lead-in included
	leadIn   atomic.Int64 // outcomes before measuring began; negative: it has not
	begin    atomic.Int64
	end      atomic.Int64
	aborted  atomic.Bool // whatever is under way is given up

	err        error // why it was given up
	complained atomic.Bool
	first      string   // what went wrong first
	used       [2]usage // of the engine's threads, when measuring began and ended
	collector  *collector
}

// usage is processor time, and time spent waiting for a processor: negative
// where that is not known.
type usage struct{ cpu, wait time.Duration }

func newRun(s *settings, e engine, leg Leg) *run {
	r := &run{s: s, engine: e, leg: leg, unready: e.parties(), opened: s.now()}
	if leg.Profile != nil {
		r.queue = newQueue(leg)
	}
	r.leadIn.Store(-1)
	r.lastConn.Store(r.opened)
	r.collector = newCollector(r, e.recorders())
	return r
}

// dialed is said by each party once: each of its connections was made. When
// all have said so, requests begin to be sent.
func (r *run) dialed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unready--; r.unready <= 0 {
		r.start()
	}
}

// connected counts a connection that was opened, disconnected one that was
// lost.
func (r *run) connected() { r.conns.Add(1) }

func (r *run) disconnected(now int64) {
	r.lastConn.Store(now)
	r.conns.Add(-1)
}

// patience is asked for while connections are missing: after the timeout, the
// leg starts with those there are.
func (r *run) patience(now int64) {
	if now-r.opened >= int64(r.s.Timeout) && r.started.Load() == 0 && r.conns.Load() > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.start()
	}
}

// refused is said when a connection could not be made. Where there has been
// none for as long as the timeout, the leg is given up.
func (r *run) refused(now int64) {
	if r.conns.Load() > 0 || now-r.lastConn.Load() < int64(r.s.Timeout) {
		return
	}
	r.mu.Lock()
	why := r.first
	r.mu.Unlock()
	r.abort(fmt.Errorf("no connection to %s for %v: %s", r.s.Target.Addr, r.s.Timeout, why))
}

// start sets time zero, unless that was done. The caller holds the lock.
func (r *run) start() {
	if r.started.Load() != 0 || r.ended {
		return
	}
	if r.queue == nil && r.leg.Lead == 0 && r.leg.LeadTime == 0 {
		r.leadIn.Store(0)
		r.measure(0)
	}
	start := r.s.now()
	if r.queue != nil {
		if !r.leg.At.IsZero() {
			start = max(1, int64(r.leg.At.Sub(r.s.base)))
		}
		r.queue.open(start)
	}
	r.started.Store(start)
	r.engine.wake()
}

// measure begins the measured part: at a time, or now where that is 0.
func (r *run) measure(at int64) {
	r.used[0] = r.engine.used()
	r.mark(true)
	if at == 0 {
		at = r.s.now()
	}
	r.begin.Store(at)
}

func (r *run) mark(begin bool) {
	if r.leg.Mark != nil {
		r.leg.Mark(begin)
	}
}

// admit reports whether one more request of a closed loop is to be sent: no more
// than Leg.Ops are, apart from those of the lead-in. What is admitted must be sent,
// since the leg ends when so many outcomes are known.
func (r *run) admit() bool {
	if r.leg.Ops == 0 {
		return true
	}
	n, before := r.admitted.Add(1), r.leadIn.Load()
	return before < 0 || n <= before+r.leg.Ops
}

// outcome counts what came of a request of a closed loop and reports whether
// it is measured.
func (r *run) outcome(now int64, failed bool) bool {
	k := r.done.Add(1)
	before := r.leadIn.Load()
	if before < 0 {
		if k < r.leg.Lead || now-r.started.Load() < int64(r.leg.LeadTime) {
			return false
		}
		var begun bool
		if before, begun = r.leadOver(); !begun || k <= before {
			return false
		}
	}
	if r.aborted.Load() {
		return false
	}
	if d := int64(r.leg.Duration); d > 0 {
		if end := r.begin.Load() + d; now >= end {
			r.finish(end)
			return failed
		}
	}
	if ops := r.leg.Ops; ops > 0 && k-before >= ops {
		r.finish(0) // not at now: another thread may have counted a later outcome before this one
		return failed || k-before == ops
	}
	return true
}

// leadOver begins measuring unless another thread has, and returns the number
// of outcomes before; false: the leg was given up before.
func (r *run) leadOver() (before int64, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leadIn.Load() < 0 && !r.ended {
		r.measure(0)
		r.leadIn.Store(r.done.Load())
	}
	return r.leadIn.Load(), r.leadIn.Load() >= 0
}

// look begins and ends the measured part when its time has come. Threads call
// it whenever they wake, and wake for the time it returns at the latest.
func (r *run) look(now int64) (next int64) {
	if r.end.Load() != 0 {
		return never
	}
	begin := r.begin.Load()
	if begin == 0 {
		if r.queue == nil {
			return never
		}
		at, _, known := r.queue.measures()
		if !known {
			return never
		}
		if now < at {
			return at
		}
		r.mu.Lock()
		if r.begin.Load() == 0 && !r.ended {
			r.measure(at)
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
		r.finish(end)
		return never
	}
	return end
}

// finish ends the measured part: at a time, or now where that is 0. The end is
// known before anything that takes time is done, so that nothing after it is
// taken for measured.
func (r *run) finish(at int64) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	r.ended = true
	if at == 0 {
		at = r.s.now()
	}
	r.end.Store(at)
	if r.begin.Load() != 0 {
		r.mark(false)
		r.used[1] = r.engine.used()
	}
	r.mu.Unlock()
	r.engine.wake()
}

// measures returns when the measured part begins and ends, as far as that is
// known; 0: it is not.
func (r *run) measures() (begin, end int64) {
	begin, end = r.begin.Load(), r.end.Load()
	if end == 0 && begin != 0 && r.leg.Duration > 0 {
		end = begin + int64(r.leg.Duration)
	}
	return begin, end
}

// over reports whether no more requests are to be sent.
func (r *run) over() bool { return r.end.Load() != 0 }

// abort gives up what is under way.
func (r *run) abort(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.aborted.Store(true)
	r.finish(0)
	r.engine.wake()
}

// complain keeps the first thing that went wrong, in words.
func (r *run) complain(class Class, err error) {
	if r.complained.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" {
		r.first = fmt.Sprintf("%s: %v", class, err)
		r.complained.Store(true)
	}
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// What FirstError says of a request that took too long.
var errTimeout = errors.New("no whole answer in time")
