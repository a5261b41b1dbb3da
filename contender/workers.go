package contender

import (
	"runtime"
	"sync"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load/hist"
)

// workerPool is the timed loop of concurrent callers. In a closed loop each caller takes an operation, runs
// and records it, and takes another. In an open loop it receives each when due.
//
// The callers share a lock, for tens of ns; an operation takes a thousand times as long. Goroutines live as
// long as the workload, so that their start is not measured.
type workerPool struct {
	s *session
	w *work

	latency hist.Hist // times of measured operations in ns, from start or intended start to end
	service hist.Hist // open loop: ns from start to end
	lag     hist.Hist // open loop: ns from intended start to start

	wakeups chan struct{} // one value starts one caller
	active  sync.WaitGroup
	tickets chan ticket // operations of an open loop; nil for a closed one

	mu       sync.Mutex
	plan     plan
	runs     uint64 // runs so far; seed of an open loop
	started  int64  // operations started in this run
	finished int64  // closed loop: operations ended in this run
	tally    tally
	area     time.Duration // operations in flight, integrated over the measured time
	unsent   int64         // open loop: operations that were due and have not started
	stage    stage
	from     snapshot // start of measuring
	to       snapshot // end of measuring
	start    time.Time
	lastRead time.Time
	panic    string // panic of the contender's code; "" without one
}

type plan struct {
	lead int64 // unmeasured operations
	// limit is the time limit of the lead-in; 0 means none. An open loop also checks enough after this time.
	limit time.Duration
	// exact is the number of measured operations, all awaited. 0 means that callers continue until enough.
	// Then as many are in flight at the end as at the start.
	exact int64
	// enough is called after each measured operation, with the number and time. It may be nil if exact is set.
	enough func(ops int64, wall time.Duration) bool
	closed bool // run a closed loop, even if the workload has an open one
}

type stage int

const (
	leading stage = iota // unmeasured operations run
	measuring
	finished // no more operations may start
)

type snapshot struct {
	at     time.Time
	cpu    int64 // in ns
	cycles int64
}

func newWorkerPool(s *session, w *work) *workerPool {
	c := &workerPool{s: s, w: w, wakeups: make(chan struct{})}
	for range w.Callers {
		go func() {
			for range c.wakeups {
				c.callAll()
				c.active.Done()
			}
		}()
	}
	return c
}

func (c *workerPool) stopWorkers() { close(c.wakeups) }

// runPlan runs a lead-in and the measured part. The error is a panic.
func (c *workerPool) runPlan(p plan) *wire.Error {
	c.latency.Reset()
	c.service.Reset()
	c.lag.Reset()
	c.plan, c.started, c.finished, c.tally, c.area, c.unsent, c.stage = p, 0, 0, tally{}, 0, 0, leading
	c.from, c.to, c.tickets, c.panic = snapshot{}, snapshot{}, nil, ""
	c.runs++
	open := c.w.Times != nil && !p.closed
	if open {
		c.tickets = make(chan ticket)
	}
	c.s.phase = phase{} // unknown afterwards
	c.start = time.Now()
	c.lastRead = c.start
	if p.lead == 0 {
		c.startMeasuring()
		if open {
			c.from.at = c.start
		}
	}
	c.active.Add(c.w.Callers)
	for range c.w.Callers {
		c.wakeups <- struct{}{}
	}
	if open {
		c.sendTickets(c.w.Times(c.runs))
	}
	c.active.Wait()
	if c.to.at.IsZero() {
		c.to = c.takeSnapshot()
	}
	if c.from.at.IsZero() { // the run ended within the lead-in
		c.from = c.to
	}
	c.w.next = int((int64(c.w.next) + c.started) % int64(c.w.bodies))
	c.s.lastCPU = cpuNS()
	if c.panic != "" {
		return &wire.Error{Class: classInternal, Message: c.panic}
	}
	return nil
}

func (c *workerPool) callAll() {
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
		c.runTickets(do)
		return
	}
	o := outcome{n: -1}
	for c.advance(&o) {
		o.start = time.Now()
		o.size, o.err = do(o.body)
		o.end = time.Now()
	}
}

type outcome struct {
	n          int64 // counts from zero in the run; -1 before the first
	body       int
	start, end time.Time
	size       int
	err        error
}

// advance records the finished operation in o, unless o is new (o.n < 0). It returns false if there is no next
// one.
func (c *workerPool) advance(o *outcome) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.n >= 0 {
		c.recordClosed(o)
	}
	isComplete := c.plan.exact > 0 && c.started == c.plan.lead+c.plan.exact
	if c.stage == finished || isComplete {
		return false
	}
	o.n, o.body = c.started, c.bodyOf(c.started)
	c.started++
	return true
}

func (c *workerPool) bodyOf(n int64) int { return int((int64(c.w.next) + n) % int64(c.w.bodies)) }

// recordClosed records a finished operation of a closed loop. It ignores operations in flight at the end, except
// errors: otherwise a call that breaks its server would seem correct.
func (c *workerPool) recordClosed(o *outcome) {
	c.finished++
	c.addArea(o)
	switch {
	case c.stage == leading:
		exceedsLimit := c.plan.limit > 0 && o.end.Sub(c.start) >= c.plan.limit
		if c.finished >= c.plan.lead || exceedsLimit {
			c.startMeasuring()
		}
		return
	case c.stage == finished:
		c.tally.addError(o.err)
		return
	}
	c.latency.Record(int64(o.end.Sub(o.start)))
	c.countMeasured(o)
	if c.plan.enough != nil && c.plan.enough(c.tally.ops, o.end.Sub(c.from.at)) {
		c.stopMeasuring()
	}
}

func (c *workerPool) countMeasured(o *outcome) {
	c.tally.ops++
	c.tally.bytes += int64(o.size)
	c.tally.addError(o.err)
}

func (c *workerPool) addArea(o *outcome) {
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

func (c *workerPool) startMeasuring() {
	c.stage = measuring
	c.from.cpu, c.from.cycles = cpuNS(), c.s.meter.cycles()
	c.from.at = time.Now()
}

func (c *workerPool) stopMeasuring() {
	c.stage = finished
	c.to = c.takeSnapshot()
}

func (c *workerPool) takeSnapshot() snapshot {
	return snapshot{at: time.Now(), cpu: cpuNS(), cycles: c.s.meter.cycles()}
}

// countCycles returns the collection cycles since measuring began, or 0 if it has read the number recently.
func (c *workerPool) countCycles() int64 {
	now := time.Now()
	if now.Sub(c.lastRead) < c.s.meter.interval {
		return 0
	}
	c.lastRead = now
	return c.s.meter.cycles() - c.from.cycles
}

func (c *workerPool) buildReply() wire.Reply {
	reply := wire.Reply{
		Counts: wire.Counts{Ops: c.tally.ops, WallNS: max(1, int64(c.to.at.Sub(c.from.at))), CPUNS: c.to.cpu - c.from.cpu, GC: c.to.cycles - c.from.cycles,
			Errors: c.tally.errors, BytesOut: c.tally.bytes},
		Calling: wire.Calling{Begun: c.started, UnderWayNS: int64(c.area), Latency: []byte(c.latency.Encode())},
	}
	if c.tickets != nil {
		reply.Service, reply.Lag, reply.Unsent = []byte(c.service.Encode()), []byte(c.lag.Encode()), c.unsent
	}
	if c.tally.first != nil {
		reply.Message = errorText(c.tally.first)
	}
	return reply
}

func (c *workerPool) warmUp(q wire.Request) (wire.Reply, *wire.Error) {
	err := c.runPlan(plan{enough: func(ops int64, wall time.Duration) bool {
		var cycles int64
		if q.MinGC > 0 {
			cycles = c.countCycles()
		}
		hasWarmedUp := isWarm(q, cycles, wall) && ops >= minWarmOps
		return hasWarmedUp || isCapped(q, ops, wall)
	}})
	return c.buildReply(), err
}

func (c *workerPool) runProfile(q wire.Request) (wire.Reply, *wire.Error) {
	err := c.runPlan(plan{closed: true, enough: func(_ int64, wall time.Duration) bool { return wall >= time.Duration(q.MinNS) }})
	return c.buildReply(), err
}

// runSlice is [session.runSlice] for concurrent callers. It always ends after a number of operations.
func (c *workerPool) runSlice(q wire.Request) (wire.Reply, *wire.Error) {
	p := plan{lead: q.Lead, limit: time.Duration(q.CapNS), enough: func(ops int64, wall time.Duration) bool {
		return ops >= q.Ops || isCapped(q, ops, wall)
	}}
	if c.w.Times != nil {
		p.exact = q.Ops // wait for late operations, which have the longest latencies
	}
	err := c.runPlan(p)
	return c.buildReply(), err
}

func (c *workerPool) countAllocs(q wire.Request) (wire.Reply, *wire.Error) {
	s := c.s
	c.w.next = 0
	runtime.ReadMemStats(&s.before)
	err := c.runPlan(plan{exact: q.Ops, closed: true})
	runtime.ReadMemStats(&s.after)
	s.lastCPU = cpuNS()
	reply := c.buildReply()
	reply.Bytes, reply.Allocs = int64(s.after.TotalAlloc-s.before.TotalAlloc), int64(s.after.Mallocs-s.before.Mallocs)
	reply.WallNS, reply.CPUNS, reply.GC, reply.Begun, reply.UnderWayNS, reply.Latency = 0, 0, 0, 0, 0, nil
	return reply, err
}
