package gobench

import (
	"context"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone executes one request in a temporary process, which starts before and ends after it: if the
// TestMain of a package binds a fixed port, two of its processes cannot run concurrently. The start
// of the process has a time limit of its own. The times of its start and end are in UntimedNS.
func (c *conn) doAlone(ctx context.Context, q wire.Request) (a wire.Reply, err error) {
	if q.Op == wire.OpStats && c.counts != nil {
		return *c.counts, nil
	}
	sinceStart := trial.StartClock()
	detached, limit, cancel := trial.Detached(ctx)
	defer cancel()
	startCtx, stop := trial.Limited(detached, trial.Deadline(wire.OpPrepare, 0))
	_, err = c.prepareBenchmark(startCtx, *c.alone, c.suite.Packages[c.alone.Workload.Fixture])
	stop()
	startDuration := sinceStart()
	defer func() {
		sinceEnd := trial.StartClock()
		c.endProcess(ctx)
		if q.Op != wire.OpAnswer {
			a.UntimedNS += (startDuration + sinceEnd()).Nanoseconds()
		}
	}()
	switch {
	case err != nil:
		return wire.Reply{}, err
	case c.failure != nil && q.Op == wire.OpAnswer:
		return wire.Reply{}, c.failure
	case c.failure != nil:
		return failedReply(c.failure), nil
	}
	requestCtx, stop := trial.Limited(detached, limit)
	defer stop()
	a, err = c.forward(requestCtx, q)
	if err != nil || q.Op != wire.OpSlice || c.process == nil {
		return a, err
	}
	// The lab requests stats after a slice, when the process has ended: count now.
	if counts, err := c.forward(requestCtx, wire.Request{Op: wire.OpStats, On: q.On, Ops: q.Ops}); err == nil {
		c.counts = &counts
	}
	return a, nil
}
