package load

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// socket is a connection of TCP that a framer speaks over, in plain text or TLS.
type socket struct {
	p *portable
	s *settings

	mu    sync.Mutex // held while conn changes and while it is interrupted
	conn  net.Conn   // nil: closed
	raw   *net.TCPConn
	probe *probe

	got int64 // bytes received that no request's account has yet
	buf []byte
	f   framer

	out     sync.Mutex    // held while f is used, once something is poured
	pouring chan struct{} // closed when that is over; nil: nothing is poured
	sent    int           // bytes sent that no request's account has yet
	werr    error         // why no more can be sent
}

var _ wire = (*socket)(nil)

func newSocket(p *portable) *socket {
	return &socket{p: p, s: p.s, f: newFramer(p.s.Protocol, &p.s.room), buf: make([]byte, 16<<10)}
}

func (c *socket) open(ctx context.Context, addr string, shook func(took int64, resumed bool)) error {
	conn, raw, err := c.connect(ctx, addr, shook)
	if err != nil {
		return err
	}
	look, err := newProbe(raw)
	if err != nil {
		conn.Close()
		return err
	}
	c.mu.Lock()
	c.conn, c.raw, c.probe = conn, raw, look
	c.mu.Unlock()
	c.got, c.sent, c.werr = 0, 0, nil
	c.f.open()
	c.flush()
	return nil
}

// connect opens a connection and shakes hands.
func (c *socket) connect(ctx context.Context, addr string, shook func(took int64, resumed bool)) (net.Conn, *net.TCPConn, error) {
	d := net.Dialer{Timeout: c.s.Timeout, KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	raw, _ := conn.(*net.TCPConn)
	if c.p.tls == nil {
		return conn, raw, nil
	}
	safe, began := tls.Client(conn, c.p.tls), c.s.now()
	if err = conn.SetDeadline(time.Now().Add(c.s.Timeout)); err == nil {
		err = safe.HandshakeContext(ctx)
	}
	if err == nil {
		err = c.s.agreed(safe)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	shook(c.s.now()-began, safe.ConnectionState().DidResume)
	return safe, raw, nil
}

// interrupt ends a read or a write that is waiting.
func (c *socket) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (c *socket) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		if c.p.tls != nil {
			_ = c.raw.Close() // without a farewell that may have to wait
		} else {
			_ = c.conn.Close()
		}
		c.conn = nil
	}
}

func (c *socket) look(l *stretch) (usable bool, unasked error) {
	for looks := 0; ; looks++ {
		n, closed := c.probe.pending()
		if n == 0 && !closed || looks == mostReads || l.r.aborted.Load() { // a server that never stops talking still has requests answered, or not
			return true, nil
		}
		if n > 0 { // of TLS or HTTP/2 itself, or more
			_ = c.conn.SetDeadline(time.Now().Add(c.s.Timeout))
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			m, err := c.conn.Read(c.buf)
			var late net.Error
			closed = err != nil && !(errors.As(err, &late) && late.Timeout())
			if m > 0 {
				c.got += int64(m)
				unasked = c.f.idle(c.buf[:m])
				c.flush()
			}
		}
		if !closed && unasked == nil && !c.f.answer().closes {
			continue
		}
		return false, unasked
	}
}

func (c *socket) ask(q *encoded, x *exchange, last bool) error {
	return c.f.ask(q, x.numbers, last, x.keep)
}

func (c *socket) rest() { c.flush() }

func (c *socket) answer(l *stretch, x *exchange, due time.Time) (o reply) {
	_ = c.conn.SetDeadline(due)
	if l.r.aborted.Load() { // it may have been interrupted before
		c.interrupt()
	}
	c.flush()
	if o.class, o.why = c.read(x); o.class == ofFraming {
		c.flush() // the server is told
	}
	var err error
	o.answer, err = c.settle(x)
	o.ends = err != nil || o.why != nil && !ofRequest(o.why)
	if err != nil && o.why != nil && o.class == ofReset {
		o.why = err
	}
	return o
}

// read reads until the answer is whole, or says what went wrong.
func (c *socket) read(x *exchange) (class int, err error) {
	for {
		n, err := c.conn.Read(c.buf)
		if n > 0 {
			var now int64
			if x.pieces == 0 {
				now = c.s.now()
			}
			c.got += int64(n)
			a, err := c.feed(c.buf[:n])
			if a.begun {
				if x.pieces == 0 {
					x.first = now
				}
				x.pieces++
			}
			switch {
			case err != nil:
				return classOf(err), err
			case a.done:
				return 0, nil
			}
			c.flush()
		}
		if err != nil {
			return c.broken(err)
		}
	}
}

// broken says what it means that nothing more can be read.
func (c *socket) broken(err error) (class int, why error) {
	var late net.Error
	switch {
	case errors.Is(err, io.EOF):
		if err := c.f.end(); err != nil {
			return ofReset, err
		}
		return 0, nil
	case errors.As(err, &late) && late.Timeout():
		return ofTimeout, errTimeout
	}
	return ofReset, err
}
