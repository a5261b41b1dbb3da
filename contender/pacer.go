package contender

import (
	"math"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// This file runs operations in an open loop: each starts at a time that was fixed before, even if earlier ones
// have not ended. (In a closed loop, a caller starts an operation when its previous one has ended.) A run
// consists of a lead-in, whose operations are not measured, and a measured part; see the stages of workerPool.

// ticket is an operation of an open loop. The goroutine of the run creates tickets, waits until each is
// due, and sends it to a free caller.
type ticket struct {
	n        int64     // number of the operation in the run, from zero
	due      time.Time // intended start
	measured bool      // the operation is not a part of the lead-in
}

// checkInterval is the longest time between two checks of whether measuring has ended.
const checkInterval = 20 * time.Millisecond

// sendTickets sends the operations of an open loop to free callers, each when it is due, until the plan is
// complete or measuring has ended. Then it counts the operations that were due and have not started. times
// returns the intended start of one operation after another, as the time since the start of the run.
func (c *workerPool) sendTickets(times func() time.Duration) {
	defer close(c.tickets)
	clock := nap.New()
	defer clock.Close()
	timer := time.NewTimer(time.Hour) // sendTicket resets it
	defer timer.Stop()
	nextDue := func() time.Time { return c.start.Add(min(times(), math.MaxInt64/2)) } // at most half, so that nothing overflows
	for c.plan.exact == 0 || c.started < c.plan.lead+c.plan.exact {
		t := ticket{n: c.started, due: nextDue()}
		isSent := c.waitDue(clock, &t) && c.sendTicket(timer, &t)
		if !isSent {
			c.countMissed(t, nextDue)
			return
		}
		c.started++
	}
}

// waitDue waits until t is due. It returns false if measuring ends before that.
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

// sendTicket sends t to a caller as soon as one is free. It returns false if measuring ends before that.
func (c *workerPool) sendTicket(timer *time.Timer, t *ticket) bool {
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
		timer.Reset(c.timeLeft(now))
		select {
		case c.tickets <- *t:
			return true
		case <-timer.C:
			// Check again whether measuring has ended.
		}
	}
}

// updateStage updates the stage of the run and t.measured, and reports whether no more operations may
// start. t is the operation to start next. Measuring begins when the first operation after the lead-in is
// due, or when the lead-in exceeds its time limit.
func (c *workerPool) updateStage(now time.Time, t *ticket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage == leading {
		switch exceedsLimit := c.plan.limit > 0 && now.Sub(c.start) >= c.plan.limit; {
		case exceedsLimit:
			c.plan.lead = min(c.plan.lead, t.n) // the lead-in ends with the operations that have started
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

// timeLeft returns the time until the stage must be checked again: until the time limit of the plan, but at
// most checkInterval.
func (c *workerPool) timeLeft(now time.Time) time.Duration {
	stageStart := c.start
	if !c.from.at.IsZero() {
		stageStart = c.from.at
	}
	if left := stageStart.Add(c.plan.limit).Sub(now); c.plan.limit > 0 && left > 0 {
		return min(left, checkInterval)
	}
	return checkInterval
}

// maxCounted limits the missed operations that are counted one by one, which takes some hundredths of a second.
const maxCounted = 1 << 21

// countMissed counts the operations that were due while measuring and have not started: t and later ones.
func (c *workerPool) countMissed(t ticket, nextDue func() time.Time) {
	end := c.to.at
	if limit := c.from.at.Add(c.plan.limit); c.plan.limit > 0 && limit.Before(end) {
		end = limit
	}
	if !t.measured {
		return
	}
	for due := t.due; due.Before(end); due = nextDue() {
		if c.unsent++; c.unsent == maxCounted { // extrapolate from the rate so far
			counted, total := float64(due.Sub(t.due)), float64(end.Sub(t.due)) // times in ns
			c.unsent = int64(float64(c.unsent) * total / max(1, counted))
			return
		}
	}
}

// runTickets runs the operations that a caller receives, until there are no more.
func (c *workerPool) runTickets(do func(int) (int, error)) {
	for t := range c.tickets {
		o := outcome{n: t.n, body: c.bodyOf(t.n), start: time.Now()}
		o.size, o.err = do(o.body)
		o.end = time.Now()
		c.recordOpen(&o, t)
	}
}

// recordOpen records an operation of an open loop. The run waits for all measured operations, so it records
// late ones, too.
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
