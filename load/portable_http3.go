package load

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/tarebench/tare/load/h3"
)

// carriedConn sends requests of HTTP/3, one at a time, over a connection of QUIC that it may
// share with others.
type carriedConn struct {
	p      *portable
	s      *settings
	group  *connGroup
	link   *quicConn // nil if there is none
	stream CarrierStream
	out    []byte // of the request
	own    []byte // room for a request with numbers of its own
	bare   bool   // the request is HEAD
	buf    []byte
	seen   int64 // bytes that the connection had received when the request was sent
	kept   keptBody
	h      responseHTTP3

	mu   sync.Mutex
	due  int64 // ns, when the request will have taken too long; 0 if none is in flight
	late bool  // it has
}

// connGroup has the connection that several carriedConns share.
type connGroup struct {
	mu      sync.Mutex
	link    *quicConn     // that takes requests; nil if there is none
	dialing chan struct{} // closed after a carriedConn has dialled; nil if none does
	err     error         // of the last dialling
}

// quicConn is a connection of QUIC that is in use. Its group's mutex guards it.
type quicConn struct {
	Carrier
	users   int // carriedConns
	retired bool
	in, out int64 // bytes that requests have accounted for
	counted *run  // that counts it among its connections
}

var _ transport = (*carriedConn)(nil)

// carriedBuffer is the size in bytes of what a carriedConn reads at a time. There may be
// 100,000 of them.
const carriedBuffer = 4 << 10

func newCarriedConn(p *portable, l *connGroup) *carriedConn {
	c := &carriedConn{p: p, s: p.s, group: l, kept: keptBody{room: &p.s.room}, buf: make([]byte, carriedBuffer)}
	c.h.body = c.kept.appendPart
	return c
}

// open takes the group's connection, or dials one if there is none. The other carriedConns of
// the group wait meanwhile.
func (c *carriedConn) open(ctx context.Context, addr string, shook func(took int64, resumed bool)) (fresh bool, err error) {
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
		shook(took, resumed)
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

// useConn begins to use a connection. The caller holds the group's mutex.
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
	c.out, c.bare = q.wire, q.head
	if len(x.numbers) == 0 {
		return nil
	}
	c.own = append(c.own[:0], q.wire...)
	c.out = c.own
	return q.writeNumbers(c.own, c.own[len(c.own)-q.body:], x.numbers)
}

func (c *carriedConn) roundTrip(l *portableLeg, x *exchange, due time.Time) (o reply) {
	c.kept.release()
	c.h.reset(c.bare, x.verify)
	c.seen, _ = c.link.Traffic()
	c.setDue(int64(due.Sub(c.s.base)))
	err := c.sendAndRead(l, x, due)
	late := c.setDue(0)
	alive := c.addTraffic(x)
	c.h.a.kept, c.h.a.closes = c.kept.body, c.link.Over()
	o.response = c.h.a
	if err == nil {
		return o
	}
	o.class, o.why, o.ends = ofReset, err, true
	var loss *Loss
	var garbled frameError
	switch {
	case late: // if nothing else came either, the connection is dead
		o.class, o.why, o.ends = ofTimeout, errTimeout, !alive
	case errors.As(err, &garbled):
		o.class, o.ends = ofFraming, false
	case errors.As(err, &loss):
		o.ends = !loss.Alone
		if loss.Garbled {
			o.class = ofFraming
		}
		if loss.Left {
			o.why = unprocessedError(err.Error())
		}
	default: // of h3 and h2: the field section
		o.class = ofFraming
	}
	return o
}

// setDue sets when the request will have taken too long, and reports whether cancelLate has
// cancelled the one before.
func (c *carriedConn) setDue(due int64) (late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late, c.late, c.due = c.late, false, due
	return late
}

// cancelLate cancels the request in flight if it has taken too long, or in any case if it is
// given up.
func (c *carriedConn) cancelLate(now int64, givenUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due != 0 && (givenUp || now >= c.due) {
		c.late = true
		c.stream.Cancel(h3.RequestCancelled)
	}
}

// addTraffic adds to a request the bytes that have come and gone since the last one of the
// connection ended, and reports whether any have come since it was sent.
func (c *carriedConn) addTraffic(x *exchange) (alive bool) {
	c.group.mu.Lock()
	defer c.group.mu.Unlock()
	in, out := c.link.Traffic()
	x.bytesIn, x.bytesOut = x.bytesIn+in-c.link.in, x.bytesOut+int(out-c.link.out)
	c.link.in, c.link.out = in, out
	return in > c.seen
}

// sendAndRead sends the request and reads its answer to the end of the stream.
func (c *carriedConn) sendAndRead(l *portableLeg, x *exchange, due time.Time) error {
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
	if l.r.aborted.Load() { // after interrupt has found no stream
		c.cancelLate(0, true)
	}
	if len(c.out) < minAsync {
		_ = c.stream.Send(c.out) // if it fails, the answer says why
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
	default: // the server answers without reading the rest
		c.stream.Cancel(h3.NoError)
		<-sent
	}
	return err
}

// readResponse reads the answer.
func (c *carriedConn) readResponse(x *exchange) error {
	for {
		n, err := c.stream.Read(c.buf)
		if n > 0 {
			if x.parts == 0 {
				x.first = c.s.nowNS()
			}
			x.parts++
			if wrong := c.h.feed(c.buf[:n]); wrong != nil {
				c.stream.Cancel(h3.MessageError)
				return wrong
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

// checkIdle cannot see what came unasked: the connection ends then.
func (c *carriedConn) checkIdle(*portableLeg) (usable bool, unasked error) {
	return !c.link.Over(), nil
}

func (c *carriedConn) sendPending() {}

// interrupt ends the request in flight.
func (c *carriedConn) interrupt() { c.cancelLate(0, true) }

// shut lets go of the connection, which takes no more requests. It reports whether it
// has closed it: the last carriedConn does.
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
