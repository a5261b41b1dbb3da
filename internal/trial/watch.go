package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// This file ends a trial if its contender, the program to measure, exceeds the deadline of a request or
// the limit of its memory.

// watchEvery is the interval between checks of the deadline and the memory. It only determines how
// soon an exceeded limit is noticed, not how long a request takes.
const watchEvery = 100 * time.Millisecond

// idleEvery is the number of checks of which only one includes the memory of an idle contender. While
// one contender is idle, another is measured, which a check disturbs.
const idleEvery = 5

// watchLimits enforces the deadline and the memory limit of the contender until Close. One slow ticker
// costs less than a timer per request.
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

// inspectOnce checks the limits once, and ends the trial if one is exceeded or the context of the
// request has been cancelled. It checks the memory of an idle contender only if checkIdle is true.
func (p *Process) inspectOnce(now time.Time, checkIdle bool) {
	// The context is read under the lock: its caller may cancel it as soon as finishCall has ended the
	// request, which is not a cancellation of the request.
	p.mu.Lock()
	c, failed := p.call, p.failure != nil
	isIdle := c.ctx == nil
	var ctxErr error
	if !isIdle {
		ctxErr = c.ctx.Err()
	}
	p.mu.Unlock()
	if failed {
		return
	}
	if err := p.callError(c, ctxErr, now); err != nil {
		_ = p.failWith(err)
		return
	}
	isLimitedByKernel := p.capped
	if isLimitedByKernel || isIdle && !checkIdle {
		return
	}
	if resident := p.residentBytes(); resident > p.spec.MemoryLimit {
		_ = p.failWith(trialError(tare.ErrMemory, "held %s of memory, the limit is %s", formatSize(resident), formatSize(p.spec.MemoryLimit)))
	}
}

// callError returns the error of a request that is late or cancelled, or nil. ctxErr is the error of its context.
func (p *Process) callError(c pendingCall, ctxErr error, now time.Time) error {
	isLate := errors.Is(ctxErr, context.DeadlineExceeded) || !c.deadline.IsZero() && now.After(c.deadline)
	switch {
	case isLate:
		select {
		case <-p.exited: // it has ended, but a process that it started still has the connection open
			return p.exitError(c.op)
		default:
			return c.lateError()
		}
	case ctxErr != nil:
		return p.cancelError(context.Cause(c.ctx))
	}
	return nil
}

// residentBytes returns the resident memory of the process tree in bytes, or 0 if it is unknown. Pages
// that processes of the tree share count once per process.
func (p *Process) residentBytes() int64 {
	var sum int64
	for _, pid := range p.PIDs() {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// listTree lists a process and its descendants. It does not find descendants whose parent has ended,
// which a control group does.
func listTree(pid int) []int {
	const maxParents = 1000 // processes whose children are listed: a bound for a tree that forks forever
	pids := []int{pid}
	for i := 0; i < min(len(pids), maxParents); i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
