package trial

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

var _ Conn = (*Process)(nil)

// Process is a Conn to a separate program, started by Start.
type Process struct {
	spec   Spec
	id     string
	cmd    *exec.Cmd
	pid    int
	link   link
	in     *wire.Reader
	out    *wire.Writer
	output *output
	group  *machine.Cgroup // nil if none could be made
	capped bool            // the kernel enforces the memory limit

	closing sync.Once
	calls   sync.Mutex // one request at a time
	last    int64      // id of the last request
	bye     bool       // it was sent bye

	mu       sync.Mutex  // what follows is shared with the goroutines below
	call     pendingCall // the request being waited for
	failure  error       // what ended the trial; the first counts
	reaped   bool        // the process number is no longer ours
	closed   bool
	evidence tare.Evidence

	state   *os.ProcessState // valid once exited is closed
	exited  chan struct{}    // the process has ended and was reaped
	ended   chan struct{}    // nothing it started is left either
	stop    chan struct{}    // the watch may go home
	watched chan struct{}    // it has
}

// pendingCall is a request that waits for its reply.
type pendingCall struct {
	ctx      context.Context // nil if no request is in flight
	op       string
	began    time.Time
	deadline time.Time // zero means none
}

// Start starts a contender. The error is a *tare.TrialError of class start,
// or ctx's own.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	l, err := newLink()
	if err != nil {
		return nil, startError(err)
	}
	return startProcess(ctx, spec, l)
}

func startProcess(ctx context.Context, spec Spec, l link) (*Process, error) {
	if spec.Name == "" {
		spec.Name = filepath.Base(spec.Path)
	}
	if spec.MemoryLimit <= 0 {
		spec.MemoryLimit = DefaultMemoryLimit
	}
	if spec.OutputLimit <= 0 {
		spec.OutputLimit = DefaultOutputLimit
	}
	// All ids have the same length, so that no contender's stack starts
	// elsewhere because its environment is longer.
	id := rand.Text()[:12]
	if spec.Run == "" {
		spec.Run = id
	}
	p := &Process{
		spec: spec, id: id, link: l, in: wire.NewReader(l), out: wire.NewWriter(l),
		exited: make(chan struct{}), ended: make(chan struct{}),
		stop: make(chan struct{}), watched: make(chan struct{}),
	}
	if err := context.Cause(ctx); err != nil {
		l.close()
		return nil, p.cancelError(err)
	}
	if err := p.startInGroup(); err != nil {
		l.close()
		return nil, startError(err)
	}
	go p.awaitEnd()
	go p.watchLimits()
	return p, nil
}

// startInGroup starts the program, in a separate control group if possible.
func (p *Process) startInGroup() (err error) {
	if strings.ContainsRune(p.spec.Path, filepath.Separator) {
		// A relative path is the caller's, not one below Dir.
		if p.spec.Path, err = filepath.Abs(p.spec.Path); err != nil {
			return err
		}
	}
	if p.output, err = newOutput(p.spec.Terminal); err != nil {
		return err
	}
	defer p.output.closeChildEnds()
	p.output.stdout.tailSize = max(tailBytes, p.spec.Stdout)
	if group, err := p.newGroup(); err == nil {
		p.group = group
		p.capped = group.MemoryMax(p.spec.MemoryLimit) == nil
		if err = p.execProgram(); err == nil {
			return nil
		}
		p.group, p.capped = nil, false
		_ = group.Remove()
	}
	// Without a group the tree is still found by its tags.
	if err := p.execProgram(); err != nil {
		p.output.closeOurEnds()
		return err
	}
	return nil
}

func (p *Process) newGroup() (*machine.Cgroup, error) {
	if p.spec.ungrouped {
		return nil, errors.ErrUnsupported
	}
	return machine.NewCgroup(groupPrefix(p.spec.Run) + p.id)
}

func (p *Process) execProgram() error {
	cmd := exec.Command(p.spec.Path, p.spec.Args...)
	cmd.Dir = p.spec.Dir
	cmd.Env = append(makeEnv(os.Environ(), p.spec.Env), append(p.envTags(), wire.EnvWire+"="+p.link.address())...)
	cmd.Stdout, cmd.Stderr = p.output.stdout.child, p.output.stderr.child
	cmd.ExtraFiles = p.link.inheritedFiles()
	cmd.SysProcAttr = newGroupAttr(p.group)
	run := cmd.Start
	if p.spec.CPUs != nil {
		run = func() error { return machine.Pinned(p.spec.CPUs, cmd.Start) }
	}
	if err := run(); err != nil {
		return err
	}
	p.cmd, p.pid = cmd, cmd.Process.Pid
	p.evidence.PID = p.pid
	p.link.closeChildEnds()
	p.spec.Guardian.Group(p.pid)
	p.output.readAll(p.spec.OutputLimit, func() {
		_ = p.failWith(trialError(tare.ErrOutput, "wrote more than %s to stdout and stderr", formatSize(p.spec.OutputLimit)))
	})
	return nil
}

// ID returns the trial's tag, in the environment of everything it started.
func (p *Process) ID() string { return p.id }

// PID returns the contender's process number.
func (p *Process) PID() int { return p.pid }

// envTags returns the variables that mark every process of this trial.
func (p *Process) envTags() []string {
	return []string{EnvRun + "=" + p.spec.Run, EnvTrial + "=" + p.id}
}

// Do sends q and waits for its reply until ctx's deadline. The id is filled
// in. It is one write and one read: the waiting is watched from outside.
func (p *Process) Do(ctx context.Context, q wire.Request) (wire.Reply, error) {
	p.calls.Lock()
	defer p.calls.Unlock()
	if q.Op == wire.OpBye {
		p.bye = true
		p.recordLive()
	}
	p.last++
	q.ID = p.last
	if err := p.beginCall(ctx, q.Op); err != nil {
		return wire.Reply{}, err
	}
	err := p.out.Request(q)
	var a wire.Reply
	if err == nil {
		a, err = p.in.Reply()
	}
	late, failure := p.finishCall()
	switch {
	case failure != nil:
		return wire.Reply{}, failure
	case err != nil:
		return wire.Reply{}, p.wireError(q.Op, err)
	case late != nil:
		return wire.Reply{}, p.failWith(late)
	case a.ID != q.ID:
		return wire.Reply{}, p.failWith(trialError(tare.ErrProtocol, "answered %s, which is request %d, with the id %d", q.Op, q.ID, a.ID))
	case a.Error != nil:
		return a, trialError(tare.ErrContender, "%s: %s", q.Op, format.Line(a.Error.Error(), format.LineLimit))
	}
	if q.Op == wire.OpHello {
		p.mu.Lock()
		p.evidence.Go, p.evidence.GOMAXPROCS = a.Go, a.GOMAXPROCS
		p.mu.Unlock()
	}
	return a, nil
}

// beginCall puts the request under watch.
func (p *Process) beginCall(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return p.failWith(p.cancelError(context.Cause(ctx)))
	}
	c := pendingCall{ctx: ctx, op: op, began: time.Now()}
	c.deadline, _ = ctx.Deadline()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failure != nil:
		return p.failure
	case p.closed:
		return errClosed()
	}
	p.call = c
	return nil
}

// finishCall takes the request off the watch. late is set if the reply came after the deadline.
func (p *Process) finishCall() (late, failure error) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.call
	p.call = pendingCall{}
	if !c.deadline.IsZero() && now.After(c.deadline) {
		late = c.lateError()
	}
	return late, p.failure
}

func (c pendingCall) lateError() error {
	limit := c.deadline.Sub(c.began)
	var limited *LimitError
	if errors.As(context.Cause(c.ctx), &limited) { // a busy machine began to count later
		limit = limited.Limit
	}
	return trialError(tare.ErrDeadline, "no answer to %s within %s", c.op, format.Seconds(limit))
}

// exitNotice is the maximum time of a busy kernel to report the end of a process whose files are
// closed already.
const exitNotice = 5 * time.Second

// wireError returns why the wire gave no reply.
func (p *Process) wireError(op string, err error) error {
	var bad *wire.LineError
	if errors.As(err, &bad) {
		return p.failWith(trialError(tare.ErrProtocol, "%s answered with %s", op, bad))
	}
	// The wire was closed. Usually that is the process ending, which the
	// kernel reports a moment later.
	select {
	case <-p.exited:
		if op == wire.OpBye && errors.Is(err, io.EOF) && p.state != nil && p.state.Success() {
			return nil
		}
		return p.failWith(p.exitError(op))
	case <-time.After(exitNotice):
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return p.failWith(trialError(tare.ErrProtocol, "closed the wire in the middle of its answer to %s", op))
	}
	return p.failWith(trialError(tare.ErrProtocol, "closed the wire instead of answering %s", op))
}

// exitError returns how the process ended.
func (p *Process) exitError(op string) error {
	if p.group != nil && p.group.OutOfMemory() {
		return trialError(tare.ErrMemory, "ended by the kernel for holding more than %s", formatSize(p.spec.MemoryLimit))
	}
	p.output.awaitEnd(200 * time.Millisecond)
	message := fmt.Sprintf("ended during %s with %s", op, p.state)
	if line := p.output.likelyCause(); line != "" {
		message += ": " + line
	}
	return &tare.TrialError{Class: tare.ErrExit, Message: message}
}

// failWith ends the trial because of err, unless it has failed before, and returns the first error.
func (p *Process) failWith(err error) error {
	p.mu.Lock()
	first := p.failure == nil
	if first {
		p.failure = err
	}
	err = p.failure
	p.mu.Unlock()
	if first {
		p.recordLive()
		p.killAll()
		p.link.unblock()
	}
	return err
}

func (p *Process) cancelError(cause error) error {
	return fmt.Errorf("trial of %s: %w", p.spec.Name, cause)
}

func startError(err error) error {
	return trialError(tare.ErrStart, "%s", format.Line(err.Error(), format.LineLimit))
}

func trialError(class, format string, args ...any) *tare.TrialError {
	return &tare.TrialError{Class: class, Message: fmt.Sprintf(format, args...)}
}
