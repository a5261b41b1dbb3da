package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// A contender (the program to measure) that exceeds the deadline of a request or its memory limit is ended
// here.

// watchEvery is the interval of checks. It determines how soon an exceeded limit is noticed.
const watchEvery = 100 * time.Millisecond

// idleEvery is the number of checks between two of an idle contender's memory. Meanwhile another contender is
// measured, which a check disturbs.
const idleEvery = 5

// watchLimits enforces the deadline and the memory limit until Close. One slow ticker costs less than a timer
// per request.
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

// inspectOnce ends the trial if a limit is exceeded or a request is cancelled. It checks the memory of an idle
// contender only if checkIdle.
func (p *Process) inspectOnce(now time.Time, checkIdle bool) {
	// Reading the context needs the lock. Its caller may cancel it after finishCall, which does not cancel the
	// request.
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

// callError returns the error of a request that is late or cancelled. ctxErr is the error of its context.
func (p *Process) callError(c pendingCall, ctxErr error, now time.Time) error {
	isLate := errors.Is(ctxErr, context.DeadlineExceeded) || !c.deadline.IsZero() && now.After(c.deadline)
	switch {
	case isLate:
		select {
		case <-p.exited: // its child may still have the connection open
			return p.exitError(c.op)
		default:
			return c.lateError()
		}
	case ctxErr != nil:
		return p.cancelError(context.Cause(c.ctx))
	}
	return nil
}

// residentBytes returns the resident memory of the process tree in bytes, or 0 if unknown. Shared pages count
// once per process.
func (p *Process) residentBytes() int64 {
	var sum int64
	for _, pid := range p.PIDs() {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// listTree lists a process and its descendants. It misses descendants whose parent has ended.
func listTree(pid int) []int {
	const maxParents = 1000 // bounds the work for a tree that forks forever
	pids := []int{pid}
	for i := 0; i < min(len(pids), maxParents); i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
