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

// gate sits between the connections of a service without a lab and its stack. It
// reads each request of HTTP/1 with one strict parser of its head, for at most
// [ReadTimeout], within a budget of bytes that all connections share. Requests that [Ops]
// answers or rejects are answered before the body is read. The stack gets requests that
// have arrived, with their length, so that a slow client occupies nothing of it, and no
// two stacks can read one differently. Connections of HTTP/2 pass through, and a watcher inspects them.
//
// Under a lab there is no gate: the lab measures the stack.
type gate struct {
	ops     *Ops
	budget  *budget
	maxBody int64 // bytes
	http1   bool
	http2   bool
	asides  bool // the stack is net/http, which reads while it answers, to detect a client that disconnects
	timeout time.Duration

	mu       sync.Mutex
	arriving map[*gatedConn]int64 // numbers of requests that have not reached the stack, by connection
	arrivals int64                // number of the latest
}

// markArriving records that a request starts to arrive on c, or that the stack has it.
func (g *gate) markArriving(c *gatedConn, begun bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !begun {
		delete(g.arriving, c)
		return
	}
	if g.arriving == nil {
		g.arriving = map[*gatedConn]int64{}
	}
	g.arrivals++
	g.arriving[c] = g.arrivals
}

// awaitArrivals waits until the stack has all requests that have started to arrive, or ctx ends: to the stack
// their connections are idle.
func (g *gate) awaitArrivals(ctx context.Context) {
	g.mu.Lock()
	latest := g.arrivals
	g.mu.Unlock()
	for every := time.NewTicker(5 * time.Millisecond); g.arrivesUpTo(latest); {
		select {
		case <-every.C:
		case <-ctx.Done():
			every.Stop()
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
func (g *gate) wrapListener(under net.Listener) net.Listener { return gatedListener{under, g} }

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

// gatedConn is a connection behind a gate. The stack calls Read from one goroutine at
// a time.
type gatedConn struct {
	net.Conn
	gate    *gate
	limited *limitedConn // below it; nil in tests
	began   time.Time    // when it was accepted

	in    []byte   // received and not processed
	out   [][]byte // bytes of a complete request that the stack has not read
	err   error    // returned by every later Read
	first bool     // until the first request

	arriving bool // a request has started to arrive

	early atomic.Bool             // answered before all of the request was read
	h2    atomic.Pointer[watcher] // nil until it speaks HTTP/2

	mu        sync.Mutex
	share     share
	closed    bool
	deadline  time.Time     // of the stack
	own       bool          // the gate's deadline is in force instead
	answering bool          // the stack has a request
	done      bool          // the stack awaits the next one
	wrote     bool          // the stack has written since
	changed   chan struct{} // closed when deadline changes
}

func newGatedConn(conn net.Conn, g *gate) *gatedConn {
	c := &gatedConn{Conn: conn, gate: g, began: time.Now(), first: true, share: share{budget: g.budget}, changed: make(chan struct{})}
	under := conn
	if secure, ok := conn.(*tls.Conn); ok {
		under = secure.NetConn()
	}
	c.limited, _ = under.(*limitedConn)
	return c
}

// Read returns bytes of a request that has arrived.
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
			c.answering, c.done, c.wrote = true, false, false
			c.mu.Unlock()
			c.gate.markArriving(c, false)
		}
	}
	return n
}

// isAnswering reports whether the stack reads while it answers. Of net/http it is known when an answer is
// complete; others have completed one when they read after they wrote.
func (c *gatedConn) isAnswering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answering = c.answering && !c.done && (c.gate.asides || !c.wrote)
	return c.answering
}

// awaitChange waits until the client disconnects or the deadline changes. Bytes that arrive meanwhile are of
// the next request; after a few it reads no more.
func (c *gatedConn) awaitChange() error {
	c.mu.Lock()
	changed, err := c.changed, os.ErrDeadlineExceeded
	c.own = false
	if c.deadline.IsZero() || time.Now().Before(c.deadline) { // the deadline was for the request
		err = c.Conn.SetReadDeadline(time.Time{})
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if len(c.in) > 0 {
		<-changed
		return nil
	}
	some := make([]byte, 512)
	n, err := c.Conn.Read(some)
	c.in = append(c.in, some[:n]...)
	return err
}

// awaitNext records that the stack has sent a complete answer.
func (c *gatedConn) awaitNext() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

// hookConnState makes a server of net/http report when it awaits the next request on a connection.
func hookConnState(s *http.Server) {
	before := s.ConnState
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if c, ok := conn.(*gatedConn); ok && state == http.StateIdle {
			c.awaitNext()
		}
		if before != nil {
			before(conn, state)
		}
	}
}

// SetReadDeadline sets the deadline between requests. While one arrives, the gate's is in force.
func (c *gatedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	close(c.changed)
	c.changed = make(chan struct{})
	if c.own {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline sets the deadline of writes too.
func (c *gatedConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// setGateDeadline sets a deadline of the gate, or if t is zero, that of the time between requests: the
// stack's, if that is earlier.
func (c *gatedConn) setGateDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own = !t.IsZero(); !c.own {
		t = time.Now().Add(IdleTimeout)
		if c.first {
			t = c.began.Add(c.gate.timeout)
		}
		if wanted := c.deadline; !wanted.IsZero() && wanted.Before(t) {
			t = wanted
		}
	}
	return c.Conn.SetReadDeadline(t)
}

// Close closes the connection. A client that was answered early may still be sending: an immediate close could
// lose the answer.
func (c *gatedConn) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	close(c.changed)
	c.changed = make(chan struct{})
	if !again {
		c.share.removeBytes(c.share.stored)
	}
	c.mu.Unlock()
	if w := c.h2.Load(); w != nil {
		w.removeAll()
	}
	c.gate.markArriving(c, false)
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.early.Load() && !again {
		go c.lingerAndClose(half.CloseWrite)
		return nil
	}
	return c.Conn.Close()
}

// A client that was answered early has lingerTime to read the answer, and may send
// lingeringBytes meanwhile.
const (
	lingerTime     = 500 * time.Millisecond
	lingeringBytes = 16 << 20
)

func (c *gatedConn) lingerAndClose(closeWrite func() error) {
	if closeWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingeringBytes)
	}
	_ = c.Conn.Close()
}

// reserveBytes reserves n more bytes.
func (c *gatedConn) reserveBytes(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.share.addBytes(int64(n))
}

// awaitRoom reserves n more bytes, and waits a short time for requests that the stack answers. The wait is
// short because requests that wait for each other have to end.
func (c *gatedConn) awaitRoom(n int) bool {
	const tries, every = 10, 100 * time.Millisecond
	for i := 1; !c.reserveBytes(n); i++ {
		if i == tries {
			c.gate.budget.refused.Add(1)
			return false
		}
		time.Sleep(every)
	}
	return true
}

// Write writes to the client.
func (c *gatedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.wrote = true
	c.mu.Unlock()
	if w := c.h2.Load(); w != nil && w.inspectOutput(p) {
		if _, err := c.setDueDeadline(w); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}
