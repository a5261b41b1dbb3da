package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// This file sends load to a server, phase by phase, and measures its CPU time. For example, a
// warm-up is one phase and a slice, a timed part of a round, another.

// legOutcome is the outcome of one phase of load, a load.Leg.
type legOutcome struct {
	*load.Result
	spent cpuUse        // use during the measured part
	idle  time.Duration // CPU time since the previous phase
}

// runLeg runs one phase of load. doing names the operation, for errors. The lab judges requests
// that fail. The trial ends if no request at all was answered, or if the server has ended.
func (c *conn) runLeg(ctx context.Context, doing string, leg load.Leg) (o legOutcome, err error) {
	w := c.work
	if err := w.openSession(c.kind); err != nil {
		return o, c.failWith(ctx, doing, "", err)
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
		return o, err
	}
	idle := w.idle
	w.idle = 0
	r, err := c.runUntil(ctx, w.limitLeg(leg))
	w.last = w.clock.readAfter(pids)
	if r != nil && r.Threads > 0 {
		c.cores.clients = r.Threads
	}
	hasFailures := r != nil && countFailures(r) > 0
	mayBeEmpty := !hasFailures && leg.Duration != 0 && leg.Profile == nil // a warm-up may end before the first response
	switch {
	case err != nil || ctx.Err() != nil:
		if ctx.Err() == nil { // connections break before the end of the process is noticed
			if lost := c.whyEnded(ctx, doing); lost != nil {
				return o, c.failWith(ctx, doing, "", lost)
			}
		}
		return o, c.failWith(ctx, doing, answeredOf(r), trialError(tare.ErrContender, "%s: %s", doing, errorText(err)))
	case r.Requests == 0 && !mayBeEmpty:
		return o, c.failWith(ctx, doing, answeredOf(r), noAnswerError(doing, r))
	case hasFailures:
		if lost := c.whyEnded(ctx, doing); lost != nil {
			return o, c.failWith(ctx, doing, "", lost)
		}
	}
	return legOutcome{Result: r, spent: end.useSince(begin), idle: idle}, nil
}

// runUntil runs a phase of load until its end, or until ctx or the server's process ends.
func (c *conn) runUntil(ctx context.Context, leg load.Leg) (*load.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.process != nil {
		watched := make(chan struct{})
		defer func() { <-watched }()
		defer cancel()
		go func() {
			defer close(watched)
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

// limitLeg converts a phase of operations to a phase of requests, and limits it to w.maxRequests.
func (w *work) limitLeg(leg load.Leg) load.Leg {
	const leadShare = 4 // a lead-in has at most a quarter of maxRequests
	leg.Lead, leg.Ops = leg.Lead*w.perOp, leg.Ops*w.perOp
	if w.maxRequests > 0 {
		leg.Lead = min(leg.Lead, w.maxRequests/leadShare)
		if left := w.maxRequests - leg.Lead; leg.Ops == 0 || leg.Ops > left {
			leg.Ops = left
		}
	}
	return leg
}

// addIdle adds the server's CPU time since the last reading to w.idle.
func (c *conn) addIdle() {
	w := c.work
	now := w.clock.readAfter(w.clock.listPIDs())
	w.idle += now.useSince(w.last).cpu
	w.last = now
}

// resetService restores the service's state after prepare, if requests have changed it. The CPU time
// of the reset does not count as idle time. A service that is meant to grow (w.grows) is reset only
// if evenGrowing is set, or after cases.
func (c *conn) resetService(ctx context.Context, evenGrowing bool) error {
	w := c.work
	hasChanged := w.changes && w.touched
	mayReset := !w.grows || w.showed || evenGrowing
	if !hasChanged || !mayReset {
		return nil
	}
	c.addIdle()
	if _, err := c.forward(ctx, wire.Request{Op: wire.OpReset, On: w.workload.ID}); err != nil {
		return err
	}
	if w.session != nil {
		w.session.Rewind()
	}
	w.touched, w.showed = false, false
	w.last = w.clock.readAfter(w.clock.listPIDs())
	return nil
}

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

func describeFailures(r *load.Result) string {
	n := countFailures(r)
	unanswered := n - r.Errors[load.ErrStatus] - r.Errors[load.ErrAnswer]
	return fmt.Sprintf("%d of %d requests failed, the first: %s", n, r.Requests+unanswered, format.Line(r.FirstError, format.LineLimit))
}

// answeredOf returns a clause with the number of answered requests of a phase, or "" if r is nil.
func answeredOf(r *load.Result) string {
	switch {
	case r == nil:
		return ""
	case countFailures(r) > 0:
		return fmt.Sprintf(": %d requests were answered, and %s", r.Requests, describeFailures(r))
	}
	return fmt.Sprintf(": %d requests were answered", r.Requests)
}

func countFailures(r *load.Result) int64 {
	var n int64
	for _, count := range r.Errors {
		n += count
	}
	return n
}

func (c *conn) warmUp(ctx context.Context, q wire.Request) (wire.Reply, error) {
	duration := time.Duration(max(q.MinNS, 1))
	if q.CapNS > 0 {
		duration = min(duration, time.Duration(q.CapNS))
	}
	// Over a path with a delay, the first response needs some round trips.
	duration = max(duration, turns*c.work.traffic.Delay)
	o, err := c.runLeg(ctx, wire.OpWarm, load.Leg{Duration: duration})
	if err == nil && o.Requests < c.work.perOp { // wait for complete operations
		o, err = c.runLeg(ctx, wire.OpWarm, load.Leg{Ops: int64(c.work.traffic.Connections)})
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return c.toReply(o.Result, o.spent.cpu), nil
}

// runSlice runs one slice, a timed part of a round: a closed loop of q.Ops operations, or load for
// a segment.
func (c *conn) runSlice(ctx context.Context, q wire.Request) (wire.Reply, error) {
	t := c.work.traffic
	leg := load.Leg{Lead: q.Lead, Ops: q.Ops}
	if t.Segment > 0 {
		leg.Ops, leg.Duration, leg.Profile = 0, t.Segment, profileOf(t)
	} else if q.Ops < 1 {
		return wire.Reply{}, requestError("slice of %d requests", q.Ops)
	}
	if !c.work.sliced { // even if the service is meant to grow
		if err := c.resetService(ctx, true); err != nil {
			return wire.Reply{}, err
		}
		c.work.sliced = true
	}
	o, err := c.runLeg(ctx, wire.OpSlice, leg)
	if err != nil {
		return wire.Reply{}, err
	}
	c.work.sum.addLeg(o.Result, o.spent)
	a := c.toReply(o.Result, o.spent.cpu)
	a.IdleCPUNS = o.idle.Nanoseconds()
	return a, nil
}

// profileOf returns the rate of an open loop, or nil if the loop is closed.
func profileOf(t tare.Traffic) load.Profile {
	if t.Rate > 0 {
		return load.Constant{PerSecond: t.Rate}
	}
	return nil
}

func (c *conn) toReply(r *load.Result, spent time.Duration) wire.Reply {
	a := wire.Reply{
		Counts: wire.Counts{Ops: r.Requests / c.work.perOp, WallNS: max(1, r.Wall.Nanoseconds()), CPUNS: spent.Nanoseconds(),
			Errors: countFailures(r), BytesOut: r.BodyIn},
	}
	if a.Errors > 0 {
		a.Message = describeFailures(r)
	}
	return a
}

// countAllocs sends q.Ops operations between two readings of the program's counters. A third
// reading shows what a reading itself allocates.
func (c *conn) countAllocs(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
	}
	if q.Ops < 1 {
		return wire.Reply{}, requestError("stats of %d requests", q.Ops)
	}
	if c.work.session == nil { // so that opening connections does not count
		if _, err := c.runLeg(ctx, wire.OpStats, load.Leg{Ops: int64(c.work.traffic.Connections)}); err != nil {
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
	o, err := c.runLeg(ctx, wire.OpStats, load.Leg{Ops: q.Ops})
	if err != nil {
		return wire.Reply{}, err
	}
	after, err := c.readCounters(ctx)
	if err != nil {
		return wire.Reply{}, err
	}
	a := c.toReply(o.Result, 0)
	if n := after.Received - before.Received; n > 0 { // including requests in flight at the end
		a.Ops = max(1, n/c.work.perOp)
	}
	a.Bytes = max(0, after.Bytes-before.Bytes-(before.Bytes-earlier.Bytes))
	a.Allocs = max(0, after.Allocs-before.Allocs-(before.Allocs-earlier.Allocs))
	a.GC = after.GC - before.GC
	return a, nil
}

// readCounters returns the program's counters. The CPU time to read them does not count as idle
// time.
func (c *conn) readCounters(ctx context.Context) (wire.Reply, error) {
	a, err := c.forward(ctx, wire.Request{Op: wire.OpStats, On: c.work.workload.ID, Ops: 1})
	c.work.last = c.work.clock.readAfter(c.work.clock.listPIDs())
	return a, err
}

func (c *conn) profileProgram(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if c.program == nil {
		return wire.Reply{}, requestError("profile: only a program that speaks the contender protocol can profile itself")
	}
	if c.work.maxRequests > 0 {
		return wire.Reply{}, requestError("profile: the service can answer only a limited number of requests of %s; choose an op that also adds what it removes", c.work.workload.Op)
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
	// Phases are short, because the server might not count a request of a cancelled one.
	const phase = 250 * time.Millisecond
	var isProfiled atomic.Bool
	loadEnd := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !isProfiled.Load() {
			_, err = c.runUntil(ctx, load.Leg{Duration: phase, Profile: profileOf(c.work.traffic)})
		}
		loadEnd <- err
	}()
	a, err := c.forward(ctx, q)
	isProfiled.Store(true)
	if loadErr := <-loadEnd; loadErr != nil {
		if _, isOwnClient := c.work.session.(*ownClient); isOwnClient && err == nil {
			return wire.Reply{}, c.failWith(ctx, wire.OpProfile, "", clientError(loadErr))
		}
		c.work.closeSession() // requests were in flight on its connections
	}
	if err != nil && !isReplyError(err) {
		return wire.Reply{}, err
	}
	if after, err := c.readCounters(ctx); err == nil {
		a.Ops = after.Received - before.Received
	}
	return a, err
}
