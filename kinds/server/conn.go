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

// conn is one trial of a server, a measurement in a new process. It has the server's process, if
// tare started it, and the load generator.
type conn struct {
	kind     *Kind
	entry    tare.Contender
	cores    cores          // processors of both sides
	terminal bool           // stdout of the server is a terminal
	dir      string         // trial's directory, with its log and keys
	process  process        // nil if tare did not start the server
	spec     trial.Spec     // configuration of the program
	greeting wire.Request   // hello of the lab, the part of tare that controls trials
	program  *trial.Process // process, if it speaks tare's protocol, else nil
	address  serverAddr     // address of a command or a URL
	delivery delivery       // counts the items of a command; nil if unknown

	destination *destination // receives the events of a command; may be nil

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc

	calls   sync.Mutex     // guards the following fields
	failure error          // error that ended the trial, or nil
	work    *work          // nil before the first workload
	caller  *trial.Process // the contender's own client, once needed
	sink    string         // directory for the program's items; may be ""
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
// that speaks the protocol.
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

// requestError returns the reply to an invalid request, after which the trial continues.
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

// isReplyError reports whether err is the program's own reply to a request, after which the program
// runs on.
func isReplyError(err error) bool {
	var te *tare.TrialError
	return errors.As(err, &te) && te.Class == tare.ErrContender
}

// failWith ends the trial and returns the reason: the end of the process or of ctx, else err. doing
// names the operation. progress is "" or a clause about the requests until then.
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

// deathLimit is the longest time from the end of a process, which breaks its connections, to the
// notice that it has ended.
const deathLimit = 200 * time.Millisecond

// whyEnded returns why the server's process has ended. It returns nil if the process runs, or if
// tare did not start it.
func (c *conn) whyEnded(ctx context.Context, doing string) error {
	if c.process == nil {
		return nil
	}
	waitUntil(ctx, deathLimit, c.process.Exited())
	return c.process.Lost(doing)
}

func (c *conn) closeWork() {
	if c.work != nil {
		c.work.close()
		c.work = nil
	}
}

// Close ends the load and, if tare started the server, all processes of the server.
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

func (c *conn) cleanUp() {
	if c.destination != nil {
		c.destination.close()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}
