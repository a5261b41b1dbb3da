package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// gate protects the framework's server (the stack) of a service. It reads each request of HTTP/1 within
// [ReadTimeout] and a budget of bytes, and parses the head strictly. The stack receives only complete requests
// with a Content-Length.
//
// So a slow client uses nothing of the stack, and all stacks interpret a request alike. [Ops] answers or
// rejects requests before their body is read. HTTP/2 is not parsed; a watcher inspects its frames.
//
// A measured server has no gate.
type gate struct {
	ops     *Ops
	budget  *budget
	maxBody int64 // bytes
	http1   bool
	http2   bool
	netHTTP bool // the stack is net/http, which reads while it answers, to notice that a client disconnects
	timeout time.Duration

	mu       sync.Mutex
	arriving map[*gatedConn]int64 // numbers of arriving requests
	arrivals int64                // from 1
}

func (g *gate) addArriving(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.arriving == nil {
		g.arriving = map[*gatedConn]int64{}
	}
	g.arrivals++
	g.arriving[c] = g.arrivals
}

func (g *gate) removeArriving(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.arriving, c)
}

// awaitArrivals waits until the stack has all requests that started to arrive. Otherwise a stack that shuts
// down would close their connections, which seem idle.
func (g *gate) awaitArrivals(ctx context.Context) {
	g.mu.Lock()
	latest := g.arrivals
	g.mu.Unlock()
	for ticker := time.NewTicker(5 * time.Millisecond); g.arrivesUpTo(latest); {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			ticker.Stop()
			return
		}
	}
}

func (g *gate) arrivesUpTo(latest int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.arriving {
		if n <= latest {
			return true
		}
	}
	return false
}

func (g *gate) wrapListener(l net.Listener) net.Listener { return gatedListener{l, g} }

type gatedListener struct {
	net.Listener
	gate *gate
}

func (l gatedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newGatedConn(conn, l.gate), nil
}

type answerState int

const (
	answerNone     answerState = iota // there is no such request
	answerAwaited                     // request read, nothing written since
	answerBegun                       // something written since
	answerComplete                    // the complete answer was sent
)

// gatedConn is a connection of a gate. The stack calls Read from one goroutine at a time.
type gatedConn struct {
	net.Conn
	gate    *gate
	limited *limitedConn // counted connection; nil in tests
	began   time.Time

	in       []byte   // arrived, not processed
	out      [][]byte // complete, but not read by the stack
	err      error    // result of every later Read; nil while the connection works
	first    bool
	arriving bool

	early atomic.Bool             // answered before the request was complete
	h2    atomic.Pointer[watcher] // nil until the connection speaks HTTP/2

	mu            sync.Mutex
	share         share // budgeted bytes of the connection
	closed        bool
	deadline      time.Time // stack's deadline; zero if none
	gatesDeadline bool      // a deadline of the gate replaces the stack's
	answer        answerState
	changed       chan struct{} // closed with the connection or by a new deadline
}

func newGatedConn(conn net.Conn, g *gate) *gatedConn {
	c := &gatedConn{Conn: conn, gate: g, began: time.Now(), first: true, share: share{budget: g.budget}, changed: make(chan struct{})}
	inner := conn
	if secure, ok := conn.(*tls.Conn); ok {
		inner = secure.NetConn()
	}
	c.limited, _ = inner.(*limitedConn)
	return c
}

// Read waits for a complete request and returns its bytes to the stack. While the stack answers, Read waits
// until the client disconnects or the stack's deadline. Over HTTP/2 it returns bytes as they arrive.
func (c *gatedConn) Read(p []byte) (int, error) {
	for {
		switch {
		case c.h2.Load() != nil:
			return c.readFrames(p)
		case len(c.out) > 0:
			return c.copyRequest(p), nil
		case c.err != nil:
			return 0, c.err
		case c.isAnswering():
			if err := c.awaitChange(); err != nil {
				return 0, err
			}
		default:
			c.err = c.readRequest()
		}
	}
}

func (c *gatedConn) copyRequest(p []byte) int {
	n := copy(p, c.out[0])
	if c.out[0] = c.out[0][n:]; len(c.out[0]) == 0 {
		if c.out = c.out[1:]; len(c.out) == 0 {
			c.out = nil
			c.mu.Lock()
			c.answer = answerAwaited
			c.mu.Unlock()
			c.gate.removeArriving(c)
		}
	}
	return n
}

// isAnswering reports whether the stack still answers. net/http reports this (see hookConnState). Other stacks
// do not read while they answer: after a write, reading means that they have finished.
func (c *gatedConn) isAnswering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == answerBegun && !c.gate.netHTTP {
		c.answer = answerComplete
	}
	return c.answer == answerAwaited || c.answer == answerBegun
}

// awaitChange waits until the client disconnects or the stack's deadline changes. Bytes that arrive belong to
// the next request. Once there are some, it stops reading.
func (c *gatedConn) awaitChange() error {
	c.mu.Lock()
	changed, err := c.changed, os.ErrDeadlineExceeded
	c.gatesDeadline = false
	if c.deadline.IsZero() || time.Now().Before(c.deadline) { // the stack's deadline has not passed
		err = c.Conn.SetReadDeadline(time.Time{}) // ends the gate's deadline
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if len(c.in) > 0 {
		<-changed
		return nil
	}
	chunk := make([]byte, 512)
	n, err := c.Conn.Read(chunk)
	c.in = append(c.in, chunk[:n]...)
	return err
}

func (c *gatedConn) markAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answerComplete
}

func hookConnState(s *http.Server) {
	before := s.ConnState
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if c, ok := conn.(*gatedConn); ok && state == http.StateIdle {
			c.markAnswered()
		}
		if before != nil {
			before(conn, state)
		}
	}
}

// SetReadDeadline sets the stack's deadline. It only stores t while the gate has a deadline.
func (c *gatedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	close(c.changed)
	c.changed = make(chan struct{})
	if c.gatesDeadline {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline sets the stack's deadlines for reading and writing.
func (c *gatedConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// setGateDeadline sets the deadline of an arriving request. A zero t means none. Then the idle time or the
// stack's deadline counts.
func (c *gatedConn) setGateDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gatesDeadline = !t.IsZero()
	if !c.gatesDeadline {
		t = time.Now().Add(IdleTimeout)
		if c.first {
			t = c.began.Add(c.gate.timeout)
		}
		if !c.deadline.IsZero() && c.deadline.Before(t) {
			t = c.deadline
		}
	}
	return c.Conn.SetReadDeadline(t)
}

// Close closes the connection. A client that was answered early may still be sending, and could lose the
// answer. The connection then closes within lingerTime.
func (c *gatedConn) Close() error {
	c.mu.Lock()
	wasClosed := c.closed
	c.closed = true
	close(c.changed)
	c.changed = make(chan struct{})
	if !wasClosed {
		c.share.removeBytes(c.share.stored)
	}
	c.mu.Unlock()
	if w := c.h2.Load(); w != nil {
		w.removeAll()
	}
	c.gate.removeArriving(c)
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.early.Load() && !wasClosed {
		go c.lingerAndClose(half.CloseWrite)
		return nil
	}
	return c.Conn.Close()
}

const (
	lingerTime     = 500 * time.Millisecond
	lingeringBytes = 16 << 20
)

// lingerAndClose closes the connection after the client has had time to read the answer.
func (c *gatedConn) lingerAndClose(closeWrite func() error) {
	if closeWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingeringBytes)
	}
	_ = c.Conn.Close()
}

func (c *gatedConn) reserveBytes(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.share.addBytes(int64(n))
}

// awaitRoom reserves n more bytes. It tries for about a second, while other requests may be answered. Requests
// that wait only for each other must end.
func (c *gatedConn) awaitRoom(n int) bool {
	const maxTries, interval = 10, 100 * time.Millisecond
	for i := 1; !c.reserveBytes(n); i++ {
		if i == maxTries {
			c.gate.budget.refused.Add(1)
			return false
		}
		time.Sleep(interval)
	}
	return true
}

// Write is called by the stack. It writes bytes of an answer to the client.
func (c *gatedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.answer == answerAwaited {
		c.answer = answerBegun
	}
	c.mu.Unlock()
	if w := c.h2.Load(); w != nil && w.inspectOutput(p) {
		if _, err := c.setDueDeadline(w); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}
