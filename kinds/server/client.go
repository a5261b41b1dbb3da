package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

// Keys of a client's set in addition to those of its dialect.
const (
	setAddr    = "addr"    // host:port of the server
	setCallers = "callers" // that call at once
	setRate    = "rate"    // calls a second, of an open loop
	setPolicy  = "policy"  // of connections
	policyOne  = "one"     // for all callers
)

// prepareClient prepares the contender's own client for w: a second process of its program, on the
// processors of the load generator.
func (c *conn) prepareClient(ctx context.Context, w *work) (wire.Reply, error) {
	if c.caller == nil {
		spec := c.spec
		spec.Name, spec.CPUs, spec.Terminal = spec.Name+", its client", c.cores.client, false
		started, err := trial.Start(ctx, spec)
		if err != nil {
			return wire.Reply{}, c.failWith(ctx, wire.OpPrepare, "", err)
		}
		c.caller = started
		if _, err := started.Do(ctx, c.greeting); err != nil {
			return wire.Reply{}, c.failWith(ctx, wire.OpHello, "", clientError(err))
		}
	}
	c.kind.mu.Lock()
	in, ok := c.kind.lines[w.in.Input]
	c.kind.mu.Unlock()
	if !ok {
		return wire.Reply{}, requestError("workload %q: there is nothing for a client to read", w.in.ID)
	}
	in.ID, in.Fixture, in.N, in.Op, in.Set = w.in.ID, w.in.Fixture, w.in.N, w.in.Op, maps.Clone(w.dialect.Client)
	in.Set[setAddr], in.Set[setCallers] = w.target.Addr, strconv.Itoa(w.traffic.Connections)
	if w.traffic.Rate > 0 {
		in.Set[setRate] = strconv.FormatFloat(w.traffic.Rate, 'g', -1, 64)
	}
	reply, err := c.caller.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &in})
	if err != nil {
		return reply, clientError(err)
	}
	w.session = &ownClient{process: c.caller, on: in.ID, callers: w.traffic.Connections, cores: c.kind.cores().clients, rate: w.traffic.Rate, sharesConn: in.Set[setPolicy] == policyOne}
	return reply, nil
}

// clientError adds to an error that it is the client's.
func clientError(err error) error {
	var te *tare.TrialError
	if errors.As(err, &te) {
		return trialError(te.Class, "its client: %s", te.Message)
	}
	return trialError(tare.ErrContender, "its client: %v", err)
}

// ownClient is the contender's own client, as a sender.
type ownClient struct {
	process    *trial.Process
	on         string
	callers    int
	cores      int     // it may use
	rate       float64 // of an open loop; zero means a closed one
	sharesConn bool    // connection is for all callers
	metered    bool    // it has reported bytes on the wire
	totals     load.Totals
	failure    error // failure of a function that returns no error
}

var _ sender = (*ownClient)(nil)

// Run makes the client do the calls of a leg. Its lead-in is a separate slice, so that the server's
// clock is read around the measured part, except for one call by each caller, after which all
// callers have one in flight.
func (l *ownClient) Run(ctx context.Context, leg load.Leg) (*load.Result, error) {
	if err := l.failure; err != nil {
		l.failure = nil
		return nil, err
	}
	var joins int64
	if leg.Profile == nil {
		joins = min(leg.Lead, int64(l.callers))
	}
	if apart := leg.Lead - joins; apart > 0 {
		if _, err := l.runSlice(ctx, 0, apart, 0); err != nil {
			return nil, err
		}
	}
	mark := leg.Mark
	if mark == nil {
		mark = func(bool) {}
	}
	own := &clock{l.process}
	pids := own.listPIDs()
	before := own.readBefore(pids)
	mark(true)
	a, err := l.runSlice(ctx, joins, leg.Ops, leg.Duration)
	mark(false)
	if err != nil {
		return nil, err
	}
	r, err := l.toResult(a)
	if after := own.readAfter(pids); err == nil && len(before.waited) > 0 && len(after.waited) > 0 {
		r.Wait = after.useSince(before).waited
	}
	return r, err
}

// runSlice does ops calls after a lead-in, or as many as fit into d: whichever ends first.
func (l *ownClient) runSlice(ctx context.Context, lead, ops int64, d time.Duration) (wire.Reply, error) {
	q := wire.Request{Op: wire.OpSlice, On: l.on, Until: string(tare.UntilOps), Lead: lead, Ops: ops}
	if d > 0 {
		q.CapNS, q.CapOps = d.Nanoseconds(), 1
		if ops == 0 {
			q.Ops = math.MaxInt32
		}
	}
	a, err := l.process.Do(ctx, q)
	l.count(a, max(a.Begun, a.Ops))
	return a, err
}

// count adds the counts of a reply about calls calls.
func (l *ownClient) count(a wire.Reply, calls int64) {
	l.totals.Sent += calls
	l.totals.Opened += a.Opened
	l.metered = l.metered || a.WireOut > 0
}

// toResult converts the client's reply to a result of the load generator.
//
// The server's clock is read around all calls that the client began, and so are connections and
// bytes counted: the few calls before it measures, and those in flight at the end, were answered
// like the others, and cost as much. So all of them are requests here. Durations were measured
// while every caller had a call in flight, and are stretched to as many calls.
func (l *ownClient) toResult(a wire.Reply) (*load.Result, error) {
	began := max(a.Begun, a.Ops)
	stretched := func(ns int64) time.Duration {
		return time.Duration(float64(ns) * float64(began) / float64(max(1, a.Ops)))
	}
	r := &load.Result{
		Engine: "client", Connections: l.callers, Threads: l.cores, Wall: stretched(a.WallNS), Sent: began, Requests: began,
		BodyIn: a.BytesOut, CPU: stretched(a.CPUNS), Wait: -1, Asked: l.rate, Late: a.Unsent, FirstError: a.Message,
		Opened: a.Opened, BytesIn: a.WireIn, BytesOut: a.WireOut,
		Concurrency: float64(a.UnderWayNS) / float64(max(1, a.WallNS)),
	}
	if a.Ops == 0 {
		r.Sent, r.Requests = 0, 0
	}
	if a.Errors > 0 {
		r.Errors = map[load.Class]int64{load.ErrAnswer: a.Errors}
	}
	var err error
	for _, h := range []struct {
		into **hist.Hist
		word []byte
		what string
	}{{&r.Latency, a.Latency, "latencies"}, {&r.Service, a.Service, "times of service"}, {&r.SendLag, a.Lag, "lags"}} {
		if len(h.word) == 0 {
			continue
		}
		if *h.into, err = hist.Decode(string(h.word)); err != nil {
			return nil, fmt.Errorf("the %s: %w", h.what, err)
		}
	}
	if r.Service == nil {
		r.Service = r.Latency
	}
	return r, nil
}

// Totals returns what was sent, and the connections that were opened for it.
func (l *ownClient) Totals() load.Totals { return l.totals }

// plannedConns returns how many connections the client was to have, of those it opened: it opens
// them as it needs them.
func (l *ownClient) plannedConns(opened int64) int64 {
	if l.sharesConn {
		return min(opened, 1)
	}
	return min(opened, int64(l.callers))
}

// Rewind restarts the counters that calls are filled in with.
func (l *ownClient) Rewind() {
	ctx, cancel := context.WithTimeout(context.Background(), trial.Deadline(wire.OpReset, 0))
	defer cancel()
	if _, err := l.process.Do(ctx, wire.Request{Op: wire.OpReset, On: l.on}); err != nil {
		l.failure = err
	}
}

// Close leaves the process: it is the trial's.
func (l *ownClient) Close() {}

// clientOps is the number of calls over which the memory of a client is counted, for each
// concurrent call.
const clientOps = 50

// addClientFigures adds the cost of calls to the client, and removes figures that it does not
// report.
func (c *conn) addClientFigures(s tare.Sample, by *ownClient) {
	s[tare.KeyOwnClient] = 1
	unknown := []string{tare.KeyBodySent, tare.KeyBodyReceived}
	if !by.metered {
		unknown = append(unknown, tare.KeyBytesSent, tare.KeyBytesReceived)
	}
	if c.work.sum.inFlight == 0 {
		unknown = append(unknown, tare.KeyConcurrency)
	}
	if c.work.sum.lag.Count() == 0 {
		unknown = append(unknown, tare.KeySendLag, tare.KeySendLagP50)
	}
	for _, key := range unknown {
		delete(s, key)
	}
	if c.failure != nil || c.work.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, trial.Deadline(wire.OpStats, 0))
	defer cancel()
	if c.resetService(ctx, false) != nil {
		return
	}
	leg := c.work.limitLeg(load.Leg{Ops: clientOps * int64(by.callers)})
	a, err := by.process.Do(ctx, wire.Request{Op: wire.OpStats, On: by.on, Ops: leg.Ops})
	c.work.touched = true
	by.count(a, max(a.Begun, a.Ops))
	if err != nil || a.Ops == 0 {
		return
	}
	ops := float64(a.Ops) / float64(c.work.per)
	s[tare.KeyClientBytes], s[tare.KeyClientAllocs] = float64(a.Bytes)/ops, float64(a.Allocs)/ops
}

// answerByClient makes the client answer all cases that it can send, one after another.
func (c *conn) answerByClient(ctx context.Context, by *ownClient, cases []int) (wire.Reply, error) {
	w := c.work
	list := make([]caseOutcome, len(cases))
	var asked []int // places in list
	q := wire.Request{Op: wire.OpAnswer, On: by.on}
	for n, i := range cases {
		list[n].index = i
		if w.app.Caller.Asks(w.original[i]) {
			asked, q.Cases = append(asked, n), append(q.Cases, i)
		}
	}
	if len(asked) > 0 {
		a, err := by.process.Do(ctx, q)
		if err != nil {
			return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", clientError(err))
		}
		if len(a.Answers) != len(asked) {
			return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", trialError(tare.ErrProtocol, "its client: %d answers to %d cases", len(a.Answers), len(asked)))
		}
		by.count(a, int64(len(asked)))
		for k, one := range a.Answers {
			into := &list[asked[k]]
			if into.failure = one.Error; one.Error != "" {
				continue
			}
			r, err := w.app.Caller.Outcome(w.original[into.index], one.Output)
			if err != nil {
				into.failure = format.Line(err.Error(), format.LineLimit)
				continue
			}
			into.response = &r
		}
	}
	return c.toAnswers(ctx, list)
}
