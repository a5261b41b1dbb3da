package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// Process is a started contender and both ends of the talk with it.
type Process struct {
	cmd    *exec.Cmd
	stderr stderrTail
	ask    *wire.Writer
	hear   *wire.Reader
	in     io.Closer // closing it is end of file for the contender
	limit  time.Duration
	id     int64
	close  func()
}

// startProcess starts command under a lab, over descriptors if they can be inherited, and
// otherwise, or if socket is set, over a loopback socket.
func startProcess(command []string, socket bool, limit time.Duration) (*Process, error) {
	p := &Process{cmd: exec.Command(command[0], command[1:]...), limit: limit}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	if socket || runtime.GOOS == "windows" {
		return p, p.startSocket()
	}
	return p, p.startPipes()
}

func (p *Process) startWith(spec string) error {
	p.cmd.Env = append(os.Environ(), wire.EnvWire+"="+spec, "GOMAXPROCS=1")
	return p.cmd.Start()
}

func (p *Process) startPipes() error {
	requests, ask, err := os.Pipe()
	if err != nil {
		return err
	}
	defer requests.Close()
	hear, replies, err := os.Pipe()
	if err != nil {
		ask.Close()
		return err
	}
	defer replies.Close()
	p.cmd.ExtraFiles = []*os.File{requests, replies}
	p.ask, p.hear, p.in = wire.NewWriter(ask), wire.NewReader(hear), ask
	p.close = func() { ask.Close(); hear.Close() }
	if err := p.startWith("3,4"); err != nil {
		p.close()
		return err
	}
	return nil
}

func (p *Process) startSocket() error {
	listen, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer listen.Close()
	if err := p.startWith("tcp:" + listen.Addr().String()); err != nil {
		return err
	}
	if err := listen.SetDeadline(time.Now().Add(p.limit)); err != nil {
		return err
	}
	conn, err := listen.AcceptTCP()
	if err != nil {
		p.killNow()
		return fmt.Errorf("the contender does not connect: %w%s", err, p.stderrNote())
	}
	p.ask, p.hear, p.in = wire.NewWriter(conn), wire.NewReader(conn), closeWrite{conn}
	p.close = func() { conn.Close() }
	return nil
}

// closeWrite ends one direction of a connection.
type closeWrite struct{ conn *net.TCPConn }

func (c closeWrite) Close() error { return c.conn.CloseWrite() }

// PID returns the pid of the contender.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Do sends q and waits for the reply, which must have the request's id. It kills the contender if
// that takes longer than the limit.
func (p *Process) Do(q wire.Request) (wire.Reply, error) {
	p.id++
	q.ID = p.id
	timer := time.AfterFunc(p.limit, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	if err := p.ask.Request(q); err != nil {
		return wire.Reply{}, fmt.Errorf("%s: write: %w%s", q.Op, err, p.stderrNote())
	}
	a, err := p.hear.Reply()
	if err != nil {
		var bad *wire.LineError
		if errors.As(err, &bad) {
			_ = p.cmd.Process.Kill() // it may go on like that
		}
		_ = p.cmd.Wait() // then all of its output has arrived; the timer ends one that stays
		return a, fmt.Errorf("%s: no reply (limit %v): %w%s", q.Op, p.limit, err, p.stderrNote())
	}
	if a.ID != q.ID {
		return a, fmt.Errorf("%s: the reply has id %d, the request %d", q.Op, a.ID, q.ID)
	}
	return a, nil
}

// OK is Do, but returns an error for an error reply.
func (p *Process) OK(q wire.Request) (wire.Reply, error) {
	a, err := p.Do(q)
	if err == nil && a.Error != nil {
		err = fmt.Errorf("%s: error reply: %w", q.Op, a.Error)
	}
	return a, err
}

// stderrNote returns the contender's standard error, for error messages.
func (p *Process) stderrNote() string {
	text := p.stderr.String()
	if text == "" {
		return ""
	}
	return "; it said: " + text
}

// stderrTail keeps the end of what is written to it.
type stderrTail struct {
	mu   sync.Mutex
	last []byte
}

func (t *stderrTail) Write(b []byte) (int, error) {
	const keep = 500
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-keep):]
	return len(b), nil
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}

// awaitExit waits for the contender to end by itself, which must be with code 0.
func (p *Process) awaitExit() error {
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("it ended with %w%s", err, p.stderrNote())
		}
		return nil
	case <-time.After(p.limit):
		_ = p.cmd.Process.Kill()
		<-ended
		return fmt.Errorf("it is still there after %v", p.limit)
	}
}

// killNow ends the contender whatever state it is in.
func (p *Process) killNow() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
