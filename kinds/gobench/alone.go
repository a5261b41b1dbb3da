package gobench

import (
	"context"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone executes one request of the lab in a temporary process, which starts before the request and ends
// after it: if the TestMain of a package binds a fixed port, two of its processes cannot run at the same
// time. The start of the process has a separate time limit. UntimedNS of the reply includes the times to
// start and end the process.
func (c *conn) doAlone(ctx context.Context, request wire.Request) (reply wire.Reply, err error) {
	if request.Op == wire.OpStats && c.lastStats != nil {
		return *c.lastStats, nil // counted after the slice, see below
	}
	sinceStart := trial.StartClock()
	detached, limit, cancel := trial.Detached(ctx)
	defer cancel()
	startCtx, stop := trial.Limited(detached, trial.Deadline(wire.OpPrepare, 0))
	_, err = c.prepareBenchmark(startCtx, *c.aloneRequest, c.suite.Packages[c.aloneRequest.Workload.Fixture])
	stop()
	startDuration := sinceStart()
	defer func() {
		sinceEnd := trial.StartClock()
		c.endProcess(ctx)
		if request.Op != wire.OpAnswer {
			reply.UntimedNS += (startDuration + sinceEnd()).Nanoseconds()
		}
	}()
	switch {
	case err != nil:
		return wire.Reply{}, err
	case c.failure != nil && request.Op == wire.OpAnswer:
		return wire.Reply{}, c.failure
	case c.failure != nil:
		return failedReply(c.failure), nil
	}
	requestCtx, stop := trial.Limited(detached, limit)
	defer stop()
	reply, err = c.forward(requestCtx, request)
	if err != nil || request.Op != wire.OpSlice || c.process == nil {
		return reply, err
	}
	// The lab requests stats after a slice, when the process has ended: count now.
	if counts, err := c.forward(requestCtx, wire.Request{Op: wire.OpStats, On: request.On, Ops: request.Ops}); err == nil {
		c.lastStats = &counts
	}
	return reply, nil
}
