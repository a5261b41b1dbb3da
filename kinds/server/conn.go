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

// conn is one trial of a server: its process, if tare started it, and the load generator that sends
// it requests.
type conn struct {
	kind     *Kind
	entry    tare.Contender
	cores    cores          // clients: those that the load generator could use in its last run
	terminal bool           // stdout is one
	dir      string         // of the trial: its log, its keys
	process  process        // nil if tare did not start the server
	spec     trial.Spec     // it was started by
	greeting wire.Request   // the hello of the lab
	program  *trial.Process // the same, if it speaks the protocol; else nil
	where    serverAddr     // of a command or a URL
	delivery delivery       // what a command has delivered so far; nil means unknown

	destination *destination // that a command sends events to; nil if it has none

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc

	calls   sync.Mutex     // one request at a time; guards what follows
	failure error          // what ended the trial
	work    *work          // prepared; nil if nothing is
	caller  *trial.Process // the contender's own client; nil if none was needed so far
	sink    string         // directory that the program of the workload before wrote into; empty means none
	sinks   int            // such directories so far

	closing  sync.Once
	evidence tare.Evidence
}

var (
	_ trial.Conn   = (*conn)(nil)
	_ trial.Gauger = (*conn)(nil)
)

var errClosed = errors.New("the trial is closed")

// Do carries out one request: what concerns the server's process is passed on to it, the rest is
// done in this package.
func (c *conn) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	c.calls.Lock()
	defer c.calls.Unlock()
	if c.failure != nil {
		return wire.Reply{}, c.failure
	}
	if _, bounded := ctx.Deadline(); !bounded {
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

func (c *conn) handle(ctx context.Context, q wire.Request) (wire.Reply, error) {
	switch q.Op {
	case wire.OpHello:
		c.greeting = q
		if c.program == nil {
			return c.ownHello(), nil
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
	if c.work == nil || c.work.in.ID != q.On {
		return wire.Reply{}, requestError("%s on workload %q, which is not prepared", q.Op, q.On)
	}
	if c.work.stopped {
		if q.Op == wire.OpStats { // the memory pass comes after the gauges
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

// forward passes q to the program.
func (c *conn) forward(ctx context.Context, q wire.Request) (wire.Reply, error) {
	a, err := c.program.Do(ctx, q)
	var te *tare.TrialError
	if err != nil && (!errors.As(err, &te) || te.Class != tare.ErrContender) {
		c.failure = err
	}
	return a, err
}

// failWith ends the trial because of err. If the process has ended, or ctx has, that is the reason.
// seen describes the observations until then, in a few words.
func (c *conn) failWith(ctx context.Context, doing, seen string, err error) error {
	switch lost := c.whyEnded(ctx, doing); {
	case lost != nil:
		err = lost
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		within := "in time"
		var late *trial.LimitError
		if errors.As(context.Cause(ctx), &late) {
			within = "within " + format.Seconds(late.Limit)
		}
		err = trialError(tare.ErrDeadline, "no end of %s %s%s", doing, within, seen)
	case errors.Is(context.Cause(ctx), errClosed):
		err = trialError(tare.ErrExit, "%v", errClosed)
	case ctx.Err() != nil:
		err = fmt.Errorf("trial of %s: %w", c.entry.ID, context.Cause(ctx))
	}
	c.failure = err
	return err
}

// deathLimit is the time between a broken connection and the notice that the process that broke it
// has ended.
const deathLimit = 200 * time.Millisecond

// whyEnded returns why the server's process has ended, or nil if it has not, or if tare did not
// start it. It is called after a failure.
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

// Close ends the load, the server if it is ours, and everything it started.
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
