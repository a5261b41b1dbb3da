package trial

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/tarebench/tare"
)

// Command is a program that runs unchanged: it does not speak the protocol, and ends on a signal.
// Everything else is as with a Process: its output is read and counted, its memory limited, and the
// processes it started end with it.
type Command struct{ process *Process }

// StartCommand starts a program that does not speak the protocol. The error is
// a *tare.TrialError of class start, or ctx's own.
func StartCommand(ctx context.Context, spec Spec) (*Command, error) {
	l := &noLink{over: make(chan struct{})}
	p, err := startProcess(ctx, spec, l)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.tell = p.requestEnd
	l.mu.Unlock()
	return &Command{p}, nil
}

// PID returns the process's number.
func (c *Command) PID() int { return c.process.PID() }

// ID returns the trial's tag.
func (c *Command) ID() string { return c.process.ID() }

// Exited returns a channel that is closed when the process has ended.
func (c *Command) Exited() <-chan struct{} { return c.process.Exited() }

// Lost returns the error that ended the trial, or nil while it runs.
func (c *Command) Lost(doing string) error { return c.process.Lost(doing) }

// Output returns the end of the program's output on stdout, once it has ended. The error is that of
// Lost, or nil if the program succeeded by itself.
func (c *Command) Output(doing string) (string, error) {
	p := c.process
	<-p.exited
	p.output.awaitEnd(endLimit)
	_, text := p.output.stdout.sizeAndTail()
	p.mu.Lock()
	err := p.failure
	p.mu.Unlock()
	if err == nil && p.state != nil && p.state.Success() {
		return text, nil
	}
	return text, p.Lost(doing)
}

// Printed returns the number of bytes that the program has written to stdout and stderr so far.
func (c *Command) Printed() int64 { return c.process.Printed() }

// PIDs lists the processes of the trial that are alive now.
func (c *Command) PIDs() []int { return c.process.PIDs() }

// Close asks the program to end (SIGTERM, to its whole group), ends it if it
// has not within 5 s or when ctx ends, and ends whatever it has left. A second
// call returns the same evidence.
func (c *Command) Close(ctx context.Context) tare.Evidence { return c.process.Close(ctx) }

// requestEnd asks the process group to end.
func (p *Process) requestEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		terminateGroup(p.pid)
	}
}

// noLink is the link to a program that speaks no protocol. A write, which is the request to end,
// sends a signal; reads wait for the end.
type noLink struct {
	mu   sync.Mutex
	tell func()
	once sync.Once
	over chan struct{}
}

func (m *noLink) Read([]byte) (int, error) {
	<-m.over
	return 0, io.EOF
}

func (m *noLink) Write(b []byte) (int, error) {
	m.mu.Lock()
	tell := m.tell
	m.mu.Unlock()
	if tell != nil {
		tell()
	}
	return len(b), nil
}

func (m *noLink) endOnce()                   { m.once.Do(func() { close(m.over) }) }
func (m *noLink) address() string            { return "" }
func (m *noLink) inheritedFiles() []*os.File { return nil }
func (m *noLink) closeChildEnds()            {}
func (m *noLink) unblock()                   { m.endOnce() }
func (m *noLink) closeRequests()             {}
func (m *noLink) stopAccepting()             { m.endOnce() }
func (m *noLink) close()                     { m.endOnce() }
