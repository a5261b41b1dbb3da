package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// stream is one connection of the portable engine.
type stream struct {
	p     *portable
	s     *settings
	shard *shard

	mu    sync.Mutex // held while conn changes and while it is interrupted
	conn  net.Conn   // nil: closed
	raw   *net.TCPConn
	probe *probe

	addr  int   // of the session's addresses, the one to try
	again bool  // it was open before
	uses  int   // requests since it was opened
	used  int64 // ns of the last answer
	got   int64 // bytes received that no request's account has yet
	buf   []byte
	x     exchange
	f     framer

	out     sync.Mutex    // held while f is used, once something is poured
	pouring chan struct{} // closed when that is over; nil: nothing is poured
	sent    int           // bytes sent that no request's account has yet
	werr    error         // why no more can be sent
}

// run carries the connection's part of one leg through.
func (c *stream) run(l *stretch) {
	r := l.r
	if c.buf == nil {
		c.buf = make([]byte, 16<<10)
	}
	if c.conn != nil {
		r.conns.Add(1)
		c.look(l)
	}
	for said := false; !r.aborted.Load(); {
		if c.conn == nil && !c.dial(l) {
			if !l.sleep(time.Duration(retryAfter)) {
				break
			}
			continue
		}
		if !said {
			said = true
			r.dialed()
		}
		<-l.started
		if !c.step(l) {
			break
		}
	}
}

// sleep waits for d; false: the leg is over.
func (l *stretch) sleep(d time.Duration) bool {
	select {
	case <-l.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// dial makes the connection; false: it could not be made, or the leg is over.
func (c *stream) dial(l *stretch) bool {
	select {
	case c.p.dials <- struct{}{}:
		defer func() { <-c.p.dials }()
	case <-l.ctx.Done():
		return false
	}
	if l.ctx.Err() != nil {
		return false
	}
	began := c.s.now()
	conn, raw, err := c.connect(l)
	for err != nil && l.ctx.Err() == nil {
		if c.addr++; c.addr%len(c.s.addrs) == 0 {
			break
		}
		began = c.s.now()
		conn, raw, err = c.connect(l)
	}
	now := c.s.now()
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	if err != nil {
		if l.ctx.Err() == nil {
			c.shard.rec.unconnected(err)
			l.r.refused(now)
		}
		return false
	}
	look, err := newProbe(raw)
	if err != nil {
		conn.Close()
		return false
	}
	c.shard.rec.connected(now-began, c.again)
	c.again, c.uses, c.used = true, 0, now
	c.mu.Lock()
	c.conn, c.raw, c.probe = conn, raw, look
	c.mu.Unlock()
	c.got, c.sent, c.werr = 0, 0, nil
	c.f.open()
	c.flush()
	l.r.connected()
	return true
}

// connect opens a connection and shakes hands.
func (c *stream) connect(l *stretch) (net.Conn, *net.TCPConn, error) {
	d := net.Dialer{Timeout: c.s.Timeout, KeepAlive: -1}
	conn, err := d.DialContext(l.ctx, "tcp", c.s.addrs[c.addr%len(c.s.addrs)])
	if err != nil {
		return nil, nil, err
	}
	raw, _ := conn.(*net.TCPConn)
	if c.p.tls == nil {
		return conn, raw, nil
	}
	safe, began := tls.Client(conn, c.p.tls), c.s.now()
	if err = conn.SetDeadline(time.Now().Add(c.s.Timeout)); err == nil {
		err = safe.HandshakeContext(l.ctx)
	}
	if err == nil {
		err = c.s.agreed(safe)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	took := c.s.now() - began
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	c.shard.rec.shook(took, safe.ConnectionState().DidResume)
	return safe, raw, nil
}

// interrupt ends a read or a write that is waiting.
func (c *stream) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (c *stream) shut() {
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

func (c *stream) drop(r *run, now int64) {
	c.shut()
	r.disconnected(now)
}

// restless is how long in ns a connection may have been idle without being
// looked at before it is used again.
const restless = int64(10 * time.Millisecond)

// step sends the next request and waits for what comes of it; false: there is
// nothing more to send.
func (c *stream) step(l *stretch) bool {
	var t ticket
	if l.r.queue != nil {
		var ok bool
		if t, ok = <-l.tickets; !ok {
			return false
		}
	} else if l.r.over() || l.r.leg.Think > 0 && c.uses > 0 && !l.sleep(l.r.leg.Think) {
		return false
	}
	if c.s.now()-c.used > restless && !c.look(l) {
		if l.r.queue != nil {
			l.r.queue.giveBack(t) // another connection, or this one when it is open again
		}
		return true
	}
	c.exchange(l, t)
	return true
}

// look drops a free connection that the other side has closed, or over which
// bytes came that nobody asked for.
func (c *stream) look(l *stretch) bool {
	for looks := 0; ; looks++ {
		n, closed := c.probe.pending()
		if n == 0 && !closed || looks == mostReads || l.r.aborted.Load() { // a server that never stops talking still has requests answered, or not
			return true
		}
		var unasked error
		if n > 0 { // of TLS or HTTP/2 itself, or more
			_ = c.conn.SetDeadline(time.Now().Add(c.s.Timeout))
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			n, err := c.conn.Read(c.buf)
			var late net.Error
			closed = err != nil && !(errors.As(err, &late) && late.Timeout())
			if n > 0 {
				c.got += int64(n)
				unasked = c.f.idle(c.buf[:n])
				c.flush()
			}
		}
		if !closed && unasked == nil && !c.f.answer().closes {
			continue
		}
		now := c.s.now()
		if unasked != nil {
			c.shard.mu.Lock()
			c.shard.rec.unasked(now)
			c.shard.mu.Unlock()
		}
		c.drop(l.r, now)
		return false
	}
}

// exchange sends one request and reads its answer.
func (c *stream) exchange(l *stretch, t ticket) {
	_ = c.conn.SetDeadline(time.Now().Add(c.s.Timeout))
	if l.r.aborted.Load() { // it may have been interrupted before
		c.interrupt()
	}
	last, err := c.begin(t)
	if err != nil {
		if l.r.queue != nil {
			l.r.queue.giveBack(t)
		}
		l.r.abort(err)
		c.drop(l.r, c.s.now())
		return
	}
	c.flush()
	class, rerr := c.read()
	now := c.s.now()
	a, err := c.settle()
	if c.used = now; rerr == nil {
		c.shard.mu.Lock()
		c.shard.rec.answered(&c.x, a, now)
		c.shard.mu.Unlock()
		c.leave(l.r, now, err != nil || last || a.closes || a.unsent)
		return
	}
	if l.r.aborted.Load() {
		c.drop(l.r, now)
		return
	}
	if err != nil && class == ofReset {
		rerr = err
	}
	c.shard.mu.Lock()
	c.shard.rec.failed(&c.x, class, rerr, now)
	c.shard.mu.Unlock()
	var only resetError // of this request
	c.leave(l.r, now, err != nil || last || a.closes || a.unsent || !errors.As(rerr, &only))
}

// leave ends an exchange: the connection is dropped, or what it owes the other
// side is sent.
func (c *stream) leave(r *run, now int64, drop bool) {
	if drop {
		c.drop(r, now)
		return
	}
	c.flush()
}

// begin takes the next request in turn.
func (c *stream) begin(t ticket) (last bool, err error) {
	sh := c.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	i := sh.turn
	if sh.turn++; sh.turn == len(c.s.requests) {
		sh.turn = 0
	}
	q := &c.s.requests[i]
	c.uses++
	ends := c.uses == c.s.PerConn
	if err := c.f.ask(q, ends, sh.rec.verifies()); err != nil {
		return false, fmt.Errorf("request %d: %w", i, err)
	}
	now := c.s.now()
	c.x = exchange{index: i, measured: t.measured, intended: t.at, sent: now}
	sh.rec.sending(&c.x, now)
	return ends || q.closes, nil
}

// read reads until the answer is whole, or says what went wrong.
func (c *stream) read() (class int, err error) {
	for {
		n, err := c.conn.Read(c.buf)
		if n > 0 {
			var now int64
			if c.x.pieces == 0 {
				now = c.s.now()
			}
			c.got += int64(n)
			a, err := c.feed(c.buf[:n])
			if a.begun {
				if c.x.pieces == 0 {
					c.x.first = now
				}
				c.x.pieces++
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
func (c *stream) broken(err error) (class int, why error) {
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

// classOf is the class of a framer's error.
func classOf(err error) int {
	var lost resetError
	if errors.As(err, &lost) {
		return ofReset
	}
	return ofFraming
}
