package trial

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/tarebench/tare"
)

// Command is a program that cannot read requests, such as a server or a compiler. A signal ends it.
// Otherwise it is like a Process: its output is read, its memory is limited, and the processes that
// it started end with it.
type Command struct{ process *Process }

// StartCommand starts a program that cannot read requests. The error is a *tare.TrialError of class
// start, or the error of ctx.
func StartCommand(ctx context.Context, spec Spec) (*Command, error) {
	l := &noLink{ended: make(chan struct{})}
	p, err := startProcess(ctx, spec, l)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.requestEnd = p.requestEnd
	l.mu.Unlock()
	return &Command{p}, nil
}

// PID returns the process's number.
func (c *Command) PID() int { return c.process.PID() }

// ID returns the trial's tag.
func (c *Command) ID() string { return c.process.ID() }

// Exited returns a channel that is closed when the process has ended.
func (c *Command) Exited() <-chan struct{} { return c.process.Exited() }

// Lost returns the error that ended the trial, or nil while the program runs. doing is the activity
// of the program, for the message.
func (c *Command) Lost(doing string) error { return c.process.Lost(doing) }

// AwaitOutput is like Output, but returns the error of ctx if ctx ends before the program.
func (c *Command) AwaitOutput(ctx context.Context, doing string) (string, error) {
	select {
	case <-c.Exited():
		return c.Output(doing)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Output waits for the end of the program and returns the last bytes of its stdout. The error is nil
// if the program succeeded by itself, otherwise the error of Lost.
func (c *Command) Output(doing string) (string, error) {
	p := c.process
	<-p.exited
	p.output.awaitEnd(endLimit)
	_, text := p.output.stdout.sizeAndTail()
	p.mu.Lock()
	err := p.failure
	p.mu.Unlock()
	if err == nil && p.hasSucceeded() {
		return text, nil
	}
	return text, p.Lost(doing)
}

// Printed returns the number of bytes written to stdout and stderr so far.
func (c *Command) Printed() int64 { return c.process.Printed() }

// PIDs lists the processes of the trial that are alive now.
func (c *Command) PIDs() []int { return c.process.PIDs() }

// Close sends SIGTERM to the program's process group. It kills the program after 5 s, or when ctx
// ends, and then all processes that it has left. A second call returns the same evidence.
func (c *Command) Close(ctx context.Context) tare.Evidence { return c.process.Close(ctx) }

func (p *Process) requestEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		terminateGroup(p.pid)
	}
}

// noLink implements link for a program that cannot read requests. Process writes only the request bye
// to it, for which Write sends a signal to end. Read waits for the end of the program.
type noLink struct {
	mu         sync.Mutex
	requestEnd func() // nil before the start
	once       sync.Once
	ended      chan struct{} // closed when the link or the program has ended
}

func (n *noLink) Read([]byte) (int, error) {
	<-n.ended
	return 0, io.EOF
}

func (n *noLink) Write(b []byte) (int, error) {
	n.mu.Lock()
	requestEnd := n.requestEnd
	n.mu.Unlock()
	if requestEnd != nil {
		requestEnd()
	}
	return len(b), nil
}

func (n *noLink) endOnce()                   { n.once.Do(func() { close(n.ended) }) }
func (n *noLink) address() string            { return "" }
func (n *noLink) inheritedFiles() []*os.File { return nil }
func (n *noLink) closeChildEnds()            {}
func (n *noLink) unblock()                   { n.endOnce() }
func (n *noLink) closeRequests()             {}
func (n *noLink) stopAccepting()             { n.endOnce() }
func (n *noLink) close()                     { n.endOnce() }
