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

// Process is a Conn to a contender, a program to measure, that Start has started. watchLimits ends its
// trial if it exceeds a limit, and awaitEnd waits for its end; both run in goroutines of their own.
type Process struct {
	spec     Spec
	id       string
	cmd      *exec.Cmd
	pid      int
	link     link
	replies  *wire.Reader
	requests *wire.Writer
	output   *output
	group    *machine.Cgroup // control group; nil if none could be made
	capped   bool            // the kernel enforces the memory limit

	closing sync.Once
	calls   sync.Mutex // one request at a time
	lastID  int64      // id of the last request
	byeSent bool       // a request to end was sent

	mu       sync.Mutex  // protects the fields below up to evidence, which goroutines share
	call     pendingCall // request in flight
	failure  error       // first failure, which ended the trial; nil while it runs
	reaped   bool        // the process number may belong to another process now
	closed   bool        // Close was called
	evidence tare.Evidence

	state   *os.ProcessState // valid once exited is closed
	exited  chan struct{}    // closed when the process has ended and was reaped
	ended   chan struct{}    // closed when the processes that it started have ended too, or after endLimit
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

// startProcess starts the program of spec with link l to it, and the goroutines that wait for its end
// and watch its limits.
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
	// All ids have the same length: the length of the environment shifts the stack, which can change
	// measurements.
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

// startInGroup starts the program, in a separate control group if possible.
func (p *Process) startInGroup() (err error) {
	if strings.ContainsRune(p.spec.Path, filepath.Separator) {
		// A relative path is relative to the working directory of the caller, not to Dir.
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
		p.group, p.capped = nil, false // the kernel may not permit to start a process in the group
		_ = group.Remove()
	}
	// Without a control group, the process tree can still be found by its tags.
	if err := p.execProgram(); err != nil {
		p.output.closeOurEnds()
		return err
	}
	return nil
}

// newGroup makes the control group of the trial. The error is ignored: not every system permits one.
func (p *Process) newGroup() (*machine.Cgroup, error) {
	if p.spec.ungrouped {
		return nil, errors.ErrUnsupported
	}
	return machine.NewCgroup(groupPrefix(p.spec.Run) + p.id)
}

// execProgram starts the program, in the control group if there is one, and starts to read its output.
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

// Do sends request, whose ID it sets, and waits for the reply until the deadline of ctx. It only writes
// and reads: watchLimits ends the wait when the deadline has passed.
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

// beginCall makes op the request in flight, whose deadline watchLimits enforces. It returns an error if
// the trial has failed or is closed, or if ctx has ended.
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

// finishCall ends the request in flight. lateErr is not nil if the reply came after the deadline;
// failure is the failure of the trial so far.
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

// lateError returns the error of a request without a reply before the deadline.
func (c pendingCall) lateError() error {
	limit := c.deadline.Sub(c.began)
	var limited *LimitError
	if errors.As(context.Cause(c.ctx), &limited) { // the limit as set; c.began may be later than its start
		limit = limited.Limit
	}
	return trialError(tare.ErrDeadline, "no answer to %s within %s", c.op, format.Seconds(limit))
}

// exitNotice is the longest time to wait until a busy kernel reports the end of a process whose files
// are closed already.
const exitNotice = 5 * time.Second

// wireError ends the trial because of err, which writing op or reading its reply returned, and returns
// the failure. It returns nil if op is bye and the process has ended successfully.
func (p *Process) wireError(op string, err error) error {
	var bad *wire.LineError
	if errors.As(err, &bad) {
		return p.failWith(trialError(tare.ErrProtocol, "%s answered with %s", op, bad))
	}
	// The wire was closed. Usually the process has ended, which the kernel reports a moment later.
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

// hasSucceeded reports whether the process ended with status 0. It must not be called before p.exited
// is closed.
func (p *Process) hasSucceeded() bool { return p.state != nil && p.state.Success() }

// exitError returns the error for a process that has ended during op, with the likely cause.
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

// failWith ends the trial with the failure err, unless it has failed before, and returns the first
// failure.
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

// cancelError returns the error of a trial whose context has ended with cause.
func (p *Process) cancelError(cause error) error {
	return fmt.Errorf("trial of %s: %w", p.spec.Name, cause)
}

// startError returns err as a TrialError of class start, in one line.
func startError(err error) error {
	return trialError(tare.ErrStart, "%s", format.Line(err.Error(), format.LineLimit))
}

func trialError(class, format string, args ...any) *tare.TrialError {
	return &tare.TrialError{Class: class, Message: fmt.Sprintf(format, args...)}
}
