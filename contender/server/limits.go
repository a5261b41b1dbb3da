package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// This file limits the open connections of a service, and the time of their writes. A connection beyond the limit takes
// the place of one that is idle, so that clients that only connect cannot lock out others.

const (
	// WriteTimeout limits the time in which a client must read an answer, or over HTTP/2 each write. A client
	// that does not read is then disconnected. Under a lab, which measures servers, there is no such limit.
	WriteTimeout = 10 * time.Second
	// DefaultConnections limits the open connections, unless the flag -max-conns does or a lab measures.
	DefaultConnections = 4096

	// minIdle is the idle time after which a connection may be closed to make room for another.
	minIdle = time.Second
)

// http2Share is the factor by which the limit of connections is lower for HTTP/2: a framework's server needs
// about four times as much memory for each of them.
const http2Share = 4

// protocols selects connections by their protocol.
type protocols int

const (
	anyProtocol protocols = iota
	onlyHTTP2
)

// limits bounds the number of connections of all listeners of a program. A new connection beyond the limit
// replaces the one that has been idle longest. If no connection is idle, the new one is closed.
type limits struct {
	maxOpen int
	write   time.Duration // time limit of a write
	began   time.Time     // reference for the times in limitedConn

	mu              sync.Mutex
	open            map[*limitedConn]struct{}
	http2           int   // number of open connections that speak HTTP/2
	refused, closed int64 // numbers of rejected new connections, and of idle connections closed to make room
}

func newLimits(maxOpen int) *limits {
	return &limits{maxOpen: maxOpen, write: WriteTimeout, began: time.Now(), open: map[*limitedConn]struct{}{}}
}

// readCounts returns the number of open connections, of rejected ones, and of those closed to make room. All
// are 0 if l is nil.
func (l *limits) readCounts() (open int, refused, closed int64) {
	if l == nil {
		return 0, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.refused, l.closed
}

// wrapListener returns a listener whose connections are limited.
func (l *limits) wrapListener(inner net.Listener) net.Listener { return limitedListener{inner, l} }

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

// admitConn counts a new connection, and closes an idle one if the limit is reached. It returns nil if there is
// no room for conn.
func (l *limits) admitConn(conn net.Conn) net.Conn {
	c := &limitedConn{Conn: conn, limits: l}
	c.markUsed(true)
	l.mu.Lock()
	var victim *limitedConn
	if len(l.open) >= l.maxOpen {
		if victim = l.evictIdle(anyProtocol); victim == nil {
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

// evictIdle finds the connection that has been idle longest, among those of p. It removes the connection from the
// count and returns it. The caller must close it after it has unlocked l.mu. If no connection is idle, evictIdle
// returns nil, and the caller must reject the new connection.
func (l *limits) evictIdle(p protocols) *limitedConn {
	victim := l.findIdlest(p)
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

// admitHTTP2 counts a connection that starts to speak HTTP/2, and closes an idle one of HTTP/2 if their limit is
// reached. It returns false if there is no room for c.
func (l *limits) admitHTTP2(c *limitedConn) bool {
	l.mu.Lock()
	var victim *limitedConn
	if l.http2 >= max(1, l.maxOpen/http2Share) {
		if victim = l.evictIdle(onlyHTTP2); victim == nil {
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

// findIdlest returns the connection that has been idle longest, among those of p. It returns nil if no connection
// has been idle for minIdle.
func (l *limits) findIdlest(p protocols) *limitedConn {
	var idlest *limitedConn
	earliest := int64(time.Since(l.began) - minIdle)
	for c := range l.open {
		if p == onlyHTTP2 && !c.http2 {
			continue
		}
		if used := c.lastUsed.Load(); c.idle.Load() && used < earliest {
			idlest, earliest = c, used
		}
	}
	return idlest
}

// limitedConn is a connection that limits counts. It is idle from its start, and from each write, until bytes
// arrive.
type limitedConn struct {
	net.Conn
	limits    *limits
	http2     bool         // the connection speaks HTTP/2; guarded by limits.mu
	lastUsed  atomic.Int64 // time of the last read or write, in nanoseconds since limits.began
	idle      atomic.Bool
	perAnswer atomic.Bool  // the time limit is for all writes of an answer, not for each write
	spent     atomic.Int64 // nanoseconds that the writes of the current answer took; 0 unless perAnswer is set
}

// resetSpent starts the time limit of writes again, for the answer to the next request. From the first call on
// the limit is for each answer as a whole.
func (c *limitedConn) resetSpent() {
	c.perAnswer.Store(true)
	c.spent.Store(0)
}

// markUsed records that bytes were read or written now, and whether the connection is idle from now on.
func (c *limitedConn) markUsed(idle bool) {
	c.lastUsed.Store(int64(time.Since(c.limits.began)))
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
	if c.perAnswer.Load() {
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
