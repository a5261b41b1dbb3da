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

// gate protects the stack, the framework's server, of a service. It reads each request of HTTP/1
// from its connection and parses the head strictly, for at most [ReadTimeout], within a budget of
// bytes that all connections share. If [Ops] answers or rejects a request, it does so before the
// body is read. The stack receives only complete requests with a Content-Length. So a slow client
// uses no resources of the stack, and all stacks interpret a request in the same way. The gate does
// not parse connections of HTTP/2; a watcher inspects their frames.
//
// Under a lab, the tare process that measures contenders, there is no gate: the lab measures the stack.
type gate struct {
	ops     *Ops
	budget  *budget
	maxBody int64 // bytes
	http1   bool  // the stack supports HTTP/1
	http2   bool  // the stack supports HTTP/2
	netHTTP bool  // the stack is net/http, which reads while it answers, to detect a client that disconnects
	timeout time.Duration

	mu       sync.Mutex
	arriving map[*gatedConn]int64 // number of the request that is arriving, by connection
	arrivals int64                // number of the latest request; numbers count from 1
}

// addArriving records that a request starts to arrive on c.
func (g *gate) addArriving(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.arriving == nil {
		g.arriving = map[*gatedConn]int64{}
	}
	g.arrivals++
	g.arriving[c] = g.arrivals
}

// removeArriving records that no request is arriving on c: the stack has received it, the gate has answered it, or c
// is closed.
func (g *gate) removeArriving(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.arriving, c)
}

// awaitArrivals waits until the stack has all requests that have started to arrive, or ctx ends. A stack that
// is shut down earlier would close their connections, which are idle from its point of view.
func (g *gate) awaitArrivals(ctx context.Context) {
	g.mu.Lock()
	latest := g.arrivals
	g.mu.Unlock()
	for ticker := time.NewTicker(5 * time.Millisecond); g.arrivesUpTo(latest); {
		select {
		case <-ticker.C: // check again
		case <-ctx.Done():
			ticker.Stop()
			return
		}
	}
}

// arrivesUpTo reports whether a request with a number up to latest still arrives.
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

// wrapListener returns a listener whose connections pass through the gate.
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

// answerState is the progress of the stack with the latest request that it has read.
type answerState int

const (
	answerNone     answerState = iota // there is no such request
	answerAwaited                     // the stack has read the request and has written nothing since
	answerBegun                       // the stack has written something since it read the request
	answerComplete                    // the stack has sent the complete answer
)

// gatedConn is a connection accepted by a gate. The stack calls Read from one goroutine at a time.
type gatedConn struct {
	net.Conn
	gate    *gate
	limited *limitedConn // connection that is counted against the limits; nil in tests
	began   time.Time    // time when the connection was accepted

	in       []byte   // bytes that have arrived and are not processed
	out      [][]byte // head and body of a complete request, as far as the stack has not read them
	err      error    // result of every later Read; nil as long as the connection works
	first    bool     // the first request has not arrived
	arriving bool     // a request has started to arrive

	early atomic.Bool             // the gate answered a request before it had read all of it
	h2    atomic.Pointer[watcher] // nil until the connection speaks HTTP/2

	mu            sync.Mutex
	share         share // budgeted bytes of the connection
	closed        bool
	deadline      time.Time // read deadline of the stack; zero if it has set none
	gatesDeadline bool      // a deadline of the gate is in force in place of the stack's
	answer        answerState
	changed       chan struct{} // closed when deadline changes or the connection is closed
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

// Read is called by the stack. It waits until a complete request for the stack has arrived, and returns bytes of
// the request. If the stack still answers the previous request, Read waits for the client to disconnect or for
// the stack's deadline. Once the connection speaks HTTP/2, Read returns bytes as they arrive.
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

// copyRequest copies bytes of the request to the stack.
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

// isAnswering reports whether the stack, which calls Read, still answers the previous request. A server of
// net/http reports when an answer is complete (see hookConnState). Other stacks do not read while they answer: if
// they have written and read again, the answer is complete.
func (c *gatedConn) isAnswering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == answerBegun && !c.gate.netHTTP {
		c.answer = answerComplete
	}
	return c.answer == answerAwaited || c.answer == answerBegun
}

// awaitChange waits until the client disconnects or the stack's deadline changes. Bytes that arrive meanwhile
// belong to the next request; as soon as there are some, it stops reading.
func (c *gatedConn) awaitChange() error {
	c.mu.Lock()
	changed, err := c.changed, os.ErrDeadlineExceeded
	c.gatesDeadline = false
	if c.deadline.IsZero() || time.Now().Before(c.deadline) { // the stack's deadline has not passed
		err = c.Conn.SetReadDeadline(time.Time{}) // ends the gate's deadline, which was for the request
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

// markAnswered records that the stack has sent a complete answer.
func (c *gatedConn) markAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answerComplete
}

// hookConnState makes a server of net/http report when it awaits the next request on a connection.
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

// SetReadDeadline sets the stack's deadline for reading. While a deadline of the gate is in force, it only stores t.
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

// setGateDeadline sets the gate's deadline for the request that is arriving. A zero t means that no request is
// arriving: the deadline is then the end of the idle time, or the stack's deadline if that is earlier.
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

// Close closes the connection. If a client was answered early, it may still be sending, and an immediate close
// could lose the answer; Close then returns, and the connection is closed after lingerTime at most.
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

// A client that was answered early has lingerTime to read the answer, and may send lingeringBytes meanwhile.
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

// reserveBytes reserves n more bytes. It returns false if the budget is used up or the connection is closed.
func (c *gatedConn) reserveBytes(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.share.addBytes(int64(n))
}

// awaitRoom reserves n more bytes. If the budget is used up, it tries again for about a second, in which other
// requests may be answered. Then it returns false, because requests that wait only for each other must end.
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
