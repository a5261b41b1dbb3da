package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

// drive has the load generator do one leg. The server's CPU time while it
// measured is in spent, and in idle that between the legs before and this one.
//
// Requests that fail are counted, and for the lab to judge. Only a server that
// answered none at all, or has ended, ends the trial.
func (c *conn) drive(ctx context.Context, doing string, leg load.Leg) (r *load.Result, spent used, idle time.Duration, err error) {
	w := c.work
	if err := w.open(c.kind, c.cores); err != nil {
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
	idle = w.clock.after(pids).since(w.last).cpu
	r, err = c.run(ctx, leg)
	w.last = w.clock.after(pids)
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
	return c.work.session.Run(ctx, leg)
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
	return fmt.Sprintf("%d of %d requests failed, the first: %s", n, r.Requests+unanswered, oneLine(r.FirstError))
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
	if err == nil && r.Requests == 0 { // so slow is the server, or so busy the machine
		r, spent, _, err = c.drive(ctx, wire.OpWarm, load.Leg{Ops: int64(c.work.traffic.Connections)})
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return reply(r, spent.cpu), nil
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
	r, spent, idle, err := c.drive(ctx, wire.OpSlice, leg)
	if err != nil {
		return wire.Reply{}, err
	}
	c.work.sum.slice(r, spent)
	a := reply(r, spent.cpu)
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
func reply(r *load.Result, spent time.Duration) wire.Reply {
	a := wire.Reply{
		Ops: r.Requests, WallNS: max(1, r.Wall.Nanoseconds()), CPUNS: spent.Nanoseconds(),
		Errors: failures(r), BytesOut: r.BodyIn,
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
		return wire.Reply{Ops: q.Ops, Unsupported: true}, nil
	}
	if q.Ops < 1 {
		return wire.Reply{}, refuse("stats of %d requests", q.Ops)
	}
	if c.work.session == nil { // connections are not part of it
		if _, _, _, err := c.drive(ctx, wire.OpStats, load.Leg{Ops: int64(c.work.traffic.Connections)}); err != nil {
			return wire.Reply{}, err
		}
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
		return wire.Reply{Ops: q.Ops, Unsupported: true}, nil
	}
	r, _, _, err := c.drive(ctx, wire.OpStats, load.Leg{Ops: q.Ops})
	if err != nil {
		return wire.Reply{}, err
	}
	after, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	a := reply(r, 0)
	if n := after.Received - before.Received; n > 0 { // those under way at the end included
		a.Ops = n
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
	if err := c.work.open(c.kind, c.cores); err != nil {
		return wire.Reply{}, c.fail(ctx, wire.OpProfile, "", err)
	}
	before, err := c.counters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	busy, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for busy.Err() == nil {
			leg := load.Leg{Duration: time.Second, Profile: profileOf(c.work.traffic)}
			if _, err := c.run(busy, leg); err != nil {
				return
			}
		}
	}()
	a, err := c.pass(ctx, q)
	cancel()
	<-over
	c.work.again()
	var te *tare.TrialError
	if err != nil && (!errors.As(err, &te) || te.Class != tare.ErrContender) {
		return wire.Reply{}, err
	}
	if after, err := c.counters(ctx); err == nil {
		a.Ops = after.Received - before.Received
	}
	return a, err
}
