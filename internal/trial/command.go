package trial

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/tarebench/tare"
)

// Command is a program that runs as it is: it does not speak the protocol, and
// is told by a signal to end. Everything else is as with a Process: its output
// is read and counted, its memory limited, and what it started ends with it.
type Command struct{ process *Process }

// StartCommand starts a program that does not speak the protocol. The error is
// a *tare.TrialError of class start, or ctx's own.
func StartCommand(ctx context.Context, spec Spec) (*Command, error) {
	l := &mute{over: make(chan struct{})}
	p, err := start(ctx, spec, l)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.tell = p.terminate
	l.mu.Unlock()
	return &Command{p}, nil
}

// PID is the process's number.
func (c *Command) PID() int { return c.process.PID() }

// ID is the trial's tag.
func (c *Command) ID() string { return c.process.ID() }

// Exited is closed when the process has ended.
func (c *Command) Exited() <-chan struct{} { return c.process.Exited() }

// Lost says what ended the trial, nil while it goes on.
func (c *Command) Lost(doing string) error { return c.process.Lost(doing) }

// Output is the end of what the program has written to stdout, once it has ended. The
// error is Lost's, nil where the program ended well by itself.
func (c *Command) Output(doing string) (string, error) {
	p := c.process
	<-p.exited
	p.output.settle(endLimit)
	_, text := p.output.stdout.read()
	p.mu.Lock()
	err := p.failure
	p.mu.Unlock()
	if err == nil && p.state != nil && p.state.Success() {
		return text, nil
	}
	return text, p.Lost(doing)
}

// Printed is how many bytes the program has written to stdout and stderr so
// far.
func (c *Command) Printed() int64 { return c.process.Printed() }

// PIDs lists the processes of the trial that are alive now.
func (c *Command) PIDs() []int { return c.process.PIDs() }

// Close asks the program to end (SIGTERM, to its whole group), ends it if it
// has not within 5 s or when ctx ends, and ends whatever it has left. A second
// call returns the same evidence.
func (c *Command) Close(ctx context.Context) tare.Evidence { return c.process.Close(ctx) }

// terminate asks the process group to end.
func (p *Process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		terminateGroup(p.pid)
	}
}

// mute is the link to a program that has none. What is written to it, which is
// the request to end, is told by a signal; reading waits for the end.
type mute struct {
	mu   sync.Mutex
	tell func()
	once sync.Once
	over chan struct{}
}

func (m *mute) Read([]byte) (int, error) {
	<-m.over
	return 0, io.EOF
}

func (m *mute) Write(b []byte) (int, error) {
	m.mu.Lock()
	tell := m.tell
	m.mu.Unlock()
	if tell != nil {
		tell()
	}
	return len(b), nil
}

func (m *mute) end()              { m.once.Do(func() { close(m.over) }) }
func (m *mute) name() string      { return "" }
func (m *mute) files() []*os.File { return nil }
func (m *mute) started()          {}
func (m *mute) interrupt()        { m.end() }
func (m *mute) hangUp()           {}
func (m *mute) deserted()         { m.end() }
func (m *mute) close()            { m.end() }
