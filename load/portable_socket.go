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

// socket is the transport of a portableConn over TCP. Its framer implements HTTP/1.1 or HTTP/2.
type socket struct {
	p *portable
	s *settings

	mu    sync.Mutex   // guards conn, which interrupt uses from other goroutines
	conn  net.Conn     // nil means closed
	raw   *net.TCPConn // conn without TLS
	probe *probe

	received int64 // received bytes of no request yet
	buf      []byte
	framer   framer

	out       sync.Mutex    // guards framer, sending, sent and sendError while sendAsync runs
	sending   chan struct{} // closed at the end of sendAsync; nil if it does not run
	sent      int           // sent bytes of no request yet
	sendError error
}

var _ transport = (*socket)(nil)

func newSocket(p *portable) *socket {
	return &socket{p: p, s: p.s, framer: newFramer(p.s.Protocol, &p.s.bodyBudget), buf: make([]byte, 16<<10)}
}

func (c *socket) open(ctx context.Context, addr string, onHandshake func(took int64, resumed bool)) (fresh bool, err error) {
	conn, raw, err := c.dialTCP(ctx, addr, onHandshake)
	if err != nil {
		return true, err
	}
	probe, err := newProbe(raw)
	if err != nil {
		conn.Close()
		return true, err
	}
	c.mu.Lock()
	c.conn, c.raw, c.probe = conn, raw, probe
	c.mu.Unlock()
	c.received, c.sent, c.sendError = 0, 0, nil
	c.framer.open()
	c.flushOutput()
	return true, nil
}

func (c *socket) countIn(*run) bool { return true }

func (c *socket) dialTCP(ctx context.Context, addr string, onHandshake func(took int64, resumed bool)) (net.Conn, *net.TCPConn, error) {
	d := net.Dialer{Timeout: c.s.Timeout, KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	raw, _ := conn.(*net.TCPConn)
	if c.p.tls == nil {
		return conn, raw, nil
	}
	secured, began := tls.Client(conn, c.p.tls), c.s.nowNS()
	if err = conn.SetDeadline(time.Now().Add(c.s.Timeout)); err == nil {
		err = secured.HandshakeContext(ctx)
	}
	if err == nil {
		err = c.s.checkALPN(secured)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	onHandshake(c.s.nowNS()-began, secured.ConnectionState().DidResume)
	return secured, raw, nil
}

// interrupt ends a blocked read or write.
func (c *socket) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (c *socket) shut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		if c.p.tls != nil {
			_ = c.raw.Close() // without a close_notify, which could block
		} else {
			_ = c.conn.Close()
		}
		c.conn = nil
	}
	return true
}

func (c *socket) checkIdle(l *portablePhase) (usable bool, unsolicited error) {
	for reads := 0; ; reads++ {
		n, closed := c.probe.pending()
		isQuiet := n == 0 && !closed
		isLastRead := reads == maxReads // a server that keeps sending gets requests, too
		if isQuiet || isLastRead || l.r.aborted.Load() {
			return true, nil
		}
		if n > 0 { // a message of TLS or HTTP/2 itself, or unsolicited bytes
			_ = c.conn.SetDeadline(time.Now().Add(c.s.Timeout))
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			m, err := c.conn.Read(c.buf)
			closed = err != nil && !isTimeout(err)
			if m > 0 {
				c.received += int64(m)
				unsolicited = c.framer.feedIdle(c.buf[:m])
				c.flushOutput()
			}
		}
		if !closed && unsolicited == nil && !c.framer.currentResponse().closes {
			continue
		}
		return false, unsolicited
	}
}

func (c *socket) startRequest(q *encodedRequest, x *exchange, last bool) error {
	return c.framer.startRequest(q, x.numbers, last, x.verify)
}

func (c *socket) sendPending() { c.flushOutput() }

func (c *socket) roundTrip(l *portablePhase, x *exchange, due time.Time) (o reply) {
	_ = c.conn.SetDeadline(due)
	if l.r.aborted.Load() { // the abort may have come before SetDeadline
		c.interrupt()
	}
	c.flushOutput()
	if o.class, o.why = c.readResponse(x); o.class == classFraming {
		c.flushOutput() // sends a GOAWAY
	}
	var err error
	o.response, err = c.finishSending(x)
	o.ends = err != nil || o.why != nil && !isRequestError(o.why)
	if err != nil && o.why != nil && o.class == classReset {
		o.why = err // more useful than the error of reading
	}
	return o
}

func (c *socket) readResponse(x *exchange) (class int, err error) {
	for {
		n, err := c.conn.Read(c.buf)
		if n > 0 {
			var now int64
			if x.parts == 0 {
				now = c.s.nowNS()
			}
			c.received += int64(n)
			a, err := c.feedFramer(c.buf[:n])
			if a.begun {
				if x.parts == 0 {
					x.first = now
				}
				x.parts++
			}
			switch {
			case err != nil:
				return errorClass(err), err
			case a.done:
				return 0, nil
			}
			c.flushOutput()
		}
		if err != nil {
			return c.readError(err)
		}
	}
}

// readError returns the class and the error of a request whose read failed with err. It returns nil if the
// close has ended the response.
func (c *socket) readError(err error) (class int, why error) {
	switch {
	case errors.Is(err, io.EOF):
		if err := c.framer.closeError(); err != nil {
			return classReset, err
		}
		return 0, nil
	case isTimeout(err):
		return classTimeout, errTimeout
	}
	return classReset, err
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}
