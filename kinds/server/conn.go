package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
)

// conn is one trial of a server, a measurement in a new process: the process, if tare started it, and
// the load generator that sends requests to the server.
type conn struct {
	kind     *Kind
	entry    tare.Contender // contender of the trial
	cores    cores          // processors of both sides; cores.clients is the number that the last run of load could use
	terminal bool           // stdout of the server is a terminal
	dir      string         // directory of the trial, with its log and keys
	process  process        // process of the server; nil if tare did not start it
	spec     trial.Spec     // with which a program was started
	greeting wire.Request   // hello of the lab, the part of tare that controls trials
	program  *trial.Process // the same as process if it speaks the contender protocol (package wire); else nil
	address  serverAddr     // address of a command or a URL
	delivery delivery       // counter of the items that a command has delivered; nil if unknown

	destination *destination // server to which a command sends its events; nil if it sends none

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc

	calls   sync.Mutex     // locked during Do, so that there is one request at a time; guards the following fields
	failure error          // error that ended the trial; nil if it continues
	work    *work          // prepared workload; nil before the first
	caller  *trial.Process // the contender's own client; nil if it was not needed so far
	sink    string         // directory into which the program delivers, or did in the previous workload; "" without a sink
	sinks   int            // number of such directories so far

	closing  sync.Once
	evidence tare.Evidence
}

var (
	_ trial.Conn   = (*conn)(nil)
	_ trial.Gauger = (*conn)(nil)
)

var errClosed = errors.New("the trial is closed")

// Do executes one request of the lab. It forwards requests about the server's process to a program
// that speaks the protocol, and executes all others itself.
func (c *conn) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	c.calls.Lock()
	defer c.calls.Unlock()
	if c.failure != nil {
		return wire.Reply{}, c.failure
	}
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = trial.Limited(ctx, trial.Deadline(q.Op, time.Duration(max(q.MinNS, q.CapNS))))
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	a, err := c.handle(ctx, q)
	a.ID = q.ID
	return a, err
}

// handle executes a request whose ctx has a deadline.
func (c *conn) handle(ctx context.Context, q wire.Request) (wire.Reply, error) {
	switch q.Op {
	case wire.OpHello:
		c.greeting = q
		if c.program == nil {
			return c.makeHello(), nil
		}
		return c.forward(ctx, q)
	case wire.OpPrepare:
		if q.Workload == nil {
			return wire.Reply{}, requestError("prepare without a workload")
		}
		return c.prepareWork(ctx, *q.Workload)
	case wire.OpBye:
		c.closeWork()
		if c.program == nil {
			return wire.Reply{}, nil
		}
		return c.forward(ctx, q)
	}
	if c.work == nil || c.work.workload.ID != q.On {
		return wire.Reply{}, requestError("%s on workload %q, which is not prepared", q.Op, q.On)
	}
	if c.work.stopped {
		if q.Op == wire.OpStats { // the lab requests stats after the gauges, which have stopped the server
			return wire.Reply{Counts: wire.Counts{Ops: q.Ops}, Prepared: wire.Prepared{Unsupported: true}}, nil
		}
		return wire.Reply{}, requestError("%s on workload %q, whose server was told to end", q.Op, q.On)
	}
	switch q.Op {
	case wire.OpAnswer:
		return c.answerCases(ctx, q.Cases)
	case wire.OpWarm:
		return c.warmUp(ctx, q)
	case wire.OpSlice:
		return c.runSlice(ctx, q)
	case wire.OpStats:
		return c.countAllocs(ctx, q)
	case wire.OpProfile:
		return c.profileProgram(ctx, q)
	}
	return wire.Reply{}, requestError("unknown op %q", q.Op)
}

// requestError returns the reply to an invalid request; the trial continues.
func requestError(format string, args ...any) error {
	return trialError(tare.ErrContender, format, args...)
}

// forward sends q to the program. An error ends the trial, unless the program itself returned it.
func (c *conn) forward(ctx context.Context, q wire.Request) (wire.Reply, error) {
	a, err := c.program.Do(ctx, q)
	if err != nil && !isReplyError(err) {
		c.failure = err
	}
	return a, err
}

// isReplyError reports whether err is the program's reply to a request, after which the program runs on.
func isReplyError(err error) bool {
	var te *tare.TrialError
	return errors.As(err, &te) && te.Class == tare.ErrContender
}

// failWith ends the trial and returns the reason: the end of the process or of ctx, or else err.
// doing names the operation. progress is "" or a sentence fragment about the requests until then,
// which is added if a deadline has passed.
func (c *conn) failWith(ctx context.Context, doing, progress string, err error) error {
	switch lost := c.whyEnded(ctx, doing); {
	case lost != nil:
		err = lost
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		within := "in time"
		var late *trial.LimitError
		if errors.As(context.Cause(ctx), &late) {
			within = "within " + format.Seconds(late.Limit)
		}
		err = trialError(tare.ErrDeadline, "no end of %s %s%s", doing, within, progress)
	case errors.Is(context.Cause(ctx), errClosed):
		err = trialError(tare.ErrExit, "%v", errClosed)
	case ctx.Err() != nil:
		err = fmt.Errorf("trial of %s: %w", c.entry.ID, context.Cause(ctx))
	}
	c.failure = err
	return err
}

// deathLimit is the longest time between the end of a process, which breaks its connections, and the
// notice that the process has ended.
const deathLimit = 200 * time.Millisecond

// whyEnded returns why the server's process has ended, after a failure. It returns nil if the process
// runs, or if tare did not start it.
func (c *conn) whyEnded(ctx context.Context, doing string) error {
	if c.process == nil {
		return nil
	}
	waitUntil(ctx, deathLimit, c.process.Exited())
	return c.process.Lost(doing)
}

// closeWork discards the prepared workload.
func (c *conn) closeWork() {
	if c.work != nil {
		c.work.close()
		c.work = nil
	}
}

// Close ends the load and, if tare started the server, the server with all processes that it started.
func (c *conn) Close(ctx context.Context) tare.Evidence {
	c.closing.Do(func() {
		c.cancel(errClosed)
		c.calls.Lock()
		defer c.calls.Unlock()
		c.closeWork()
		if c.failure == nil {
			c.failure = trialError(tare.ErrExit, "%v", errClosed)
		}
		if c.caller != nil {
			c.caller.Close(ctx)
		}
		if c.process != nil {
			c.evidence = c.process.Close(ctx)
		}
		c.cleanUp()
	})
	return c.evidence
}

// cleanUp removes the trial's files, and closes the destination.
func (c *conn) cleanUp() {
	if c.destination != nil {
		c.destination.close()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}
