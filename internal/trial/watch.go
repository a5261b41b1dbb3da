package trial

import (
	"context"
	"errors"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/machine"
)

// A contender (the program to measure) is ended if it exceeds the deadline of a request or its memory limit.

// watchEvery determines how soon an exceeded limit is noticed.
const watchEvery = 100 * time.Millisecond

// idleEvery is the interval at which an idle contender's memory is read. Meanwhile another contender is measured, which a
// check disturbs.
const idleEvery = 5

// watchLimits uses one slow ticker, cheaper than a timer per request.
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

// inspectOnce checks an idle contender's memory only if checkIdle.
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

// callError returns nil unless a request is late or cancelled. ctxErr is the error of its context.
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

// residentBytes counts shared pages once per process. 0 means unknown.
func (p *Process) residentBytes() int64 {
	var sum int64
	for _, pid := range p.PIDs() {
		n, _ := machine.Resident(pid)
		sum += n
	}
	return sum
}

// listTree misses descendants whose parent has ended.
func listTree(pid int) []int {
	const maxParents = 1000 // bounds the work for a tree that forks forever
	pids := []int{pid}
	for i := 0; i < min(len(pids), maxParents); i++ {
		children, _ := machine.Children(pids[i])
		pids = append(pids, children...)
	}
	return pids
}
