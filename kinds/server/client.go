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

// Keys and values of a client's set in addition to those of its request encoding.
const (
	setAddr    = "addr"    // host:port of the server
	setCallers = "callers" // number of concurrent callers
	setRate    = "rate"    // calls per second of an open loop
	setPolicy  = "policy"  // policy of connections
	policyOne  = "one"     // value of setPolicy: one connection for all callers
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
	toClient, ok := c.kind.lines[w.workload.Input] // the workload as the client receives it
	c.kind.mu.Unlock()
	if !ok {
		return wire.Reply{}, requestError("workload %q: there is nothing for a client to read", w.workload.ID)
	}
	toClient.ID = w.workload.ID
	toClient.Fixture = w.workload.Fixture
	toClient.N = w.workload.N
	toClient.Op = w.workload.Op
	toClient.Set = maps.Clone(w.dialect.Client)
	toClient.Set[setAddr] = w.target.Addr
	toClient.Set[setCallers] = strconv.Itoa(w.traffic.Connections)
	if w.traffic.Rate > 0 {
		toClient.Set[setRate] = strconv.FormatFloat(w.traffic.Rate, 'g', -1, 64)
	}
	reply, err := c.caller.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &toClient})
	if err != nil {
		return reply, clientError(err)
	}
	w.session = &ownClient{
		process: c.caller, on: toClient.ID, callers: w.traffic.Connections, cores: c.kind.cores().clients,
		rate: w.traffic.Rate, sharesConn: toClient.Set[setPolicy] == policyOne,
	}
	return reply, nil
}

// clientError returns err with a message that begins with "its client".
func clientError(err error) error {
	var te *tare.TrialError
	if errors.As(err, &te) {
		return trialError(te.Class, "its client: %s", te.Message)
	}
	return trialError(tare.ErrContender, "its client: %v", err)
}

// ownClient is the contender's own client in the role of the load generator.
type ownClient struct {
	process    *trial.Process
	on         string  // id of the workload
	callers    int     // number of concurrent callers
	cores      int     // number of processors that the client may use
	rate       float64 // calls per second of an open loop; 0 for a closed loop
	sharesConn bool    // all callers use one connection
	metered    bool    // the client has reported bytes on the wire
	totals     load.Totals
	failure    error // failure of Rewind, which returns no error; Run returns it
}

var _ sender = (*ownClient)(nil)

// Run makes the client do the calls of a phase. The lead-in is a separate slice, so that the server's
// clock is read around the measured part. Only the first call of each caller is a lead-in of the
// measured slice: after it, all callers have a call in flight.
func (l *ownClient) Run(ctx context.Context, leg load.Leg) (*load.Result, error) {
	if err := l.failure; err != nil {
		l.failure = nil
		return nil, err
	}
	var firstCalls int64 // part of the lead-in that belongs to the measured slice
	if leg.Profile == nil {
		firstCalls = min(leg.Lead, int64(l.callers))
	}
	if lead := leg.Lead - firstCalls; lead > 0 {
		if _, err := l.runSlice(ctx, 0, lead, 0); err != nil {
			return nil, err
		}
	}
	mark := leg.Mark
	if mark == nil {
		mark = func(bool) {}
	}
	clientClock := &clock{l.process}
	pids := clientClock.listPIDs()
	before := clientClock.readBefore(pids)
	mark(true)
	a, err := l.runSlice(ctx, firstCalls, leg.Ops, leg.Duration)
	mark(false)
	if err != nil {
		return nil, err
	}
	r, err := l.toResult(a)
	after := clientClock.readAfter(pids)
	if isKnown := len(before.waited) > 0 && len(after.waited) > 0; err == nil && isKnown {
		r.Wait = after.useSince(before).waited
	}
	return r, err
}

// runSlice makes the client do ops calls after a lead-in, but no longer than d. If ops is 0, only d
// limits the calls; if d is 0, only ops.
func (l *ownClient) runSlice(ctx context.Context, lead, ops int64, d time.Duration) (wire.Reply, error) {
	q := wire.Request{Op: wire.OpSlice, On: l.on, Until: string(tare.UntilOps), Lead: lead, Ops: ops}
	if d > 0 {
		q.CapNS, q.CapOps = d.Nanoseconds(), 1
		if ops == 0 {
			q.Ops = math.MaxInt32 // no limit
		}
	}
	a, err := l.process.Do(ctx, q)
	l.addCounts(a, max(a.Begun, a.Ops))
	return a, err
}

// addCounts adds the counts of a reply, before which the client has begun the given number of calls.
func (l *ownClient) addCounts(a wire.Reply, calls int64) {
	l.totals.Sent += calls
	l.totals.Opened += a.Opened
	l.metered = l.metered || a.WireOut > 0
}

// toResult converts the client's reply to a result of the load generator.
//
// The server's CPU time, connections and bytes cover all calls that the client began in the slice:
// also the few calls before it starts to measure, and the calls in flight at the end, which cost the
// server as much as the others. So all of them count as requests. The client measured its durations
// over fewer calls (a.Ops); they are extrapolated to all calls.
func (l *ownClient) toResult(a wire.Reply) (*load.Result, error) {
	began := max(a.Begun, a.Ops)
	extrapolate := func(ns int64) time.Duration {
		return time.Duration(float64(ns) * float64(began) / float64(max(1, a.Ops)))
	}
	r := &load.Result{
		Engine: "client", Connections: l.callers, Threads: l.cores, Wall: extrapolate(a.WallNS), Sent: began, Requests: began,
		BodyIn: a.BytesOut, CPU: extrapolate(a.CPUNS), Wait: -1, Asked: l.rate, Late: a.Unsent, FirstError: a.Message,
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
		target  **hist.Hist
		encoded []byte
		name    string
	}{
		{&r.Latency, a.Latency, "latencies"},
		{&r.Service, a.Service, "times of service"},
		{&r.SendLag, a.Lag, "lags"},
	} {
		if len(h.encoded) == 0 {
			continue
		}
		if *h.target, err = hist.Decode(string(h.encoded)); err != nil {
			return nil, fmt.Errorf("the %s: %w", h.name, err)
		}
	}
	if r.Service == nil {
		r.Service = r.Latency
	}
	return r, nil
}

// Totals returns the numbers of calls, and of the connections that were opened for them.
func (l *ownClient) Totals() load.Totals { return l.totals }

// plannedConns returns the number of connections that the client should have. It opens connections
// when it needs them, so the number is at most opened.
func (l *ownClient) plannedConns(opened int64) int64 {
	if l.sharesConn {
		return min(opened, 1)
	}
	return min(opened, int64(l.callers))
}

// Rewind resets the counters whose values are filled into calls.
func (l *ownClient) Rewind() {
	ctx, cancel := context.WithTimeout(context.Background(), trial.Deadline(wire.OpReset, 0))
	defer cancel()
	if _, err := l.process.Do(ctx, wire.Request{Op: wire.OpReset, On: l.on}); err != nil {
		l.failure = err
	}
}

// Close does nothing: the trial ends the process.
func (l *ownClient) Close() {}

// clientOps is the number of calls per caller over which the allocations of a client are counted.
const clientOps = 50

// addClientFigures adds the client's allocations per operation to s, and removes the values that the
// client does not report.
func (c *conn) addClientFigures(s tare.Sample, client *ownClient) {
	s[tare.KeyOwnClient] = 1
	unknown := []string{tare.KeyBodySent, tare.KeyBodyReceived}
	if !client.metered {
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
	leg := c.work.limitLeg(load.Leg{Ops: clientOps * int64(client.callers)})
	a, err := client.process.Do(ctx, wire.Request{Op: wire.OpStats, On: client.on, Ops: leg.Ops})
	c.work.touched = true
	client.addCounts(a, max(a.Begun, a.Ops))
	if err != nil || a.Ops == 0 {
		return
	}
	ops := float64(a.Ops) / float64(c.work.per)
	s[tare.KeyClientBytes], s[tare.KeyClientAllocs] = float64(a.Bytes)/ops, float64(a.Allocs)/ops
}

// answerByClient makes the client do the calls of all cases that it can send, one after another.
func (c *conn) answerByClient(ctx context.Context, client *ownClient, cases []int) (wire.Reply, error) {
	w := c.work
	list := make([]caseOutcome, len(cases))
	var sent []int // indexes in list of the cases in q
	q := wire.Request{Op: wire.OpAnswer, On: client.on}
	for n, i := range cases {
		list[n].index = i
		if w.app.Caller.Asks(w.original[i]) {
			sent = append(sent, n)
			q.Cases = append(q.Cases, i)
		}
	}
	if len(sent) > 0 {
		a, err := client.process.Do(ctx, q)
		if err != nil {
			return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", clientError(err))
		}
		if len(a.Answers) != len(sent) {
			return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", trialError(tare.ErrProtocol, "its client: %d answers to %d cases", len(a.Answers), len(sent)))
		}
		client.addCounts(a, int64(len(sent)))
		for k, answer := range a.Answers {
			outcome := &list[sent[k]]
			if outcome.failure = answer.Error; answer.Error != "" {
				continue
			}
			r, err := w.app.Caller.Outcome(w.original[outcome.index], answer.Output)
			if err != nil {
				outcome.failure = format.Line(err.Error(), format.LineLimit)
				continue
			}
			outcome.response = &r
		}
	}
	return c.toAnswers(ctx, list)
}
