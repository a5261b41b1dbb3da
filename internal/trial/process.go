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

// Process is a running contender, the program to measure. Two goroutines belong to it: watchLimits enforces
// limits, and awaitEnd waits for its end.
type Process struct {
	spec     Spec
	id       string
	cmd      *exec.Cmd
	pid      int
	link     link
	replies  *wire.Reader
	requests *wire.Writer
	output   *output
	group    *machine.Cgroup // nil if none could be made
	capped   bool            // the kernel enforces the memory limit

	closing sync.Once
	calls   sync.Mutex // lets one request at a time use the fields up to byeSent
	lastID  int64      // of the last request
	byeSent bool       // the request to end was sent

	mu       sync.Mutex  // protects the fields below, up to evidence
	call     pendingCall // request in flight
	failure  error       // first failure, which ended the trial; nil while it runs
	reaped   bool        // another process may have the number now
	closed   bool        // Close was called
	evidence tare.Evidence

	state   *os.ProcessState // valid once exited is closed
	exited  chan struct{}    // closed when the process is reaped
	ended   chan struct{}    // closed when its children have ended too, or after endLimit
	stop    chan struct{}    // closed to stop watchLimits
	watched chan struct{}    // closed when watchLimits has stopped
}

// pendingCall is a request that waits for its reply.
type pendingCall struct {
	ctx      context.Context // nil if no request is in flight
	op       string
	began    time.Time
	deadline time.Time // zero means none
}

// Start starts a contender. The error is a *tare.TrialError of class start, or wraps the cause of ctx.
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
	// All ids have the same length, because the length of the environment shifts the stack. That can
	// change measurements.
	id := rand.Text()[:12]
	if spec.Run == "" {
		spec.Run = id
	}
	p := &Process{
		spec: spec, id: id, link: l, replies: wire.NewReader(l), requests: wire.NewWriter(l),
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

func (p *Process) startInGroup() (err error) {
	if strings.ContainsRune(p.spec.Path, filepath.Separator) {
		// Dir is not the directory to which a relative path of the caller is relative.
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
		if p.execProgram() == nil {
			return nil
		}
		p.group, p.capped = nil, false // the kernel may not allow processes in it
		_ = group.Remove()
	}
	// Without a control group, the process tree can still be found by its tags.
	if err := p.execProgram(); err != nil {
		p.output.closeOurEnds()
		return err
	}
	return nil
}

// newGroup makes the control group of the trial. It fails on systems that do not permit one.
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
	start := cmd.Start
	if p.spec.CPUs != nil {
		start = func() error { return machine.Pinned(p.spec.CPUs, cmd.Start) }
	}
	if err := start(); err != nil {
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

// ID returns the trial's tag, the value of EnvTrial in the environment of its processes.
func (p *Process) ID() string { return p.id }

// PID returns the contender's process number.
func (p *Process) PID() int { return p.pid }

// envTags returns the variables that mark every process of this trial.
func (p *Process) envTags() []string {
	return []string{EnvRun + "=" + p.spec.Run, EnvTrial + "=" + p.id}
}

// Do sends request, whose ID it sets, and waits for the reply. It has no timer: watchLimits ends the
// wait at the deadline of ctx.
func (p *Process) Do(ctx context.Context, request wire.Request) (wire.Reply, error) {
	p.calls.Lock()
	defer p.calls.Unlock()
	if request.Op == wire.OpBye {
		p.byeSent = true
		p.recordLive()
	}
	p.lastID++
	request.ID = p.lastID
	if err := p.beginCall(ctx, request.Op); err != nil {
		return wire.Reply{}, err
	}
	err := p.requests.Request(request)
	var reply wire.Reply
	if err == nil {
		reply, err = p.replies.Reply()
	}
	lateErr, failure := p.finishCall()
	switch {
	case failure != nil:
		return wire.Reply{}, failure
	case err != nil:
		return wire.Reply{}, p.wireError(request.Op, err)
	case lateErr != nil:
		return wire.Reply{}, p.failWith(lateErr)
	case reply.ID != request.ID:
		return wire.Reply{}, p.failWith(trialError(tare.ErrProtocol, "answered %s, which is request %d, with the id %d", request.Op, request.ID, reply.ID))
	case reply.Error != nil:
		return reply, trialError(tare.ErrContender, "%s: %s", request.Op, format.Line(reply.Error.Error(), format.LineLimit))
	}
	if request.Op == wire.OpHello {
		p.mu.Lock()
		p.evidence.Go, p.evidence.GOMAXPROCS = reply.Go, reply.GOMAXPROCS
		p.mu.Unlock()
	}
	return reply, nil
}

// beginCall makes op the request in flight, whose deadline watchLimits enforces. It fails if the trial
// or ctx has ended.
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
		return closedError()
	}
	p.call = c
	return nil
}

// finishCall ends the request in flight. lateErr is not nil if the reply came too late. failure is the
// failure of the trial, or nil.
func (p *Process) finishCall() (lateErr, failure error) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.call
	p.call = pendingCall{}
	if !c.deadline.IsZero() && now.After(c.deadline) {
		lateErr = c.lateError()
	}
	return lateErr, p.failure
}

func (c pendingCall) lateError() error {
	limit := c.deadline.Sub(c.began)
	var limited *LimitError
	if errors.As(context.Cause(c.ctx), &limited) { // more exact: the limit began a little before c.began
		limit = limited.Limit
	}
	return trialError(tare.ErrDeadline, "no answer to %s within %s", c.op, format.Seconds(limit))
}

// exitNotice is the longest time until a busy kernel reports the end of a process whose files are
// already closed.
const exitNotice = 5 * time.Second

// wireError ends the trial because writing op or reading its reply failed with err. It returns nil if
// op is bye and the process has ended successfully.
func (p *Process) wireError(op string, err error) error {
	var bad *wire.LineError
	if errors.As(err, &bad) {
		return p.failWith(trialError(tare.ErrProtocol, "%s answered with %s", op, bad))
	}
	// The connection was closed. Usually the process has ended, which the kernel reports a moment later.
	select {
	case <-p.exited:
		if op == wire.OpBye && errors.Is(err, io.EOF) && p.hasSucceeded() {
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

// hasSucceeded reports whether the exit status was 0. It must not be called before p.exited is closed.
func (p *Process) hasSucceeded() bool { return p.state != nil && p.state.Success() }

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

// failWith ends the trial with err, unless it has failed before. It returns the first failure.
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
