package contender

import (
	"math"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// This file runs operations in an open loop: each starts at a fixed time, even if earlier ones have not ended.
// For example, at 100 operations a second one starts every 10 ms. The first operations of a run, its lead-in,
// are not measured.

// ticket is an operation of an open loop. A free caller, one of the workload's goroutines, receives and runs it.
type ticket struct {
	n        int64     // number in the run, from zero
	due      time.Time // intended start
	measured bool      // false in the lead-in
}

const checkInterval = 20 * time.Millisecond

// sendTickets sends each operation to a free caller when it is due. At the end it counts those that were due
// and have not started. times returns starts, as time since the start of the run.
func (c *workerPool) sendTickets(times func() time.Duration) {
	defer close(c.tickets)
	clock := nap.New()
	defer clock.Close()
	timer := time.NewTimer(time.Hour) // sendTicket resets it
	defer timer.Stop()
	nextDue := func() time.Time { return c.start.Add(min(times(), math.MaxInt64/2)) } // half, so that nothing overflows
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

// waitDue waits until t is due. It returns false if measuring ends first.
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

// sendTicket sends t to a caller as soon as one is free. It returns false if measuring ends first.
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

// updateStage updates the run's stage before t. Measuring begins after the lead-in or its time limit. It
// reports whether no more operations may start.
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

// maxCounted limits the operations that countMissed counts one by one. Counting them takes hundredths of a
// second.
const maxCounted = 1 << 21

// countMissed counts t and later operations that were due while measuring and have not started.
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

func (c *workerPool) runTickets(do func(int) (int, error)) {
	for t := range c.tickets {
		o := outcome{n: t.n, body: c.bodyOf(t.n), start: time.Now()}
		o.size, o.err = do(o.body)
		o.end = time.Now()
		c.recordOpen(&o, t)
	}
}

// recordOpen records an operation of an open loop, also a late one.
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
