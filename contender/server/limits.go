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

// limits bound the connections of all listeners of a program. One too many takes
// the place of that which has been idle longest; where all are busy it is closed.
type limits struct {
	most  int
	write time.Duration // for each write
	began time.Time     // whose clock nobody sets

	mu              sync.Mutex
	open            map[*limitedConn]struct{}
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
		if victim = l.idlest(); victim == nil {
			l.refused++
			l.mu.Unlock()
			return nil
		}
		delete(l.open, victim)
		l.closed++
	}
	l.open[c] = struct{}{}
	l.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return c
}

// idlest is the connection that has had nothing to do for longest.
func (l *limits) idlest() *limitedConn {
	var found *limitedConn
	since := int64(time.Since(l.began) - restful)
	for c := range l.open {
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
	delete(c.limits.open, c)
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
