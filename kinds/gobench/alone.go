package gobench

import (
	"context"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// doAlone carries out one request in a process that exists only meanwhile: of a
// package whose TestMain binds a fixed port, no two processes can run at once. The
// start of the process is not counted towards the limit of the request, but is time
// that the run takes besides what is timed.
func (c *conn) doAlone(ctx context.Context, q wire.Request) (a wire.Reply, err error) {
	if q.Op == wire.OpStats && c.counts != nil {
		return *c.counts, nil
	}
	starting := trial.StartClock()
	detached, left, cancel := trial.Detached(ctx)
	defer cancel()
	limited, stop := trial.Limited(detached, trial.Deadline(wire.OpPrepare, 0))
	_, err = c.enter(limited, *c.alone, c.suite.Packages[c.alone.Workload.Fixture])
	stop()
	start := starting()
	defer func() {
		ending := trial.StartClock()
		c.end(ctx)
		if q.Op != wire.OpAnswer {
			a.UntimedNS += (start + ending()).Nanoseconds()
		}
	}()
	switch {
	case err != nil:
		return wire.Reply{}, err
	case c.lost != nil && q.Op == wire.OpAnswer:
		return wire.Reply{}, c.lost
	case c.lost != nil:
		return failed(c.lost), nil
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
