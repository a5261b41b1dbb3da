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

// drive has the load generator do one leg. The server's CPU time while it
// measured is in spent, and in idle that between the legs before and this one.
//
// Requests that fail are counted, and for the lab to judge. Only a server that
// answered none at all, or has ended, ends the trial.
func (c *conn) drive(ctx context.Context, doing string, leg load.Leg) (r *load.Result, spent used, idle time.Duration, err error) {
	w := c.work
	if err := w.open(c.kind); err != nil {
		return nil, used{}, 0, c.fail(ctx, doing, "", err)
	}
	pids := w.clock.processes()
	var begin, end reading
	leg.Mark = func(begins bool) {
		if begins {
			begin = w.clock.before(pids)
		} else {
			end = w.clock.after(pids)
		}
	}
	c.idles()
	if err := c.renew(ctx, false); err != nil {
		return nil, used{}, 0, err
	}
	idle, w.idle = w.idle, 0
	r, err = c.run(ctx, w.within(leg))
	w.last = w.clock.after(pids)
	if r != nil && r.Threads > 0 {
		c.cores.clients = r.Threads
	}
	switch {
	case err != nil || ctx.Err() != nil:
		if ctx.Err() == nil { // its connections broke a moment before its end is known
			if lost := c.lost(ctx, doing); lost != nil {
				return nil, used{}, 0, c.fail(ctx, doing, "", lost)
			}
		}
		return nil, used{}, 0, c.fail(ctx, doing, answeredOf(r), trialError(tare.ErrContender, "%s: %s", doing, reason(err)))
	case r.Requests == 0 && (failures(r) > 0 || leg.Duration == 0 || leg.Profile != nil):
		return nil, used{}, 0, c.fail(ctx, doing, answeredOf(r), nothing(doing, r))
	case failures(r) > 0:
		// Whether the process has ended is known a moment after its
		// connections broke.
		if lost := c.lost(ctx, doing); lost != nil {
			return nil, used{}, 0, c.fail(ctx, doing, "", lost)
		}
	}
	return r, end.since(begin), idle, nil
}

// run runs leg until it ends, ctx does, or the server's process.
func (c *conn) run(ctx context.Context, leg load.Leg) (*load.Result, error) {
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

// within is a leg of operations as one of requests, cut to as many as the
// service can take.
func (w *work) within(leg load.Leg) load.Leg {
	const leads = 4 // the part of them that a lead-in may take
	leg.Lead, leg.Ops = leg.Lead*w.per, leg.Ops*w.per
	if w.most > 0 {
		leg.Lead = min(leg.Lead, w.most/leads)
		if left := w.most - leg.Lead; leg.Ops == 0 || leg.Ops > left {
			leg.Ops = left
		}
	}
	return leg
}

// idles adds up what the server has used since load last ended.
func (c *conn) idles() {
	w := c.work
	now := w.clock.after(w.clock.processes())
	w.idle += now.since(w.last).cpu
	w.last = now
}

// renew sets the service back to how it was when the workload was prepared,
// where what is asked changes it and something was asked; what that takes it is
// not charged to it. A service that is meant to grow is set back only where all
// are (whole): for cases that are shown, before the first slice; and after cases.
func (c *conn) renew(ctx context.Context, whole bool) error {
	w := c.work
	if !w.changes || !w.touched || w.grows && !w.showed && !whole {
		return nil
	}
	c.idles()
	if _, err := c.pass(ctx, wire.Request{Op: wire.OpReset, On: w.in.ID}); err != nil {
		return err
	}
	if w.session != nil {
		w.session.Rewind()
	}
	w.touched, w.showed = false, false
	w.last = w.clock.after(w.clock.processes())
	return nil
}

// nothing says that no request of a leg was answered.
func nothing(doing string, r *load.Result) *tare.TrialError {
	class := tare.ErrContender
	switch {
	case r.Errors[load.ErrTimeout] > 0:
		class = tare.ErrDeadline
	case r.Errors[load.ErrFraming] > 0:
		class = tare.ErrProtocol
	}
	if failures(r) == 0 {
		return trialError(tare.ErrDeadline, "%s: no answer came", doing)
	}
	return trialError(class, "%s: %s", doing, failed(r))
}

// failed says how many requests failed and how the first one did.
func failed(r *load.Result) string {
	n := failures(r)
	unanswered := n - r.Errors[load.ErrStatus] - r.Errors[load.ErrAnswer]
	return fmt.Sprintf("%d of %d requests failed, the first: %s", n, r.Requests+unanswered, format.Line(r.FirstError, format.LineLimit))
}

// answeredOf says how far a leg came, to follow another sentence.
func answeredOf(r *load.Result) string {
	switch {
	case r == nil:
		return ""
	case failures(r) > 0:
		return fmt.Sprintf(": %d requests were answered, and %s", r.Requests, failed(r))
	}
	return fmt.Sprintf(": %d requests were answered", r.Requests)
}

// failures is how many requests of a leg failed in any way.
func failures(r *load.Result) int64 {
	var n int64
	for _, count := range r.Errors {
		n += count
	}
	return n
}

// warm runs a closed loop for the time asked for.
func (c *conn) warm(ctx context.Context, q wire.Request) (wire.Reply, error) {
	least := time.Duration(max(q.MinNS, 1))
	if q.CapNS > 0 {
		least = min(least, time.Duration(q.CapNS))
	}
	// A path with a delay needs some turns until anything comes back.
	least = max(least, turns*c.work.traffic.Delay)
	r, spent, _, err := c.drive(ctx, wire.OpWarm, load.Leg{Duration: least})
	if err == nil && r.Requests < c.work.per { // so slow is the server, or so busy the machine
		r, spent, _, err = c.drive(ctx, wire.OpWarm, load.Leg{Ops: int64(c.work.traffic.Connections)})
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return c.reply(r, spent.cpu), nil
}

// slice is one visit: a closed loop of so many requests, or a continuous
// segment of the workload's length.
func (c *conn) slice(ctx context.Context, q wire.Request) (wire.Reply, error) {
	t := c.work.traffic
	leg := load.Leg{Lead: q.Lead, Ops: q.Ops}
	if t.Segment > 0 {
		leg.Ops, leg.Duration, leg.Profile = 0, t.Segment, profileOf(t)
	} else if q.Ops < 1 {
		return wire.Reply{}, refuse("slice of %d requests", q.Ops)
	}
	if !c.work.sliced { // what a warm-up has added is gone, even if the service is to grow
		if err := c.renew(ctx, true); err != nil {
			return wire.Reply{}, err
		}
		c.work.sliced = true
	}
	r, spent, idle, err := c.drive(ctx, wire.OpSlice, leg)
	if err != nil {
		return wire.Reply{}, err
	}
	c.work.sum.slice(r, spent)
	a := c.reply(r, spent.cpu)
	a.IdleCPUNS = idle.Nanoseconds()
	return a, nil
}

// profileOf is the rate of an open loop; nil: the loop is closed.
func profileOf(t tare.Traffic) load.Profile {
	if t.Rate > 0 {
		return load.Constant{PerSecond: t.Rate}
	}
	return nil
}

// reply is what a leg came to, as a contender would say it.
func (c *conn) reply(r *load.Result, spent time.Duration) wire.Reply {
	a := wire.Reply{
		Counts: wire.Counts{Ops: r.Requests / c.work.per, WallNS: max(1, r.Wall.Nanoseconds()), CPUNS: spent.Nanoseconds(),
			Errors: failures(r), BytesOut: r.BodyIn},
	}
	if a.Errors > 0 {
		a.Message = failed(r)
	}
	return a
}

// stats has so many requests sent between two readings of the program's
// counters. What a reading itself allocates is seen in a third one, and taken
// off.
func (c *conn) stats(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	if q.Ops < 1 {
		return wire.Reply{}, refuse("stats of %d requests", q.Ops)
	}
	if c.work.session == nil { // connections are not part of it
		if _, _, _, err := c.drive(ctx, wire.OpStats, load.Leg{Ops: int64(c.work.traffic.Connections)}); err != nil {
			return wire.Reply{}, err
		}
	}
	if err := c.renew(ctx, false); err != nil {
		return wire.Reply{}, err
	}
	earlier, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	before, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	if before.Unsupported {
		return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	r, _, _, err := c.drive(ctx, wire.OpStats, load.Leg{Ops: q.Ops})
	if err != nil {
		return wire.Reply{}, err
	}
	after, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	a := c.reply(r, 0)
	if n := after.Received - before.Received; n > 0 { // those under way at the end included
		a.Ops = max(1, n/c.work.per)
	}
	a.Bytes = max(0, after.Bytes-before.Bytes-(before.Bytes-earlier.Bytes))
	a.Allocs = max(0, after.Allocs-before.Allocs-(before.Allocs-earlier.Allocs))
	a.GC = after.GC - before.GC
	return a, nil
}

// counters are the program's own. What reading them costs it is not charged to
// it as work between visits.
func (c *conn) counters(ctx context.Context) (wire.Reply, error) {
	a, err := c.pass(ctx, wire.Request{Op: wire.OpStats, On: c.work.in.ID, Ops: 1})
	c.work.last = c.work.clock.after(c.work.clock.processes())
	return a, err
}

// profile has the program look at itself while it is kept busy.
func (c *conn) profile(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{}, refuse("profile: only a program of ours can say where its time goes")
	}
	if c.work.most > 0 {
		return wire.Reply{}, refuse("profile: %s runs out of what it asks for; one that also adds to it does not", c.work.in.Op)
	}
	if err := c.work.open(c.kind); err != nil {
		return wire.Reply{}, c.fail(ctx, wire.OpProfile, "", err)
	}
	if err := c.renew(ctx, false); err != nil {
		return wire.Reply{}, err
	}
	before, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	busy, cancel := context.WithCancel(ctx)
	legs := busy
	_, called := c.work.session.(*client)
	if called { // cutting a call off would end the client: its last leg is waited for
		legs = ctx
	}
	over := make(chan error, 1)
	go func() {
		var err error
		for err == nil && busy.Err() == nil {
			_, err = c.run(legs, load.Leg{Duration: time.Second, Profile: profileOf(c.work.traffic)})
		}
		over <- err
	}()
	a, err := c.pass(ctx, q)
	cancel()
	switch failed := <-over; {
	case !called:
		c.work.again() // its connections were cut off
	case failed != nil && err == nil:
		return wire.Reply{}, c.fail(ctx, wire.OpProfile, "", ofClient(failed))
	}
	var te *tare.TrialError
	if err != nil && (!errors.As(err, &te) || te.Class != tare.ErrContender) {
		return wire.Reply{}, err
	}
	if after, err := c.counters(ctx); err == nil {
		a.Ops = after.Received - before.Received
	}
	return a, err
}
