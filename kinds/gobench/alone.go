package gobench

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone executes one request in a temporary process, which has a separate time limit for its
// start. If TestMain binds a fixed port, two processes of a package cannot run at the same time.
// UntimedNS of the reply includes the start and the end of the process.
func (c *conn) doAlone(ctx context.Context, request wire.Request) (wire.Reply, error) {
	if request.Op == wire.OpStats && c.lastStats != nil {
		return *c.lastStats, nil // forwardAlone has requested them after the slice
	}
	detached, limit, cancel := trial.Detached(ctx)
	defer cancel()
	sinceStart := trial.StartClock()
	err := c.startAlone(detached)
	startDuration := sinceStart()
	var reply wire.Reply
	if err == nil {
		reply, err = c.forwardAlone(detached, limit, request)
	}
	sinceEnd := trial.StartClock()
	c.endProcess(ctx)
	if request.Op != wire.OpAnswer {
		reply.UntimedNS += (startDuration + sinceEnd()).Nanoseconds()
	}
	return reply, err
}

// startAlone prepares the benchmark in a temporary process. If the benchmark fails, it returns nil
// and sets c.failure.
func (c *conn) startAlone(ctx context.Context) error {
	startCtx, stop := trial.Limited(ctx, trial.Deadline(wire.OpPrepare, 0))
	defer stop()
	_, err := c.prepareBenchmark(startCtx, *c.aloneRequest, c.suite.Packages[c.aloneRequest.Workload.Fixture])
	return err
}

// forwardAlone sends request to the temporary process. After a slice, a timed run, it also requests
// stats, because the lab does so only when the process has ended.
func (c *conn) forwardAlone(ctx context.Context, limit time.Duration, request wire.Request) (wire.Reply, error) {
	if c.failure != nil {
		return c.replyFailure(request)
	}
	requestCtx, stop := trial.Limited(ctx, limit)
	defer stop()
	reply, err := c.forward(requestCtx, request)
	hasEnded := c.process == nil // forward ends a process that fails
	if err != nil || request.Op != wire.OpSlice || hasEnded {
		return reply, err
	}
	if counts, err := c.forward(requestCtx, wire.Request{Op: wire.OpStats, On: request.On, Ops: request.Ops}); err == nil {
		c.lastStats = &counts
	}
	return reply, nil
}
