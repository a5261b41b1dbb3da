package contender

import (
	"math"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// ticket is an operation of an open loop.
type ticket struct {
	n        int64 // in the run, from zero
	due      time.Time
	measured bool
}

// checkInterval is the time between checks whether the run is over while tickets are sent.
const checkInterval = 20 * time.Millisecond

// sendTickets passes the operations of an open loop to free callers, each when it is due, until there are no
// more or measuring has ended. It counts those that were due by then and not started. times yields the
// intended times, from the start of the run.
func (c *workerPool) sendTickets(times func() time.Duration) {
	defer close(c.tickets)
	clock := nap.New()
	defer clock.Close()
	patience := time.NewTimer(time.Hour)
	defer patience.Stop()
	next := func() time.Time { return c.start.Add(min(times(), math.MaxInt64/2)) }
	for c.plan.exact == 0 || c.started < c.plan.lead+c.plan.exact {
		t := ticket{n: c.started, due: next()}
		if !c.waitDue(clock, &t) || !c.sendTicket(patience, &t) {
			c.countMissed(t, next)
			return
		}
		c.started++
	}
}

// waitDue waits until t is due. It returns false if measuring has ended before.
func (c *workerPool) waitDue(clock *nap.Timer, t *ticket) bool {
	for {
		now := time.Now()
		if c.updateStage(now, t) {
			return false
		}
		wait := t.due.Sub(now)
		if wait <= 0 {
			return true
		}
		clock.Sleep(min(wait, c.timeLeft(now)))
	}
}

// sendTicket passes t to a caller as soon as one is free. It returns false if measuring has ended before.
func (c *workerPool) sendTicket(patience *time.Timer, t *ticket) bool {
	select {
	case c.tickets <- *t:
		return true
	default:
	}
	for {
		now := time.Now()
		if c.updateStage(now, t) {
			return false
		}
		patience.Reset(c.timeLeft(now))
		select {
		case c.tickets <- *t:
			return true
		case <-patience.C:
		}
	}
}

// updateStage updates the stage with t as the next operation, and reports whether no more may start. Measuring
// begins when the first operation after the lead-in is due, or the lead-in exceeds its limit.
func (c *workerPool) updateStage(now time.Time, t *ticket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage == leading {
		switch late := c.plan.limit > 0 && now.Sub(c.start) >= c.plan.limit; {
		case late:
			c.plan.lead = min(c.plan.lead, t.n) // the started operations were all of it
			c.startMeasuring()
		case t.n >= c.plan.lead && !t.due.After(now):
			c.startMeasuring()
			c.from.at = t.due
		}
	}
	if c.stage == measuring && c.plan.enough != nil && c.plan.enough(c.tally.ops, now.Sub(c.from.at)) {
		c.stopMeasuring()
	}
	t.measured = t.n >= c.plan.lead
	return c.stage == finished
}

// timeLeft returns the time, at most checkInterval, until the stage can change without an operation.
func (c *workerPool) timeLeft(now time.Time) time.Duration {
	from := c.start
	if !c.from.at.IsZero() {
		from = c.from.at
	}
	if left := from.Add(c.plan.limit).Sub(now); c.plan.limit > 0 && left > 0 {
		return min(left, checkInterval)
	}
	return checkInterval
}

// maxCounted is the number of missed operations that are counted one by one, in some hundredths of a second.
const maxCounted = 1 << 21

// countMissed counts t and the operations after it that were due while measuring.
func (c *workerPool) countMissed(t ticket, next func() time.Time) {
	end := c.to.at
	if last := c.from.at.Add(c.plan.limit); c.plan.limit > 0 && last.Before(end) {
		end = last
	}
	if !t.measured {
		return
	}
	for due := t.due; due.Before(end); due = next() {
		if c.unsent++; c.unsent == maxCounted { // extrapolate from their rate
			c.unsent = int64(float64(c.unsent) * float64(end.Sub(t.due)) / max(1, float64(due.Sub(t.due))))
			return
		}
	}
}

// runTickets runs the operations that it receives.
func (c *workerPool) runTickets(do func(int) (int, error)) {
	for t := range c.tickets {
		o := outcome{n: t.n, body: c.bodyOf(t.n), start: time.Now()}
		o.size, o.err = do(o.body)
		o.end = time.Now()
		c.recordOpen(&o, t)
	}
}

// recordOpen records an operation of an open loop. All measured ones are waited for, so that late ones are not
// omitted.
func (c *workerPool) recordOpen(o *outcome, t ticket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addArea(o)
	if !t.measured {
		return
	}
	c.latency.Record(int64(o.end.Sub(t.due)))
	c.service.Record(int64(o.end.Sub(o.start)))
	c.lag.Record(int64(o.start.Sub(t.due)))
	c.countMeasured(o)
}
