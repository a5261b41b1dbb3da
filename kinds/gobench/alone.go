package gobench

import (
	"context"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone carries out one request in a temporary process: if the TestMain of a package binds a
// fixed port, no two of its processes can run concurrently. The start of the process does not count
// towards the limit of the request, but the run takes that time in addition to the timed part.
func (c *conn) doAlone(ctx context.Context, q wire.Request) (a wire.Reply, err error) {
	if q.Op == wire.OpStats && c.counts != nil {
		return *c.counts, nil
	}
	starting := trial.StartClock()
	detached, left, cancel := trial.Detached(ctx)
	defer cancel()
	limited, stop := trial.Limited(detached, trial.Deadline(wire.OpPrepare, 0))
	_, err = c.prepareBenchmark(limited, *c.alone, c.suite.Packages[c.alone.Workload.Fixture])
	stop()
	start := starting()
	defer func() {
		ending := trial.StartClock()
		c.endProcess(ctx)
		if q.Op != wire.OpAnswer {
			a.UntimedNS += (start + ending()).Nanoseconds()
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
	working, stop := trial.Limited(detached, left)
	defer stop()
	a, err = c.forward(working, q)
	if err != nil || q.Op != wire.OpSlice || c.process == nil {
		return a, err
	}
	if counts, err := c.forward(working, wire.Request{Op: wire.OpStats, On: q.On, Ops: q.Ops}); err == nil {
		c.counts = &counts
	}
	return a, nil
}
