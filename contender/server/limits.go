package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// WriteTimeout is how long a client that is served alone may take to read
	// an answer, or over HTTP/2 what is written to it at a time: one that sends
	// requests and reads no answers holds nothing for longer.
	WriteTimeout = 10 * time.Second
	// DefaultConnections is how many connections there may be, alone.
	DefaultConnections = 4096

	// restful is how long a connection has nothing to do before it may be
	// closed for the sake of another.
	restful = time.Second
)

// http2Share is how many connections one of HTTP/2 stands for: a stack stores about
// that much more for it.
const http2Share = 4

// limits bound the connections of all listeners of a program. One too many takes
// the place of that which has been idle longest; where all are busy it is closed.
type limits struct {
	most  int
	write time.Duration // for each write
	began time.Time     // whose clock nobody sets

	mu              sync.Mutex
	open            map[*limitedConn]struct{}
	http2           int // of them speak HTTP/2
	refused, closed int64
}

func newLimits(most int) *limits {
	return &limits{most: most, write: WriteTimeout, began: time.Now(), open: map[*limitedConn]struct{}{}}
}

func (l *limits) counts() (open int, refused, closed int64) {
	if l == nil {
		return 0, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.refused, l.closed
}

// listener is within limits.
func (l *limits) listener(under net.Listener) net.Listener { return limitedListener{under, l} }

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
		if c := l.limits.admit(conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// admit makes room for a connection; nil: there is none.
func (l *limits) admit(conn net.Conn) net.Conn {
	c := &limitedConn{Conn: conn, limits: l}
	c.touch(true)
	l.mu.Lock()
	var victim *limitedConn
	if len(l.open) >= l.most {
		if victim = l.evict(false); victim == nil {
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

// evict makes room for a connection: it returns the idlest, which is to be closed. Nil
// means that there is none, and that the new one is refused.
func (l *limits) evict(http2 bool) *limitedConn {
	victim := l.idlest(http2)
	if victim == nil {
		l.refused++
		return nil
	}
	l.remove(victim)
	l.closed++
	return victim
}

// remove forgets a connection.
func (l *limits) remove(c *limitedConn) {
	if _, open := l.open[c]; open && c.http2 {
		l.http2--
	}
	delete(l.open, c)
}

// admitHTTP2 reports whether there is room for a connection that begins to speak HTTP/2.
func (l *limits) admitHTTP2(c *limitedConn) bool {
	l.mu.Lock()
	var victim *limitedConn
	if l.http2 >= max(1, l.most/http2Share) {
		if victim = l.evict(true); victim == nil {
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

// idlest is the connection that has had nothing to do for longest, of all or of those
// that speak HTTP/2.
func (l *limits) idlest(http2 bool) *limitedConn {
	var found *limitedConn
	since := int64(time.Since(l.began) - restful)
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

// limitedConn is one of the connections. It is idle from its beginning, and from
// each answer, until something comes.
type limitedConn struct {
	net.Conn
	limits *limits
	http2  bool         // under the mutex of limits
	at     atomic.Int64 // when it was last used, in nanoseconds since the limits began
	idle   atomic.Bool
	each   atomic.Bool  // the time of writes is counted for each answer, not for each write
	spent  atomic.Int64 // nanoseconds that the writes of an answer took
}

// renew begins to count the time of writes anew, for the answer to the next request.
func (c *limitedConn) renew() {
	c.each.Store(true)
	c.spent.Store(0)
}

func (c *limitedConn) touch(idle bool) {
	c.at.Store(int64(time.Since(c.limits.began)))
	c.idle.Store(idle)
}

func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.touch(false)
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
	c.touch(true)
	return n, err
}

func (c *limitedConn) Close() error {
	c.limits.mu.Lock()
	c.limits.remove(c)
	c.limits.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, where the connection can be closed by halves.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
