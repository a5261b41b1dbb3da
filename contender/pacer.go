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

// often is how long whoever hands out tickets goes without looking whether the
// run is over.
const often = 20 * time.Millisecond

// hand hands the operations of an open loop to callers that are free, each when
// it is due, until there are no more or measuring has ended. What is then due and
// was not handed out is counted. times are the intended ones, from when the run
// starts.
func (c *crew) hand(times func() time.Duration) {
	defer close(c.tickets)
	clock := nap.New()
	defer clock.Close()
	patience := time.NewTimer(time.Hour)
	defer patience.Stop()
	next := func() time.Time { return c.start.Add(min(times(), math.MaxInt64/2)) }
	for c.plan.exact == 0 || c.begun < c.plan.lead+c.plan.exact {
		t := ticket{n: c.begun, due: next()}
		if !c.await(clock, &t) || !c.pass(patience, &t) {
			c.miss(t, next)
			return
		}
		c.begun++
	}
}

// await waits until t is due. It is false when measuring has ended before.
func (c *crew) await(clock *nap.Timer, t *ticket) bool {
	for {
		now := time.Now()
		if c.over(now, t) {
			return false
		}
		wait := t.due.Sub(now)
		if wait <= 0 {
			return true
		}
		clock.Sleep(min(wait, c.left(now)))
	}
}

// pass gives t to a caller as soon as one is free. It is false when measuring has
// ended before.
func (c *crew) pass(patience *time.Timer, t *ticket) bool {
	select {
	case c.tickets <- *t:
		return true
	default:
	}
	for {
		now := time.Now()
		if c.over(now, t) {
			return false
		}
		patience.Reset(c.left(now))
		select {
		case c.tickets <- *t:
			return true
		case <-patience.C:
		}
	}
}

// over looks how far the run is now that t is the next operation, and reports
// whether nothing more is to be begun. Measuring begins when the first operation
// behind the lead-in is due, or the time for that is up.
func (c *crew) over(now time.Time, t *ticket) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage == leading {
		switch late := c.plan.limit > 0 && now.Sub(c.start) >= c.plan.limit; {
		case late:
			c.plan.lead = min(c.plan.lead, t.n) // whatever was handed out was all of it
			c.begin()
		case t.n >= c.plan.lead && !t.due.After(now):
			c.begin()
			c.from.at = t.due
		}
	}
	if c.stage == measuring && c.plan.enough != nil && c.plan.enough(c.tally.ops, now.Sub(c.from.at)) {
		c.finish()
	}
	t.measured = t.n >= c.plan.lead
	return c.stage == finished
}

// left is how long nothing will change but by an operation, at most.
func (c *crew) left(now time.Time) time.Duration {
	from := c.start
	if !c.from.at.IsZero() {
		from = c.from.at
	}
	if left := from.Add(c.plan.limit).Sub(now); c.plan.limit > 0 && left > 0 {
		return min(left, often)
	}
	return often
}

// mostCounted is how many operations that nobody began are counted one by one,
// for some hundredths of a second.
const mostCounted = 1 << 21

// miss counts t and what follows it, as far as it was due while measuring.
func (c *crew) miss(t ticket, next func() time.Time) {
	end := c.to.at
	if last := c.from.at.Add(c.plan.limit); c.plan.limit > 0 && last.Before(end) {
		end = last
	}
	if !t.measured {
		return
	}
	for due := t.due; due.Before(end); due = next() {
		if c.unsent++; c.unsent == mostCounted { // the others are as close to each other as these
			c.unsent = int64(float64(c.unsent) * float64(end.Sub(t.due)) / max(1, float64(due.Sub(t.due))))
			return
		}
	}
}

// serve does the operations that it is handed.
func (c *crew) serve(do func(int) (int, error)) {
	for t := range c.tickets {
		o := outcome{n: t.n, body: c.body(t.n), start: time.Now()}
		o.size, o.err = do(o.body)
		o.end = time.Now()
		c.take(&o, t)
	}
}

// take takes down an operation of an open loop. All that were measured are waited
// for: what came late must not be left out.
func (c *crew) take(o *outcome, t ticket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cover(o)
	if !t.measured {
		return
	}
	c.latency.Record(int64(o.end.Sub(t.due)))
	c.service.Record(int64(o.end.Sub(o.start)))
	c.lag.Record(int64(o.start.Sub(t.due)))
	c.count(o)
}
