package contender

import (
	"runtime"
	"sync"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/hist"
)

// crew is the timed loop of a workload with several callers at once. Each takes
// the next operation, does it, says how it ended and takes another, all of that
// by way of one lock, which is held for some ten nanoseconds: an operation that
// several do at once is a call to somebody else and takes a thousand times as
// long. In an open loop operations are handed to them, each at its time. The
// goroutines are there as long as the workload is, so that starting them is in
// no measurement.
type crew struct {
	s *session
	w *work

	latency hist.Hist // ns, of the measured operations
	service hist.Hist // of an open loop: from when they began
	lag     hist.Hist // of an open loop: until they did

	wake    chan struct{}  // one for each caller: go to work
	home    sync.WaitGroup // callers at work
	tickets chan ticket    // of an open loop under way; nil: the loop is closed

	mu     sync.Mutex
	plan   plan
	runs   uint64
	begun  int64         // operations handed out
	ended  int64         // and ended
	tally  tally         // of those measured
	area   time.Duration // operations under way × time, while measuring
	unsent int64         // of an open loop: due while measuring, and not handed out
	stage  stage
	from   mark      // when measuring began
	to     mark      // and ended
	start  time.Time // zero of an open loop, and of the lead-in's limit
	seen   time.Time // when the collector was last looked at
	panic  string
}

// plan is what a crew is to do.
type plan struct {
	lead  int64         // operations before anything is measured
	limit time.Duration // that the lead-in may take, and from which enough has to be asked what follows it; zero: any
	// exact has so many measured operations handed out and waited for. Else they
	// are counted as they end, and callers go on until there are enough: then as
	// much is under way when measuring ends as when it began.
	exact int64
	// enough is asked after each measured operation; nil: exact says it all.
	enough func(ops int64, wall time.Duration) bool
	closed bool // whatever the workload's loop is
}

type stage int

const (
	leading stage = iota
	measuring
	finished
)

// mark is how far the process was at one moment.
type mark struct {
	at     time.Time
	cpu    int64
	cycles int64
}

func newCrew(s *session, w *work) *crew {
	c := &crew{s: s, w: w, wake: make(chan struct{})}
	for range w.Callers {
		go func() {
			for range c.wake {
				c.call()
				c.home.Done()
			}
		}()
	}
	return c
}

// dismiss ends the callers.
func (c *crew) dismiss() { close(c.wake) }

// run carries out a plan. What came of it is read afterwards.
func (c *crew) run(p plan) *wire.Error {
	c.latency.Reset()
	c.service.Reset()
	c.lag.Reset()
	c.plan, c.begun, c.ended, c.tally, c.area, c.unsent, c.stage = p, 0, 0, tally{}, 0, 0, leading
	c.from, c.to, c.tickets, c.panic = mark{}, mark{}, nil, ""
	c.runs++
	open := c.w.Times != nil && !p.closed
	if open {
		c.tickets = make(chan ticket)
	}
	c.s.phase = phase{} // of the collector nothing is known afterwards
	c.start = time.Now()
	c.seen = c.start
	if p.lead == 0 {
		c.begin()
		if open {
			c.from.at = c.start
		}
	}
	c.home.Add(c.w.Callers)
	for range c.w.Callers {
		c.wake <- struct{}{}
	}
	if open {
		c.hand(c.w.Times(c.runs))
	}
	c.home.Wait()
	if c.to.at.IsZero() {
		c.to = c.now()
	}
	if c.from.at.IsZero() { // the lead-in was all there was time for
		c.from = c.to
	}
	c.w.next = int((int64(c.w.next) + c.begun) % int64(c.w.bodies))
	c.s.mark = cpuNS()
	if c.panic != "" {
		return &wire.Error{Class: classInternal, Message: c.panic}
	}
	return nil
}

// call does operations until there are no more.
func (c *crew) call() {
	defer func() {
		if v := recover(); v != nil {
			text := panicText(v)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.stage, c.panic = finished, text
		}
	}()
	do := c.w.Do
	if c.tickets != nil {
		c.serve(do)
		return
	}
	o := outcome{n: -1}
	for c.next(&o) {
		o.start = time.Now()
		o.size, o.err = do(o.body)
		o.end = time.Now()
	}
}

// outcome is an operation: where it stands, and what came of it.
type outcome struct {
	n          int64 // in the run, from zero
	body       int
	start, end time.Time
	size       int
	err        error
}

// next takes down what came of an operation, if there was one, and makes it the
// next. It is false when there is none.
func (c *crew) next(o *outcome) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.n >= 0 {
		c.note(o)
	}
	if c.stage == finished || c.plan.exact > 0 && c.begun == c.plan.lead+c.plan.exact {
		return false
	}
	o.n, o.body = c.begun, c.body(c.begun)
	c.begun++
	return true
}

// body is the one whose turn it is with operation n of the run.
func (c *crew) body(n int64) int { return int((int64(c.w.next) + n) % int64(c.w.bodies)) }

// note takes down an operation of a closed loop that has ended. One that was
// under way when measuring ended is counted only if it failed: else a call that
// breaks what it calls would look faultless.
func (c *crew) note(o *outcome) {
	c.ended++
	c.cover(o)
	switch {
	case c.stage == leading:
		if c.ended >= c.plan.lead || c.plan.limit > 0 && o.end.Sub(c.start) >= c.plan.limit {
			c.begin()
		}
		return
	case c.stage == finished:
		c.tally.failed(o.err)
		return
	}
	c.latency.Record(int64(o.end.Sub(o.start)))
	c.count(o)
	if c.plan.enough != nil && c.plan.enough(c.tally.ops, o.end.Sub(c.from.at)) {
		c.finish()
	}
}

// count adds a measured operation.
func (c *crew) count(o *outcome) {
	c.tally.ops++
	c.tally.bytes += int64(o.size)
	c.tally.failed(o.err)
}

// cover adds the time that an operation was under way while measuring.
func (c *crew) cover(o *outcome) {
	if c.stage == leading {
		return
	}
	from, to := o.start, o.end
	if from.Before(c.from.at) {
		from = c.from.at
	}
	if !c.to.at.IsZero() && to.After(c.to.at) {
		to = c.to.at
	}
	c.area += max(0, to.Sub(from))
}

func (c *crew) begin() {
	c.stage = measuring
	c.from.cpu, c.from.cycles = cpuNS(), c.s.meter.cycles()
	c.from.at = time.Now()
}

// finish ends measuring.
func (c *crew) finish() {
	c.stage = finished
	c.to = c.now()
}

func (c *crew) now() mark { return mark{time.Now(), cpuNS(), c.s.meter.cycles()} }

// collected is how many collection cycles have completed since measuring began.
// It looks as seldom as the loop of one caller does.
func (c *crew) collected() int64 {
	now := time.Now()
	if now.Sub(c.seen) < c.s.meter.every {
		return 0
	}
	c.seen = now
	return c.s.meter.cycles() - c.from.cycles
}

// reply is what was measured.
func (c *crew) reply() wire.Reply {
	reply := wire.Reply{
		Counts: wire.Counts{Ops: c.tally.ops, WallNS: max(1, int64(c.to.at.Sub(c.from.at))), CPUNS: c.to.cpu - c.from.cpu, GC: c.to.cycles - c.from.cycles,
			Errors: c.tally.errors, BytesOut: c.tally.bytes},
		Calling: wire.Calling{Begun: c.begun, UnderWayNS: int64(c.area), Latency: []byte(c.latency.Encode())},
	}
	if c.tickets != nil {
		reply.Service, reply.Lag, reply.Unsent = []byte(c.service.Encode()), []byte(c.lag.Encode()), c.unsent
	}
	if c.tally.first != nil {
		reply.Message = errorText(c.tally.first)
	}
	return reply
}

// warm is [session.warm].
func (c *crew) warm(q wire.Request) (wire.Reply, *wire.Error) {
	err := c.run(plan{enough: func(ops int64, wall time.Duration) bool {
		enough := q.MinGC > 0 && c.collected() >= q.MinGC || wall >= time.Duration(q.MinNS) && (q.MinNS > 0 || q.MinGC == 0)
		return capped(q, ops, wall) || enough && ops >= fewOps
	}})
	return c.reply(), err
}

// profile is the part of [session.profile] that works.
func (c *crew) profile(q wire.Request) (wire.Reply, *wire.Error) {
	err := c.run(plan{closed: true, enough: func(_ int64, wall time.Duration) bool { return wall >= time.Duration(q.MinNS) }})
	return c.reply(), err
}

// slice is [session.slice], until a number of operations.
func (c *crew) slice(q wire.Request) (wire.Reply, *wire.Error) {
	p := plan{lead: q.Lead, limit: time.Duration(q.CapNS), enough: func(ops int64, wall time.Duration) bool {
		return ops >= q.Ops || capped(q, ops, wall)
	}}
	if c.w.Times != nil {
		p.exact = q.Ops // what came late must not be left out
	}
	err := c.run(p)
	return c.reply(), err
}

// stats is [session.stats].
func (c *crew) stats(q wire.Request) (wire.Reply, *wire.Error) {
	s := c.s
	c.w.next = 0
	runtime.ReadMemStats(&s.before)
	err := c.run(plan{exact: q.Ops, closed: true})
	runtime.ReadMemStats(&s.after)
	s.mark = cpuNS()
	reply := c.reply()
	reply.Bytes, reply.Allocs = int64(s.after.TotalAlloc-s.before.TotalAlloc), int64(s.after.Mallocs-s.before.Mallocs)
	reply.WallNS, reply.CPUNS, reply.GC, reply.Begun, reply.UnderWayNS, reply.Latency = 0, 0, 0, 0, 0, nil
	return reply, err
}
