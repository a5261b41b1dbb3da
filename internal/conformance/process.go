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

// This file starts a contender, a program that tare compares, and exchanges requests and replies
// with it.

// Process is a started contender (a program that tare compares) and the connection to it.
type Process struct {
	cmd      *exec.Cmd
	stderr   stderrTail
	requests *wire.Writer
	replies  *wire.Reader
	in       io.Closer     // closing it ends the contender's input
	limit    time.Duration // longest time of a reply, and of the exit
	lastID   int64         // id of the last request
	close    func()        // closes the connection
}

// startProcess starts command as tare does. The connection uses inherited descriptors. On Windows, and if
// socket is set, it uses a loopback socket.
func startProcess(command []string, socket bool, limit time.Duration) (*Process, error) {
	p := &Process{cmd: exec.Command(command[0], command[1:]...), limit: limit}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second // wait at most that long for children that hold the output open
	if socket || runtime.GOOS == "windows" {
		return p, p.startSocket()
	}
	return p, p.startPipes()
}

// startWith starts the command. spec defines the connection: "3,4" or "tcp:127.0.0.1:4711".
func (p *Process) startWith(spec string) error {
	p.cmd.Env = append(os.Environ(), wire.EnvWire+"="+spec, "GOMAXPROCS=1")
	return p.cmd.Start()
}

func (p *Process) startPipes() error {
	requestsIn, requestsOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer requestsIn.Close()
	repliesIn, repliesOut, err := os.Pipe()
	if err != nil {
		requestsOut.Close()
		return err
	}
	defer repliesOut.Close()
	p.cmd.ExtraFiles = []*os.File{requestsIn, repliesOut}
	p.requests, p.replies, p.in = wire.NewWriter(requestsOut), wire.NewReader(repliesIn), requestsOut
	p.close = func() { requestsOut.Close(); repliesIn.Close() }
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
	p.requests, p.replies, p.in = wire.NewWriter(conn), wire.NewReader(conn), closeWrite{conn}
	p.close = func() { conn.Close() }
	return nil
}

// closeWrite closes only the direction to the contender. Its replies can still be read.
type closeWrite struct{ conn *net.TCPConn }

func (c closeWrite) Close() error { return c.conn.CloseWrite() }

// PID returns the pid of the contender.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Do sends request and returns the reply, which must have the request's id. If the reply takes longer than the
// limit, Do kills the contender.
func (p *Process) Do(request wire.Request) (wire.Reply, error) {
	p.lastID++
	request.ID = p.lastID
	timer := time.AfterFunc(p.limit, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	if err := p.requests.Request(request); err != nil {
		return wire.Reply{}, fmt.Errorf("%s: write: %w%s", request.Op, err, p.stderrNote())
	}
	reply, err := p.replies.Reply()
	if err != nil {
		var lineErr *wire.LineError
		if errors.As(err, &lineErr) {
			_ = p.cmd.Process.Kill() // it may write such lines forever
		}
		_ = p.cmd.Wait() // stderrNote then has all output
		return reply, fmt.Errorf("%s: no reply (limit %v): %w%s", request.Op, p.limit, err, p.stderrNote())
	}
	if reply.ID != request.ID {
		return reply, fmt.Errorf("%s: the reply has id %d, the request %d", request.Op, reply.ID, request.ID)
	}
	return reply, nil
}

// OK is Do, but returns an error for an error reply.
func (p *Process) OK(request wire.Request) (wire.Reply, error) {
	reply, err := p.Do(request)
	if err == nil && reply.Error != nil {
		err = fmt.Errorf("%s: error reply: %w", request.Op, reply.Error)
	}
	return reply, err
}

// stderrNote returns the end of the contender's standard error as a clause for error messages, or
// "".
func (p *Process) stderrNote() string {
	text := p.stderr.String()
	if text == "" {
		return ""
	}
	return "; it printed: " + text
}

// stderrTail is a writer that stores the last bytes written to it.
type stderrTail struct {
	mu   sync.Mutex
	last []byte
}

// Write appends b to the stored bytes and keeps the last maxBytes of them. It never fails.
func (t *stderrTail) Write(b []byte) (int, error) {
	const maxBytes = 500
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-maxBytes):]
	return len(b), nil
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}

// awaitExit waits until the contender ends by itself. It returns an error if the exit code is not 0
// or the limit has passed.
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

func (p *Process) killNow() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
