package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// runLeg makes the load generator do one leg. spent is the server's CPU time during the
// measurement, and idle that between the legs before and this one.
//
// Requests that fail are counted, and for the lab to judge. Only a server that answered none at
// all, or has ended, ends the trial.
func (c *conn) runLeg(ctx context.Context, doing string, leg load.Leg) (r *load.Result, spent cpuUse, idle time.Duration, err error) {
	w := c.work
	if err := w.openSession(c.kind); err != nil {
		return nil, cpuUse{}, 0, c.failWith(ctx, doing, "", err)
	}
	pids := w.clock.listPIDs()
	var begin, end reading
	leg.Mark = func(begins bool) {
		if begins {
			begin = w.clock.readBefore(pids)
		} else {
			end = w.clock.readAfter(pids)
		}
	}
	c.addIdle()
	if err := c.resetService(ctx, false); err != nil {
		return nil, cpuUse{}, 0, err
	}
	idle, w.idle = w.idle, 0
	r, err = c.runUntil(ctx, w.limitLeg(leg))
	w.last = w.clock.readAfter(pids)
	if r != nil && r.Threads > 0 {
		c.cores.clients = r.Threads
	}
	switch {
	case err != nil || ctx.Err() != nil:
		if ctx.Err() == nil { // its connections broke a moment before its end is known
			if lost := c.whyEnded(ctx, doing); lost != nil {
				return nil, cpuUse{}, 0, c.failWith(ctx, doing, "", lost)
			}
		}
		return nil, cpuUse{}, 0, c.failWith(ctx, doing, answeredOf(r), trialError(tare.ErrContender, "%s: %s", doing, errorText(err)))
	case r.Requests == 0 && (countFailures(r) > 0 || leg.Duration == 0 || leg.Profile != nil):
		return nil, cpuUse{}, 0, c.failWith(ctx, doing, answeredOf(r), noAnswerError(doing, r))
	case countFailures(r) > 0:
		// Whether the process has ended is known a moment after its
		// connections broke.
		if lost := c.whyEnded(ctx, doing); lost != nil {
			return nil, cpuUse{}, 0, c.failWith(ctx, doing, "", lost)
		}
	}
	return r, end.useSince(begin), idle, nil
}

// runUntil runs leg until it ends, ctx does, or the server's process.
func (c *conn) runUntil(ctx context.Context, leg load.Leg) (*load.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.process != nil {
		over := make(chan struct{})
		defer func() { <-over }()
		defer cancel()
		go func() {
			defer close(over)
			select {
			case <-c.process.Exited():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	c.work.touched = true
	return c.work.session.Run(ctx, leg)
}

// limitLeg converts a leg of operations to one of requests, cut to as many as the service can take.
func (w *work) limitLeg(leg load.Leg) load.Leg {
	const leads = 4 // the part of them that a lead-in may take
	leg.Lead, leg.Ops = leg.Lead*w.per, leg.Ops*w.per
	if w.maxRequests > 0 {
		leg.Lead = min(leg.Lead, w.maxRequests/leads)
		if left := w.maxRequests - leg.Lead; leg.Ops == 0 || leg.Ops > left {
			leg.Ops = left
		}
	}
	return leg
}

// addIdle adds up the server's CPU time since load last ended.
func (c *conn) addIdle() {
	w := c.work
	now := w.clock.readAfter(w.clock.listPIDs())
	w.idle += now.useSince(w.last).cpu
	w.last = now
}

// resetService resets the service to its state after the workload was prepared, if requests change
// it and there were some. The time of the reset is not charged to it. A service that is meant to
// grow is reset only with all others (whole): for cases that are shown, before the first slice; and
// after cases.
func (c *conn) resetService(ctx context.Context, whole bool) error {
	w := c.work
	if !w.changes || !w.touched || w.grows && !w.showed && !whole {
		return nil
	}
	c.addIdle()
	if _, err := c.forward(ctx, wire.Request{Op: wire.OpReset, On: w.in.ID}); err != nil {
		return err
	}
	if w.session != nil {
		w.session.Rewind()
	}
	w.touched, w.showed = false, false
	w.last = w.clock.readAfter(w.clock.listPIDs())
	return nil
}

// noAnswerError returns the error of a leg without an answered request.
func noAnswerError(doing string, r *load.Result) *tare.TrialError {
	class := tare.ErrContender
	switch {
	case r.Errors[load.ErrTimeout] > 0:
		class = tare.ErrDeadline
	case r.Errors[load.ErrFraming] > 0:
		class = tare.ErrProtocol
	}
	if countFailures(r) == 0 {
		return trialError(tare.ErrDeadline, "%s: no answer came", doing)
	}
	return trialError(class, "%s: %s", doing, describeFailures(r))
}

// describeFailures returns the number of failed requests and the first failure.
func describeFailures(r *load.Result) string {
	n := countFailures(r)
	unanswered := n - r.Errors[load.ErrStatus] - r.Errors[load.ErrAnswer]
	return fmt.Sprintf("%d of %d requests failed, the first: %s", n, r.Requests+unanswered, format.Line(r.FirstError, format.LineLimit))
}

// answeredOf returns the number of answered requests of a leg, to follow another sentence.
func answeredOf(r *load.Result) string {
	switch {
	case r == nil:
		return ""
	case countFailures(r) > 0:
		return fmt.Sprintf(": %d requests were answered, and %s", r.Requests, describeFailures(r))
	}
	return fmt.Sprintf(": %d requests were answered", r.Requests)
}

// countFailures returns the number of failed requests of a leg.
func countFailures(r *load.Result) int64 {
	var n int64
	for _, count := range r.Errors {
		n += count
	}
	return n
}

// warmUp runs a closed loop for the requested time.
func (c *conn) warmUp(ctx context.Context, q wire.Request) (wire.Reply, error) {
	least := time.Duration(max(q.MinNS, 1))
	if q.CapNS > 0 {
		least = min(least, time.Duration(q.CapNS))
	}
	// A path with a delay needs some turns until anything comes back.
	least = max(least, turns*c.work.traffic.Delay)
	r, spent, _, err := c.runLeg(ctx, wire.OpWarm, load.Leg{Duration: least})
	if err == nil && r.Requests < c.work.per { // so slow is the server, or so busy the machine
		r, spent, _, err = c.runLeg(ctx, wire.OpWarm, load.Leg{Ops: int64(c.work.traffic.Connections)})
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return c.toReply(r, spent.cpu), nil
}

// runSlice runs one visit: a closed loop of q.Ops operations, or a continuous segment of the
// workload's length.
func (c *conn) runSlice(ctx context.Context, q wire.Request) (wire.Reply, error) {
	t := c.work.traffic
	leg := load.Leg{Lead: q.Lead, Ops: q.Ops}
	if t.Segment > 0 {
		leg.Ops, leg.Duration, leg.Profile = 0, t.Segment, profileOf(t)
	} else if q.Ops < 1 {
		return wire.Reply{}, requestError("slice of %d requests", q.Ops)
	}
	if !c.work.sliced { // what a warm-up has added is gone, even if the service is to grow
		if err := c.resetService(ctx, true); err != nil {
			return wire.Reply{}, err
		}
		c.work.sliced = true
	}
	r, spent, idle, err := c.runLeg(ctx, wire.OpSlice, leg)
	if err != nil {
		return wire.Reply{}, err
	}
	c.work.sum.addLeg(r, spent)
	a := c.toReply(r, spent.cpu)
	a.IdleCPUNS = idle.Nanoseconds()
	return a, nil
}

// profileOf returns the rate of an open loop, or nil if the loop is closed.
func profileOf(t tare.Traffic) load.Profile {
	if t.Rate > 0 {
		return load.Constant{PerSecond: t.Rate}
	}
	return nil
}

// toReply converts the result of a leg to a contender's reply.
func (c *conn) toReply(r *load.Result, spent time.Duration) wire.Reply {
	a := wire.Reply{
		Counts: wire.Counts{Ops: r.Requests / c.work.per, WallNS: max(1, r.Wall.Nanoseconds()), CPUNS: spent.Nanoseconds(),
			Errors: countFailures(r), BytesOut: r.BodyIn},
	}
	if a.Errors > 0 {
		a.Message = describeFailures(r)
	}
	return a
}

// countAllocs sends q.Ops operations between two readings of the program's counters. A third
// reading shows what a reading itself allocates, which is subtracted.
func (c *conn) countAllocs(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	if q.Ops < 1 {
		return wire.Reply{}, requestError("stats of %d requests", q.Ops)
	}
	if c.work.session == nil { // connections are not part of it
		if _, _, _, err := c.runLeg(ctx, wire.OpStats, load.Leg{Ops: int64(c.work.traffic.Connections)}); err != nil {
			return wire.Reply{}, err
		}
	}
	if err := c.resetService(ctx, false); err != nil {
		return wire.Reply{}, err
	}
	earlier, err := c.readCounters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	before, err := c.readCounters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	if before.Unsupported {
		return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	r, _, _, err := c.runLeg(ctx, wire.OpStats, load.Leg{Ops: q.Ops})
	if err != nil {
		return wire.Reply{}, err
	}
	after, err := c.readCounters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	a := c.toReply(r, 0)
	if n := after.Received - before.Received; n > 0 { // those in flight at the end included
		a.Ops = max(1, n/c.work.per)
	}
	a.Bytes = max(0, after.Bytes-before.Bytes-(before.Bytes-earlier.Bytes))
	a.Allocs = max(0, after.Allocs-before.Allocs-(before.Allocs-earlier.Allocs))
	a.GC = after.GC - before.GC
	return a, nil
}

// readCounters returns the program's counters. The cost of reading them is not charged to it as
// work between visits.
func (c *conn) readCounters(ctx context.Context) (wire.Reply, error) {
	a, err := c.forward(ctx, wire.Request{Op: wire.OpStats, On: c.work.in.ID, Ops: 1})
	c.work.last = c.work.clock.readAfter(c.work.clock.listPIDs())
	return a, err
}

// profileProgram makes the program profile itself under load.
func (c *conn) profileProgram(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{}, requestError("profile: only a program of ours can say where its time goes")
	}
	if c.work.maxRequests > 0 {
		return wire.Reply{}, requestError("profile: %s runs out of what it asks for; one that also adds to it does not", c.work.in.Op)
	}
	if err := c.work.openSession(c.kind); err != nil {
		return wire.Reply{}, c.failWith(ctx, wire.OpProfile, "", err)
	}
	if err := c.resetService(ctx, false); err != nil {
		return wire.Reply{}, err
	}
	before, err := c.readCounters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	busy, cancel := context.WithCancel(ctx)
	legs := busy
	_, called := c.work.session.(*ownClient)
	if called { // cutting a call off would end the client, so its last leg ends first
		legs = ctx
	}
	over := make(chan error, 1)
	go func() {
		var err error
		for err == nil && busy.Err() == nil {
			_, err = c.runUntil(legs, load.Leg{Duration: time.Second, Profile: profileOf(c.work.traffic)})
		}
		over <- err
	}()
	a, err := c.forward(ctx, q)
	cancel()
	switch failed := <-over; {
	case !called:
		c.work.closeSession() // its connections were cut off
	case failed != nil && err == nil:
		return wire.Reply{}, c.failWith(ctx, wire.OpProfile, "", clientError(failed))
	}
	var te *tare.TrialError
	if err != nil && (!errors.As(err, &te) || te.Class != tare.ErrContender) {
		return wire.Reply{}, err
	}
	if after, err := c.readCounters(ctx); err == nil {
		a.Ops = after.Received - before.Received
	}
	return a, err
}
