package load

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/tarebench/tare/load/h3"
)

// carriedConn is the transport of a portableConn over HTTP/3. It sends one request at a time. Several may
// share a QUIC connection.
type carriedConn struct {
	p      *portable
	s      *settings
	group  *connGroup
	link   *quicConn // nil without a connection
	stream CarrierStream
	out    []byte
	filled []byte
	isHead bool
	buf    []byte
	seen   int64 // bytes that the connection had received before the request
	stored storedBody
	h      responseHTTP3

	mu   sync.Mutex
	due  int64 // time in ns at which the request times out; 0 without a request
	late bool
}

type connGroup struct {
	mu      sync.Mutex
	link    *quicConn     // takes requests; nil without a connection
	dialing chan struct{} // closed when a dial ends; nil if none is in progress
	err     error
}

// quicConn is a QUIC connection in use. The mutex of its group guards it.
type quicConn struct {
	Carrier
	users   int
	retired bool
	in, out int64 // bytes counted for requests
	counted *run  // phase that counts it among its connections
}

var _ transport = (*carriedConn)(nil)

// carriedBuffer is the size in bytes of a read buffer. It is small because there may be 100,000 of them.
const carriedBuffer = 4 << 10

func newCarriedConn(p *portable, l *connGroup) *carriedConn {
	c := &carriedConn{p: p, s: p.s, group: l, stored: storedBody{budget: &p.s.bodyBudget}, buf: make([]byte, carriedBuffer)}
	c.h.body = c.stored.appendPart
	return c
}

// open uses the connection of the group, or opens one. One carriedConn dials while the others wait for the
// result.
func (c *carriedConn) open(ctx context.Context, addr string, onHandshake func(took int64, resumed bool)) (fresh bool, err error) {
	l := c.group
	l.mu.Lock()
	defer l.mu.Unlock()
	for waited := false; ; waited = true {
		if k := l.link; k != nil && !k.retired && !k.Over() {
			c.useConn(k)
			return false, nil
		}
		if waited && l.err != nil {
			return false, l.err
		}
		if l.dialing == nil {
			break
		}
		dialing := l.dialing
		l.mu.Unlock()
		select {
		case <-dialing:
		case <-ctx.Done():
		}
		l.mu.Lock()
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	l.dialing = make(chan struct{})
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, c.s.Timeout)
	defer cancel()
	carrier, took, resumed, err := c.s.Carry(ctx, addr, c.p.tls)
	if err == nil {
		onHandshake(took, resumed)
	}
	l.mu.Lock()
	close(l.dialing)
	if l.dialing, l.err = nil, err; err != nil {
		return true, err
	}
	l.link = &quicConn{Carrier: carrier}
	c.useConn(l.link)
	return true, nil
}

// useConn starts to use a connection. The caller must hold the mutex of the group.
func (c *carriedConn) useConn(k *quicConn) {
	k.users++
	c.link, c.stream = k, k.NewStream()
}

func (c *carriedConn) countIn(r *run) bool {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	if c.link.counted == r {
		return false
	}
	c.link.counted = r
	return true
}

func (c *carriedConn) startRequest(q *encodedRequest, x *exchange, _ bool) error {
	c.out, c.isHead = q.wire, q.head
	if len(x.numbers) == 0 {
		return nil
	}
	c.filled = append(c.filled[:0], q.wire...)
	c.out = c.filled
	return q.writeNumbers(c.filled, c.filled[len(c.filled)-q.body:], x.numbers)
}

func (c *carriedConn) roundTrip(l *portablePhase, x *exchange, due time.Time) (o reply) {
	c.stored.release()
	c.h.reset(c.isHead, x.verify)
	c.seen, _ = c.link.Traffic()
	c.setDue(int64(due.Sub(c.s.base)))
	err := c.sendAndRead(l, x, due)
	late := c.setDue(0)
	alive := c.addTraffic(x)
	c.h.response.stored, c.h.response.closes = c.stored.body, c.link.Over()
	o.response = c.h.response
	if err == nil {
		return o
	}
	o.class, o.why, o.ends = classReset, err, true
	var loss *Loss
	var garbled frameError
	switch {
	case late: // the connection is lost, too, if nothing has arrived since the request
		o.class, o.why, o.ends = classTimeout, errTimeout, !alive
	case errors.As(err, &garbled):
		o.class, o.ends = classFraming, false
	case errors.As(err, &loss):
		o.ends = !loss.Alone
		if loss.Garbled {
			o.class = classFraming
		}
		if loss.Left {
			o.why = unprocessedError(err.Error())
		}
	default: // an error of h3 or h2: the field section is invalid
		o.class = classFraming
	}
	return o
}

// setDue sets the time at which the request times out, in ns, or 0. It reports whether cancelLate has
// cancelled the request since the last call.
func (c *carriedConn) setDue(due int64) (late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late, c.late, c.due = c.late, false, due
	return late
}

func (c *carriedConn) cancelLate(now int64, givenUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due != 0 && (givenUp || now >= c.due) {
		c.late = true
		c.stream.Cancel(h3.RequestCancelled)
	}
}

// addTraffic counts the connection's new bytes for a request. alive reports whether any have arrived since
// the request was sent.
func (c *carriedConn) addTraffic(x *exchange) (alive bool) {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	in, out := c.link.Traffic()
	x.bytesIn, x.bytesOut = x.bytesIn+in-c.link.in, x.bytesOut+int(out-c.link.out)
	c.link.in, c.link.out = in, out
	return in > c.seen
}

func (c *carriedConn) sendAndRead(l *portablePhase, x *exchange, due time.Time) error {
	opened, err := c.stream.Open()
	if err == nil && !opened {
		ctx, cancel := context.WithDeadline(l.requests, due)
		if err = c.stream.OpenWait(ctx); ctx.Err() != nil {
			c.cancelLate(0, true)
		}
		cancel()
	}
	if err != nil {
		return err
	}
	if l.r.aborted.Load() { // the abort may have called interrupt before the stream was opened
		c.cancelLate(0, true)
	}
	if len(c.out) < minAsync { // too short to need a goroutine
		_ = c.stream.Send(c.out) // the response's read returns the reason for an error
		return c.readResponse(x)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = c.stream.Send(c.out)
	}()
	err = c.readResponse(x)
	select {
	case <-sent:
	default: // the server has responded without reading the rest
		c.stream.Cancel(h3.NoError)
		<-sent
	}
	return err
}

func (c *carriedConn) readResponse(x *exchange) error {
	for {
		n, err := c.stream.Read(c.buf)
		if n > 0 {
			if x.parts == 0 {
				x.first = c.s.nowNS()
			}
			x.parts++
			if feedErr := c.h.feed(c.buf[:n]); feedErr != nil {
				c.stream.Cancel(h3.MessageError)
				return feedErr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return c.h.checkEnd()
		case err != nil:
			return err
		}
	}
}

// checkIdle never returns an error: QUIC ends a connection with bytes that nobody requested.
func (c *carriedConn) checkIdle(*portablePhase) (usable bool, unsolicited error) {
	return !c.link.Over(), nil
}

func (c *carriedConn) sendPending() {}

func (c *carriedConn) interrupt() { c.cancelLate(0, true) }

// shut releases the connection, which takes no more requests. Its last user closes it, and gets true.
func (c *carriedConn) shut() bool {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	k := c.link
	if k == nil {
		return false
	}
	c.link = nil
	k.retired = true
	if k.users--; k.users > 0 {
		return false
	}
	k.Close()
	return true
}
