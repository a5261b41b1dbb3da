package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// watchEvery is the interval between checks of deadline and memory. The time a request takes does
// not depend on it, only how soon a hung one is noticed.
const watchEvery = 100 * time.Millisecond

// idleEvery is the number of checks between those of the memory of an idle contender: a check costs
// time in which another one is being measured.
const idleEvery = 5

// watchLimits holds the contender to its deadline and its memory until Close. One slow tick for
// everything costs less than a timer per request.
func (p *Process) watchLimits() {
	defer close(p.watched)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-p.stop:
			return
		case now := <-tick.C:
			p.inspectOnce(now, i%idleEvery == 0)
		}
	}
}

// inspectOnce checks the limits once. idle: memory too if no request is in flight.
func (p *Process) inspectOnce(now time.Time, idle bool) {
	// The context is read under the lock: a caller may end it as soon as its request is off the
	// watch, and that is no cancellation.
	p.mu.Lock()
	c, failed := p.call, p.failure != nil
	var err error
	if c.ctx != nil {
		err = c.ctx.Err()
	}
	p.mu.Unlock()
	if failed {
		return
	}
	if c.ctx != nil {
		switch {
		case errors.Is(err, context.DeadlineExceeded), !c.deadline.IsZero() && now.After(c.deadline):
			select {
			case <-p.exited: // a process that it left holds the wire open
				_ = p.failWith(p.exitError(c.op))
			default:
				_ = p.failWith(c.lateError())
			}
			return
		case err != nil:
			_ = p.failWith(p.cancelError(context.Cause(c.ctx)))
			return
		}
	}
	if p.capped || c.ctx == nil && !idle {
		return
	}
	if held := p.residentBytes(); held > p.spec.MemoryLimit {
		_ = p.failWith(trialError(tare.ErrMemory, "held %s of memory, the limit is %s", formatSize(held), formatSize(p.spec.MemoryLimit)))
	}
}

// residentBytes returns the memory of the process tree in bytes, or 0 if it is unknown. Pages
// shared within the tree count once per process.
func (p *Process) residentBytes() int64 {
	select {
	case <-p.exited:
		return 0
	default:
	}
	var pids []int
	if p.group != nil {
		pids, _ = p.group.Procs()
	} else {
		pids = listTree(p.pid)
	}
	var sum int64
	for _, pid := range pids {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// listTree lists a process and its descendants. It misses those whose parent has ended; a control
// group has them.
func listTree(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids) && i < 1000; i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
