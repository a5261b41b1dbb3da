package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// This file ends a trial if its contender, the measured program, exceeds the deadline of a request or
// the memory limit. For example, a contender that needs 2.1 GiB of 2 GiB is killed within 100 ms.

// watchEvery is the interval between checks. It only determines how soon an exceeded limit is noticed.
const watchEvery = 100 * time.Millisecond

// idleEvery is the number of checks of which one reads the memory of an idle contender. While one
// contender is idle, another one is measured, and reading would disturb it.
const idleEvery = 5

// watchLimits enforces the deadline and the memory limit until Close. One slow ticker costs less than
// a timer per request.
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

// inspectOnce checks the limits once and ends the trial if one is exceeded. It checks the memory of an
// idle contender, one without a request, only if checkIdle is true.
func (p *Process) inspectOnce(now time.Time, checkIdle bool) {
	// The context is read under the lock. After finishCall its caller may cancel it, and that must not
	// look like a cancelled request.
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

// callError returns the error of a late or cancelled request, or nil. ctxErr is the error of the
// request's context.
func (p *Process) callError(c pendingCall, ctxErr error, now time.Time) error {
	isLate := errors.Is(ctxErr, context.DeadlineExceeded) || !c.deadline.IsZero() && now.After(c.deadline)
	switch {
	case isLate:
		select {
		case <-p.exited: // a process that it started may still have the connection open
			return p.exitError(c.op)
		default:
			return c.lateError()
		}
	case ctxErr != nil:
		return p.cancelError(context.Cause(c.ctx))
	}
	return nil
}

// residentBytes returns the resident memory of the process tree in bytes, or 0 if unknown. Pages that
// processes share count once per process.
func (p *Process) residentBytes() int64 {
	var sum int64
	for _, pid := range p.PIDs() {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// listTree lists a process and its descendants. It does not find descendants whose parent has ended.
func listTree(pid int) []int {
	const maxParents = 1000 // bounds the work for a tree that forks forever
	pids := []int{pid}
	for i := 0; i < min(len(pids), maxParents); i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
