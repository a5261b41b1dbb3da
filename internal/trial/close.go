package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
)

// This file ends a contender, a measured program, together with all processes that it has started.

// endLimit is the longest wait for the end of a killed process tree. Only a process stuck in the kernel needs
// longer.
const endLimit = 5 * time.Second

// Close sends the request bye and waits for the end of the process. It kills the process after 5 s,
// or when ctx ends, and then all processes that it has left. It returns the evidence: facts about the
// process, such as its CPU time. A second call returns the same evidence.
func (p *Process) Close(ctx context.Context) tare.Evidence {
	p.closing.Do(func() { p.endProcess(ctx) })
	return p.currentEvidence()
}

// endProcess does the work of Close. After a kill it waits at most twice endLimit for the processes.
func (p *Process) endProcess(ctx context.Context) {
	if !p.calls.TryLock() { // a caller waits in Do, and a failure ends its wait
		_ = p.failWith(closedError())
		p.calls.Lock()
	}
	byeSent := p.byeSent
	p.calls.Unlock()

	ctx, cancel := context.WithTimeout(ctx, Deadline(wire.OpBye, 0))
	defer cancel()
	if !byeSent {
		// The reply does not matter, because the process is ended below in any case.
		_, _ = p.Do(ctx, wire.Request{Op: wire.OpBye})
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.link.closeRequests()
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.killAll()
	}
	select {
	case <-p.ended:
	case <-time.After(2 * endLimit):
	}
	close(p.stop)
	<-p.watched
	p.output.awaitEnd(time.Second)
	p.output.closeOurEnds()
	p.link.close()
	if p.group != nil {
		_ = p.group.Remove() // an empty group is harmless
	}
	p.spec.Guardian.Gone(p.pid)
	p.recordEnd()
}

func closedError() error { return trialError(tare.ErrExit, "the trial is closed") }

func (p *Process) currentEvidence() tare.Evidence {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.evidence
}

// recordLive records the evidence that can only be read while the process is alive.
func (p *Process) recordLive() {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	if reaped {
		return
	}
	wait, _ := machine.RunQueueWait(p.pid)
	rss, _ := machine.PeakResident(p.pid)
	affinity := machine.Allowed(p.pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait > 0 {
		p.evidence.RunQueueNS = wait.Nanoseconds()
	}
	if rss > 0 {
		p.evidence.MaxRSSBytes = rss
	}
	if affinity != "" {
		p.evidence.Affinity = affinity
	}
}

func (p *Process) recordEnd() {
	stdout, _ := p.output.stdout.sizeAndTail()
	stderr, tail := p.output.stderr.sizeAndTail()
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &p.evidence
	e.StdoutBytes, e.StderrBytes, e.StderrTail = stdout, stderr, tail
	select {
	case <-p.exited:
		if p.state == nil {
			return
		}
	default:
		return // not even SIGKILL has ended it yet
	}
	e.CPUSeconds = (p.state.UserTime() + p.state.SystemTime()).Seconds()
	if e.MaxRSSBytes == 0 {
		e.MaxRSSBytes = maxRSS(p.state)
	}
}

// awaitEnd waits for the end of the process and then kills the processes that it has left.
func (p *Process) awaitEnd() {
	defer close(p.ended)
	defer p.link.stopAccepting()
	var leftovers []int // living processes that the process has left
	if awaitExit(p.pid) {
		// The process is not reaped yet. So no other process can have its number, or its group's.
		leftovers = p.findSurvivors()
		p.mu.Lock()
		killGroup(p.pid)
		p.reaped = true
		p.mu.Unlock()
		p.state, _ = p.cmd.Process.Wait()
	} else {
		p.state, _ = p.cmd.Process.Wait()
		p.mu.Lock()
		p.reaped = true
		if killOrphans(p.pid) {
			p.evidence.KilledGroup = true
		}
		p.mu.Unlock()
	}
	close(p.exited)
	if len(leftovers) == 0 {
		return
	}
	p.mu.Lock()
	p.evidence.KilledGroup = true
	p.mu.Unlock()
	end := time.Now().Add(endLimit)
	for len(leftovers) > 0 && time.Now().Before(end) {
		if p.group != nil {
			_ = p.group.Kill()
		}
		for _, pid := range leftovers {
			killTagged(pid, p.envTags())
		}
		time.Sleep(2 * time.Millisecond)
		leftovers = p.findSurvivors()
	}
}

// killAll kills the process, its process group and its control group. awaitEnd kills descendants
// outside these groups when the process has ended.
func (p *Process) killAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.evidence.KilledGroup = true
	killGroup(p.pid)
	if p.group != nil {
		_ = p.group.Kill()
	}
}

// findSurvivors returns the pids of the trial's other live processes.
func (p *Process) findSurvivors() []int {
	pids := findTagged(p.envTags())
	if p.group != nil {
		groupPIDs, _ := p.group.Procs()
		pids = append(pids, groupPIDs...)
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == p.pid })
}

// groupPrefix returns how the names of a run's control groups begin, e.g. "tare-4f6.". No other run
// has groups with this prefix.
func groupPrefix(run string) string {
	var b strings.Builder
	b.WriteString("tare-")
	for _, c := range []byte(run) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String() + "."
}
