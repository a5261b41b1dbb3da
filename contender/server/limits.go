package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Open connections, and the time of their writes, are limited. Above the limit a connection replaces an idle
// one. So clients that only connect cannot lock out others.

const (
	// WriteTimeout limits the time to read an answer, or over HTTP/2 each write. A client that does not read
	// is disconnected. Measured servers have no such limit.
	WriteTimeout = 10 * time.Second
	// DefaultConnections limits the open connections, unless the flag -max-conns does or a lab measures.
	DefaultConnections = 4096

	// minIdle is how long a connection must be idle to be replaced.
	minIdle = time.Second
)

// http2Share reduces the limit for HTTP/2: such a connection needs about four times the memory.
const http2Share = 4

// protocols selects connections by their protocol.
type protocols int

const (
	anyProtocol protocols = iota
	onlyHTTP2
)

// limits bounds open connections. A new one replaces the one that has been idle longest. If none is idle, the
// new one is closed.
type limits struct {
	maxOpen int
	write   time.Duration
	began   time.Time

	mu              sync.Mutex
	open            map[*limitedConn]struct{}
	http2           int   // open connections that speak HTTP/2
	refused, closed int64 // rejected new connections; idle ones closed to make room
}

func newLimits(maxOpen int) *limits {
	return &limits{maxOpen: maxOpen, write: WriteTimeout, began: time.Now(), open: map[*limitedConn]struct{}{}}
}

// readCounts returns open, rejected and closed idle connections. l may be nil.
func (l *limits) readCounts() (open int, refused, closed int64) {
	if l == nil {
		return 0, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.refused, l.closed
}

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

// admitConn counts a new connection. If the limit is reached it closes an idle one, or returns nil if none is
// idle.
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

// evictIdle removes the longest idle connection of p from the count and returns it, or nil. The caller must
// close it, after unlocking l.mu.
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

func (l *limits) removeConn(c *limitedConn) {
	if _, open := l.open[c]; open && c.http2 {
		l.http2--
	}
	delete(l.open, c)
}

// admitHTTP2 counts a connection that starts to speak HTTP/2. If their limit is reached it closes an idle one,
// or returns false if none is idle.
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

// limitedConn is idle from its start, or a write, until bytes arrive.
type limitedConn struct {
	net.Conn
	limits    *limits
	http2     bool         // speaks HTTP/2; guarded by limits.mu
	lastUsed  atomic.Int64 // last read or write, in ns since limits.began
	idle      atomic.Bool
	perAnswer atomic.Bool  // the limit is for an answer, not for each write
	spent     atomic.Int64 // ns of the current answer's writes; needs perAnswer
}

// resetSpent starts the time limit of writes again, for the next answer. From the first call on the limit is for
// each answer as a whole.
func (c *limitedConn) resetSpent() {
	c.perAnswer.Store(true)
	c.spent.Store(0)
}

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

// CloseWrite closes the direction of writes, or else the connection.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
