package contender

import (
	"math"
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
// long. The goroutines are there as long as the workload is, so that starting
// them is in no measurement.
type crew struct {
	s    *session
	w    *work
	hist hist.Hist // ns, of the measured operations

	wake chan struct{}  // one for each caller: go to work
	home sync.WaitGroup // callers at work

	mu    sync.Mutex
	plan  plan
	runs  uint64
	begun int64 // operations handed out
	ended int64 // and ended
	tally tally // of those measured
	stage stage
	from  mark // when measuring began
	to    mark // and ended
	due   func() time.Duration
	start time.Time // zero of due, and of the lead-in's cap
	seen  time.Time // when the collector was last looked at
	panic string
}

// plan is what a crew is to do.
type plan struct {
	lead  int64         // operations before anything is measured
	limit time.Duration // that the lead-in may take; zero: any
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
	c.hist.Reset()
	c.plan, c.begun, c.ended, c.tally, c.stage = p, 0, 0, tally{}, leading
	c.from, c.to, c.due, c.panic = mark{}, mark{}, nil, ""
	c.runs++
	if c.w.Times != nil && !p.closed {
		c.due = c.w.Times(c.runs)
	}
	c.s.phase = phase{} // of the collector nothing is known afterwards
	c.start = time.Now()
	c.seen = c.start
	if p.lead == 0 {
		c.begin()
	}
	c.home.Add(c.w.Callers)
	for range c.w.Callers {
		c.wake <- struct{}{}
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
	o := outcome{n: -1}
	for c.next(&o) {
		if c.due == nil {
			o.start = time.Now()
		} else if !c.await(&o) {
			return
		}
		o.size, o.err = do(o.body)
		o.end = time.Now()
	}
}

// outcome is an operation: where it stands, and what came of it.
type outcome struct {
	n          int64 // in the run, from zero
	body       int
	opens      bool      // the lead-in of an open loop ends with it
	start, end time.Time // start: when it was to begin, in an open loop
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
	o.n = c.begun
	o.body = int((int64(c.w.next) + o.n) % int64(c.w.bodies))
	c.begun++
	if c.due != nil {
		o.start = c.start.Add(min(c.due(), math.MaxInt64/2))
		o.opens = c.stage == leading && o.n >= c.plan.lead
	}
	return true
}

// note takes down an operation that has ended.
func (c *crew) note(o *outcome) {
	c.ended++
	if c.stage == leading {
		late := c.plan.limit > 0 && o.end.Sub(c.start) >= c.plan.limit
		if late && c.due != nil {
			c.plan.lead = c.begun // whatever was handed out was all of it
		}
		if late || c.due == nil && c.ended >= c.plan.lead {
			c.begin()
		}
		return
	}
	if c.plan.exact > 0 && o.n < c.plan.lead || c.plan.exact == 0 && c.stage == finished {
		return
	}
	c.hist.Record(int64(o.end.Sub(o.start)))
	c.tally.ops++
	c.tally.bytes += int64(o.size)
	if o.err != nil {
		c.tally.errors++
		if c.tally.first == nil {
			c.tally.first = o.err
		}
	}
	if c.stage == measuring && c.plan.enough != nil && c.plan.enough(c.tally.ops, o.end.Sub(c.from.at)) {
		c.stage = finished
		if c.plan.exact == 0 {
			c.to = c.now()
		}
	}
}

// await waits until an operation of an open loop is due. Measuring begins with
// the first one behind the lead-in. It is false when the run has ended before.
func (c *crew) await(o *outcome) bool {
	const nap = 100 * time.Millisecond
	for {
		wait := time.Until(o.start)
		if wait <= 0 && !o.opens {
			return true
		}
		time.Sleep(min(wait, nap))
		c.mu.Lock()
		if c.stage == measuring && wait > nap && c.plan.enough != nil && c.plan.enough(c.tally.ops, time.Since(c.from.at)) {
			c.stage = finished
		}
		over := c.stage == finished
		if over {
			c.begun--
		} else if wait <= nap && o.opens && c.stage == leading {
			c.begin()
		}
		c.mu.Unlock()
		if over || wait <= nap {
			return !over
		}
	}
}

func (c *crew) begin() {
	c.stage = measuring
	c.from.cpu, c.from.cycles = cpuNS(), c.s.meter.cycles()
	c.from.at = time.Now()
}

// now ends measuring.
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
		Ops: c.tally.ops, WallNS: max(1, int64(c.to.at.Sub(c.from.at))), CPUNS: c.to.cpu - c.from.cpu, GC: c.to.cycles - c.from.cycles,
		Errors: c.tally.errors, BytesOut: c.tally.bytes, Begun: c.begun, Latency: []byte(c.hist.Encode()),
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
	reply.WallNS, reply.CPUNS, reply.GC, reply.Begun, reply.Latency = 0, 0, 0, 0, nil
	return reply, err
}
