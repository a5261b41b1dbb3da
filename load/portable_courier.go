package load

import (
	"context"
	"errors"
	"time"
)

// carriedConn is a connection of Options.Carry.
type carriedConn struct {
	p *portable
	s *settings
	c Carrier // nil: closed

	in, out int64 // bytes that were assigned to requests
	next    Request
	filled  []byte // buffer of a path and a body with numbers
	request *exchange
	current response
	kept    keptBody
	head    func(status int)
	body    func(piece []byte)
}

var _ transport = (*carriedConn)(nil)

func newCarriedConn(p *portable) *carriedConn {
	c := &carriedConn{p: p, s: p.s, kept: keptBody{room: &p.s.room}}
	c.head, c.body = c.startResponse, c.addBody
	return c
}

func (c *carriedConn) open(ctx context.Context, addr string, shook func(took int64, resumed bool)) error {
	ctx, cancel := context.WithTimeout(ctx, c.s.Timeout)
	defer cancel()
	carrier, took, resumed, err := c.s.Carry(ctx, addr, c.p.tls)
	if err != nil {
		return err
	}
	shook(took, resumed)
	c.c, c.in, c.out = carrier, 0, 0
	return nil
}

// startRequest prepares the next request.
func (c *carriedConn) startRequest(q *encodedRequest, x *exchange, _ bool) error {
	c.next = c.s.Requests[x.index]
	if len(x.numbers) == 0 {
		return nil
	}
	c.filled = append(append(c.filled[:0], q.wire...), q.content...)
	path, body := c.filled[:len(q.wire)], c.filled[len(q.wire):]
	err := q.writeNumbers(path, body, x.numbers)
	c.next.Path, c.next.Body = string(path), body
	return err
}

func (c *carriedConn) startResponse(status int) {
	c.request.first, c.request.parts = c.s.nowNS(), 2 // a response has a header and an end
	c.current.status = status
}

func (c *carriedConn) addBody(piece []byte) {
	c.current.body += int64(len(piece))
	c.current.keep = c.current.keep && c.kept.appendPart(piece)
}

func (c *carriedConn) roundTrip(l *portableLeg, x *exchange, due time.Time) (o reply) {
	ctx, cancel := context.WithDeadline(l.requests, due)
	defer cancel()
	c.kept.release()
	c.request, c.current = x, response{keep: x.verify}
	err := c.c.Exchange(ctx, c.next, c.head, c.body)
	in, out := c.c.Traffic()
	x.bytesIn, x.bytesOut = x.bytesIn+in-c.in, x.bytesOut+int(out-c.out)
	c.in, c.out = in, out
	c.current.kept, c.current.closes = c.kept.body, c.c.Over()
	o.response = c.current
	if err == nil {
		return o
	}
	o.class, o.why, o.ends = ofReset, err, true
	var loss *Loss
	if errors.As(err, &loss) {
		o.ends = !loss.Alone
		if loss.Garbled {
			o.class = ofFraming
		}
		if loss.Left {
			o.why = unprocessedError(err.Error())
		}
	}
	if ctx.Err() != nil {
		o.class, o.why, o.ends = ofTimeout, errTimeout, true
	}
	return o
}

// checkIdle cannot find unsolicited bytes: the Carrier handles them.
func (c *carriedConn) checkIdle(*portableLeg) (usable bool, unasked error) { return !c.c.Over(), nil }

func (c *carriedConn) sendPending() {}

// interrupt has nothing to do: requests end with their context.
func (c *carriedConn) interrupt() {}

func (c *carriedConn) shut() {
	if c.c != nil {
		c.c.Close()
		c.c = nil
	}
}
