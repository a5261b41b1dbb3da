package gobench

import (
	"context"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone executes one request of the lab in a temporary process, which starts before the request and ends
// after it: if the TestMain of a package binds a fixed port, two of its processes cannot run at the same
// time. The start of the process has a separate time limit. UntimedNS of the reply includes the times to
// start and end the process.
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

// startAlone starts the temporary process and prepares the benchmark in it. If the benchmark fails, it
// returns nil and sets c.failure.
func (c *conn) startAlone(ctx context.Context) error {
	startCtx, stop := trial.Limited(ctx, trial.Deadline(wire.OpPrepare, 0))
	defer stop()
	_, err := c.prepareBenchmark(startCtx, *c.aloneRequest, c.suite.Packages[c.aloneRequest.Workload.Fixture])
	return err
}

// forwardAlone sends request to the temporary process. After a slice it also requests stats: the lab
// requests these only when the process has ended.
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
