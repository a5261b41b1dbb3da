package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// watchEvery is how often deadline and memory are looked at. The time a
// request takes does not depend on it, only how soon a hung one is noticed.
const watchEvery = 100 * time.Millisecond

// idleEvery is after how many looks the memory of a contender that was asked
// nothing is looked at: looking costs time that another one is being
// measured in.
const idleEvery = 5

// watch holds the contender to its deadline and its memory until Close. One
// slow tick for everything costs less than a timer per request.
func (p *Process) watch() {
	defer close(p.watched)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-p.stop:
			return
		case now := <-tick.C:
			p.inspect(now, i%idleEvery == 0)
		}
	}
}

// inspect looks once. idle: memory too if nothing was asked.
func (p *Process) inspect(now time.Time, idle bool) {
	// The context is looked at under the lock: a caller may end it as soon as
	// its request is off the watch, and that is no cancellation.
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
			case <-p.exited: // something it left behind holds the wire open
				_ = p.fail(p.exit(c.op))
			default:
				_ = p.fail(c.late())
			}
			return
		case err != nil:
			_ = p.fail(p.canceled(context.Cause(c.ctx)))
			return
		}
	}
	if p.capped || c.ctx == nil && !idle {
		return
	}
	if held := p.resident(); held > p.spec.MemoryLimit {
		_ = p.fail(trialError(tare.ErrMemory, "held %s of memory, the limit is %s", size(held), size(p.spec.MemoryLimit)))
	}
}

// resident is what the whole process tree holds now, in bytes; zero where
// that is not known. Pages shared within the tree count once per process.
func (p *Process) resident() int64 {
	select {
	case <-p.exited:
		return 0
	default:
	}
	var pids []int
	if p.group != nil {
		pids, _ = p.group.Procs()
	} else {
		pids = tree(p.pid)
	}
	var sum int64
	for _, pid := range pids {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// tree lists a process and its descendants. What has been disowned by a
// parent that ended is not among them; a control group knows better.
func tree(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids) && i < 1000; i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
