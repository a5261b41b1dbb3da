package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// WriteTimeout limits the time that a client without a lab takes to read an answer, or over HTTP/2 each
	// write: a client that sends requests and reads no answers occupies nothing for longer.
	WriteTimeout = 10 * time.Second
	// DefaultConnections limits the connections without a lab.
	DefaultConnections = 4096

	// minIdle is the idle time after which a connection may be closed to make room for another.
	minIdle = time.Second
)

// http2Share is the number of connections that one of HTTP/2 counts as: a stack stores about that much more
// for it.
const http2Share = 4

// limits bounds the connections of all listeners of a program. A new one beyond the limit replaces the one
// that has been idle longest; if all are busy, it is closed.
type limits struct {
	most  int
	write time.Duration // for each write
	began time.Time     // a monotonic reference for times

	mu              sync.Mutex
	open            map[*limitedConn]struct{}
	http2           int // open ones with HTTP/2
	refused, closed int64
}

func newLimits(most int) *limits {
	return &limits{most: most, write: WriteTimeout, began: time.Now(), open: map[*limitedConn]struct{}{}}
}

func (l *limits) readCounts() (open int, refused, closed int64) {
	if l == nil {
		return 0, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.refused, l.closed
}

// wrapListener returns a listener whose connections are limited.
func (l *limits) wrapListener(under net.Listener) net.Listener { return limitedListener{under, l} }

type limitedListener struct {
	net.Listener
	limits *limits
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.limits.admitConn(conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// admitConn makes room for a connection. It returns nil if there is none.
func (l *limits) admitConn(conn net.Conn) net.Conn {
	c := &limitedConn{Conn: conn, limits: l}
	c.markUsed(true)
	l.mu.Lock()
	var victim *limitedConn
	if len(l.open) >= l.most {
		if victim = l.evictIdle(false); victim == nil {
			l.mu.Unlock()
			return nil
		}
	}
	l.open[c] = struct{}{}
	l.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return c
}

// evictIdle makes room for a connection: it returns the idlest one, which the caller must close. If it returns
// nil, there is no room, and the new one is rejected.
func (l *limits) evictIdle(http2 bool) *limitedConn {
	victim := l.findIdlest(http2)
	if victim == nil {
		l.refused++
		return nil
	}
	l.removeConn(victim)
	l.closed++
	return victim
}

// removeConn removes a connection from the count.
func (l *limits) removeConn(c *limitedConn) {
	if _, open := l.open[c]; open && c.http2 {
		l.http2--
	}
	delete(l.open, c)
}

// admitHTTP2 reports whether there is room for a connection that starts to speak HTTP/2.
func (l *limits) admitHTTP2(c *limitedConn) bool {
	l.mu.Lock()
	var victim *limitedConn
	if l.http2 >= max(1, l.most/http2Share) {
		if victim = l.evictIdle(true); victim == nil {
			l.mu.Unlock()
			return false
		}
	}
	if _, open := l.open[c]; open {
		c.http2 = true
		l.http2++
	}
	l.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return true
}

// findIdlest returns the connection that has been idle longest, of all or of those that speak HTTP/2. It is
// nil if none has been idle for minIdle.
func (l *limits) findIdlest(http2 bool) *limitedConn {
	var found *limitedConn
	since := int64(time.Since(l.began) - minIdle)
	for c := range l.open {
		if http2 && !c.http2 {
			continue
		}
		if at := c.at.Load(); c.idle.Load() && at < since {
			found, since = c, at
		}
	}
	return found
}

// limitedConn is one of the connections. It is idle from its start, and from each answer, until bytes arrive.
type limitedConn struct {
	net.Conn
	limits *limits
	http2  bool         // under the mutex of limits
	at     atomic.Int64 // time of the last use, in nanoseconds since limits.began
	idle   atomic.Bool
	each   atomic.Bool  // count the time of writes per answer, not per write
	spent  atomic.Int64 // nanoseconds that the writes of an answer took
}

// resetSpent restarts the count of the time of writes for the answer to the next request.
func (c *limitedConn) resetSpent() {
	c.each.Store(true)
	c.spent.Store(0)
}

func (c *limitedConn) markUsed(idle bool) {
	c.at.Store(int64(time.Since(c.limits.began)))
	c.idle.Store(idle)
}

func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.markUsed(false)
	}
	return n, err
}

func (c *limitedConn) Write(p []byte) (int, error) {
	began := time.Now()
	if err := c.SetWriteDeadline(began.Add(c.limits.write - time.Duration(c.spent.Load()))); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if c.each.Load() {
		c.spent.Add(int64(time.Since(began)))
	}
	c.markUsed(true)
	return n, err
}

func (c *limitedConn) Close() error {
	c.limits.mu.Lock()
	c.limits.removeConn(c)
	c.limits.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the direction of writes if the connection can do that, else the connection.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
