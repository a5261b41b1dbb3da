package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
)

// endLimit is the maximum time to end a process tree after everything in it was killed. Only a
// process stuck inside the kernel needs longer.
const endLimit = 5 * time.Second

// Close sends bye to the contender, ends it if it has not within 5 s (or when ctx ends, if that is
// sooner), and ends whatever it has left. A second call returns the same evidence.
func (p *Process) Close(ctx context.Context) tare.Evidence {
	p.closing.Do(func() { p.endProcess(ctx) })
	return p.currentEvidence()
}

func (p *Process) endProcess(ctx context.Context) {
	if !p.calls.TryLock() { // a caller waits for a reply that is no longer wanted
		_ = p.failWith(errClosed())
		p.calls.Lock()
	}
	bye := p.bye
	p.calls.Unlock()

	ctx, cancel := context.WithTimeout(ctx, Deadline(wire.OpBye, 0))
	defer cancel()
	if !bye {
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
		_ = p.group.Remove() // one that cannot be removed is empty, and harmless
	}
	p.spec.Guardian.Gone(p.pid)
	p.recordEnd()
}

func errClosed() error { return trialError(tare.ErrExit, "the trial is closed") }

func (p *Process) currentEvidence() tare.Evidence {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.evidence
}

// recordLive records what can only be read while the process lives.
func (p *Process) recordLive() {
	p.mu.Lock()
	gone := p.reaped
	p.mu.Unlock()
	if gone {
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

// recordEnd records what is known once the process has ended.
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
		return // it would not die
	}
	e.CPUSeconds = (p.state.UserTime() + p.state.SystemTime()).Seconds()
	if e.MaxRSSBytes == 0 {
		e.MaxRSSBytes = maxRSS(p.state)
	}
}

// awaitEnd waits for the end of the process and then ends what it has left.
func (p *Process) awaitEnd() {
	defer close(p.ended)
	defer p.link.stopAccepting()
	var left []int
	if awaitExit(p.pid) {
		// The process is dead but was not reaped, so its number is still taken and its group's
		// cannot belong to other processes.
		left = p.survivors()
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
	if len(left) == 0 {
		return
	}
	p.mu.Lock()
	p.evidence.KilledGroup = true
	p.mu.Unlock()
	for end := time.Now().Add(endLimit); len(left) > 0 && time.Now().Before(end); left = p.survivors() {
		if p.group != nil {
			_ = p.group.Kill()
		}
		for _, pid := range left {
			killTagged(pid, p.envTags())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// killAll ends the process, its group and its control group. Descendants outside of all these are
// found when the process has ended.
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

// survivors returns the pids of the trial's other live processes, found by tag and by control
// group.
func (p *Process) survivors() []int {
	pids := findTagged(p.envTags())
	if p.group != nil {
		in, _ := p.group.Procs()
		pids = append(pids, in...)
	}
	others := pids[:0]
	for _, pid := range pids {
		if pid != p.pid {
			others = append(others, pid)
		}
	}
	return others
}

// groupPrefix returns the prefix of the names of a run's control groups. No other run's begin like
// it, whatever the tags.
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
