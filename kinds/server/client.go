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

// Some contenders have a client, which sends the requests instead of the load generator. This file
// starts and measures it.

// Keys and values of the set (the settings) of a client's workload.
const (
	setAddr    = "addr"    // host:port of the server
	setCallers = "callers" // number of concurrent callers
	setRate    = "rate"    // calls per second of an open loop
	setPolicy  = "policy"  // policy of connections
	policyOne  = "one"     // one connection for all callers
)

// prepareClient makes the contender's own client send the requests of w. It runs on the processors
// of the load generator.
func (c *conn) prepareClient(ctx context.Context, w *work) (wire.Reply, error) {
	if err := c.startClient(ctx); err != nil {
		return wire.Reply{}, err
	}
	calls, err := c.clientWorkload(w)
	if err != nil {
		return wire.Reply{}, err
	}
	reply, err := c.caller.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &calls})
	if err != nil {
		return reply, clientError(err)
	}
	w.session = &ownClient{
		process: c.caller, on: calls.ID, callers: w.traffic.Connections, cores: c.kind.cores().clients,
		rate: w.traffic.Rate, sharesConn: calls.Set[setPolicy] == policyOne,
	}
	return reply, nil
}

// startClient starts the process of the client unless it runs already, because it serves all
// workloads of a trial.
func (c *conn) startClient(ctx context.Context) error {
	if c.caller != nil {
		return nil
	}
	spec := c.spec
	spec.Name, spec.CPUs, spec.Terminal = spec.Name+", its client", c.cores.client, false
	started, err := trial.Start(ctx, spec)
	if err != nil {
		return c.failWith(ctx, wire.OpPrepare, "", err)
	}
	c.caller = started
	if _, err := started.Do(ctx, c.greeting); err != nil {
		return c.failWith(ctx, wire.OpHello, "", clientError(err))
	}
	return nil
}

func (c *conn) clientWorkload(w *work) (wire.Workload, error) {
	calls, ok := c.kind.clientPool(w.workload.Input)
	if !ok {
		return wire.Workload{}, requestError("workload %q has no calls for its client", w.workload.ID)
	}
	calls.ID = w.workload.ID
	calls.Fixture = w.workload.Fixture
	calls.N = w.workload.N
	calls.Op = w.workload.Op
	calls.Set = maps.Clone(w.dialect.Client) // settings such as the protocol
	calls.Set[setAddr] = w.target.Addr
	calls.Set[setCallers] = strconv.Itoa(w.traffic.Connections)
	if w.traffic.Rate > 0 {
		calls.Set[setRate] = strconv.FormatFloat(w.traffic.Rate, 'g', -1, 64)
	}
	return calls, nil
}

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
	cores      int     // number of processors
	rate       float64 // calls per second; 0 for a closed loop
	sharesConn bool    // all callers use one connection
	metered    bool    // it has reported bytes on the wire
	totals     load.Totals
	failure    error // Rewind returns no error, so Run returns it
}

var _ sender = (*ownClient)(nil)

// Run makes the client do a lead-in of phase.Lead calls, then the measured calls. The server's
// clock is read by phase.Mark. The first call of each caller is part of the measured run: after it,
// all callers have a call in flight. The profile of an open loop determines when calls begin.
func (l *ownClient) Run(ctx context.Context, phase load.Leg) (*load.Result, error) {
	if err := l.failure; err != nil {
		l.failure = nil
		return nil, err
	}
	var firstCalls int64 // lead-in of the measured run
	if phase.Profile == nil {
		firstCalls = min(phase.Lead, int64(l.callers))
	}
	if lead := phase.Lead - firstCalls; lead > 0 {
		if _, err := l.runSlice(ctx, 0, lead, 0); err != nil {
			return nil, err
		}
	}
	markMeasured := phase.Mark
	if markMeasured == nil {
		markMeasured = func(bool) {}
	}
	clientClock := &clock{l.process}
	pids := clientClock.listPIDs()
	before := clientClock.readBefore(pids)
	markMeasured(true)
	reply, err := l.runSlice(ctx, firstCalls, phase.Ops, phase.Duration)
	markMeasured(false)
	if err != nil {
		return nil, err
	}
	r, err := l.toResult(reply)
	after := clientClock.readAfter(pids)
	if isKnown := len(before.waited) > 0 && len(after.waited) > 0; err == nil && isKnown {
		r.Wait = after.useSince(before).waited
	}
	return r, err
}

// runSlice makes the client do ops calls after a lead-in, but no longer than d. 0 means that ops or
// d does not limit the calls.
func (l *ownClient) runSlice(ctx context.Context, lead, ops int64, d time.Duration) (wire.Reply, error) {
	request := wire.Request{Op: wire.OpSlice, On: l.on, Until: string(tare.UntilOps), Lead: lead, Ops: ops}
	if d > 0 {
		request.CapNS, request.CapOps = d.Nanoseconds(), 1
		if ops == 0 {
			request.Ops = math.MaxInt32 // no limit
		}
	}
	reply, err := l.process.Do(ctx, request)
	l.addCounts(reply, max(reply.Begun, reply.Ops))
	return reply, err
}

// addCounts adds a reply. calls is the number of calls that the client began for it.
func (l *ownClient) addCounts(reply wire.Reply, calls int64) {
	l.totals.Sent += calls
	l.totals.Opened += reply.Opened
	l.metered = l.metered || reply.WireOut > 0
}

// toResult converts the client's reply to a result of the load generator.
//
// The server's CPU time, connections and bytes cover all calls that the client began. So all of
// them count as requests, even those in flight at the end. The client measured its durations over
// fewer calls (reply.Ops); they are extrapolated.
func (l *ownClient) toResult(reply wire.Reply) (*load.Result, error) {
	began := max(reply.Begun, reply.Ops)
	extrapolate := func(ns int64) time.Duration {
		return time.Duration(float64(ns) * float64(began) / float64(max(1, reply.Ops)))
	}
	r := &load.Result{
		Engine: "client", Connections: l.callers, Threads: l.cores, Wall: extrapolate(reply.WallNS), Sent: began, Requests: began,
		BodyIn: reply.BytesOut, CPU: extrapolate(reply.CPUNS), Wait: -1, Asked: l.rate, Late: reply.Unsent, FirstError: reply.Message,
		Opened: reply.Opened, BytesIn: reply.WireIn, BytesOut: reply.WireOut,
		Concurrency: float64(reply.UnderWayNS) / float64(max(1, reply.WallNS)),
	}
	if reply.Ops == 0 {
		r.Sent, r.Requests = 0, 0
	}
	if reply.Errors > 0 {
		r.Errors = map[load.Class]int64{load.ErrAnswer: reply.Errors}
	}
	var err error
	for _, h := range []struct {
		target  **hist.Hist
		encoded []byte
		name    string
	}{
		{&r.Latency, reply.Latency, "latencies"},
		{&r.Service, reply.Service, "times of service"},
		{&r.SendLag, reply.Lag, "lags"},
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

// Totals returns the numbers of calls and of opened connections.
func (l *ownClient) Totals() load.Totals { return l.totals }

// plannedConns returns the number of connections that the client should have. The client opens
// connections when it needs them, so it is at most opened.
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

// addClientValues adds the client's allocations to s, and removes values that the client does not
// report.
func (c *conn) addClientValues(s tare.Sample, client *ownClient) {
	s[tare.KeyOwnClient] = 1
	for _, key := range c.work.sum.unreportedKeys(client) {
		delete(s, key)
	}
	if c.failure != nil || c.work.stopped {
		return // no server could respond to more calls
	}
	c.measureClientAllocs(s, client)
}

// unreportedKeys returns the keys of the values that are not measured if client sends the requests.
// Their sums are zero, as if they had been measured.
func (t *trafficSum) unreportedKeys(client *ownClient) []string {
	keys := []string{tare.KeyBodySent, tare.KeyBodyReceived}
	if !client.metered {
		keys = append(keys, tare.KeyBytesSent, tare.KeyBytesReceived)
	}
	if t.inFlight == 0 {
		keys = append(keys, tare.KeyConcurrency)
	}
	if t.lag.Count() == 0 {
		keys = append(keys, tare.KeySendLag, tare.KeySendLagP50)
	}
	return keys
}

// clientOps is the number of calls per caller over which allocations are counted.
const clientOps = 50

// measureClientAllocs makes the client do clientOps more calls per caller, and adds the allocations
// per operation to s. If the calls fail it adds nothing, and the other measurements still count.
func (c *conn) measureClientAllocs(s tare.Sample, client *ownClient) {
	ctx, cancel := context.WithTimeout(c.ctx, trial.Deadline(wire.OpStats, 0))
	defer cancel()
	if c.resetService(ctx, false) != nil {
		return
	}
	calls := c.work.limitLeg(load.Leg{Ops: clientOps * int64(client.callers)}).Ops
	reply, err := client.process.Do(ctx, wire.Request{Op: wire.OpStats, On: client.on, Ops: calls})
	c.work.touched = true
	client.addCounts(reply, max(reply.Begun, reply.Ops))
	if err != nil || reply.Ops == 0 {
		return
	}
	ops := float64(reply.Ops) / float64(c.work.perOp)
	s[tare.KeyClientBytes], s[tare.KeyClientAllocs] = float64(reply.Bytes)/ops, float64(reply.Allocs)/ops
}

func (c *conn) answerByClient(ctx context.Context, client *ownClient, cases []int) (wire.Reply, error) {
	w := c.work
	list := make([]caseOutcome, len(cases))
	var sent []int // indexes in list of the cases in request
	request := wire.Request{Op: wire.OpAnswer, On: client.on}
	for n, i := range cases {
		list[n].index = i
		if w.app.Caller.Asks(w.original[i]) {
			sent = append(sent, n)
			request.Cases = append(request.Cases, i)
		}
	}
	if len(sent) == 0 {
		return c.toAnswers(ctx, list)
	}
	reply, err := client.process.Do(ctx, request)
	if err != nil {
		return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", clientError(err))
	}
	if len(reply.Answers) != len(sent) {
		return wire.Reply{}, c.failWith(ctx, wire.OpAnswer, "", trialError(tare.ErrProtocol, "its client: %d answers to %d cases", len(reply.Answers), len(sent)))
	}
	client.addCounts(reply, int64(len(sent)))
	for k, answer := range reply.Answers {
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
	return c.toAnswers(ctx, list)
}
