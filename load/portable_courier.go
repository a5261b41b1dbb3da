package load

import (
	"context"
	"errors"
	"time"
)

// courier is a connection that others carry requests with.
type courier struct {
	p *portable
	s *settings
	c Carrier // nil: closed

	in, out int64 // bytes that are accounted for
	next    Request
	own     []byte // room for a path and a body with numbers of their own
	x       *exchange
	a       answer
	kept    keptBody
	head    func(status int)
	body    func(piece []byte)
}

var _ wire = (*courier)(nil)

func newCourier(p *portable) *courier {
	c := &courier{p: p, s: p.s, kept: keptBody{room: &p.s.room}}
	c.head, c.body = c.began, c.came
	return c
}

func (c *courier) open(ctx context.Context, addr string, shook func(took int64, resumed bool)) error {
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

// ask makes the request that is sent next.
func (c *courier) ask(q *encoded, x *exchange, _ bool) error {
	c.next = c.s.Requests[x.index]
	if len(x.numbers) == 0 {
		return nil
	}
	c.own = append(append(c.own[:0], q.wire...), q.content...)
	path, body := c.own[:len(q.wire)], c.own[len(q.wire):]
	err := q.fill(path, body, x.numbers)
	c.next.Path, c.next.Body = string(path), body
	return err
}

func (c *courier) began(status int) {
	c.x.first, c.x.pieces = c.s.now(), 2 // an answer has a head and an end
	c.a.status = status
}

func (c *courier) came(piece []byte) {
	c.a.body += int64(len(piece))
	c.a.keep = c.a.keep && c.kept.add(piece)
}

func (c *courier) answer(l *stretch, x *exchange, due time.Time) (o reply) {
	ctx, cancel := context.WithDeadline(l.sending, due)
	defer cancel()
	c.kept.empty()
	c.x, c.a = x, answer{keep: x.keep}
	err := c.c.Exchange(ctx, c.next, c.head, c.body)
	in, out := c.c.Traffic()
	x.in, x.out = x.in+in-c.in, x.out+int(out-c.out)
	c.in, c.out = in, out
	c.a.kept, c.a.closes = c.kept.body, c.c.Over()
	o.answer = c.a
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
			o.why = leftError(err.Error())
		}
	}
	if ctx.Err() != nil {
		o.class, o.why, o.ends = ofTimeout, errTimeout, true
	}
	return o
}

// look cannot see what came unasked: whoever carries requests takes it.
func (c *courier) look(*stretch) (usable bool, unasked error) { return !c.c.Over(), nil }

func (c *courier) rest() {}

// interrupt has nothing to do: requests end with their context.
func (c *courier) interrupt() {}

func (c *courier) shut() {
	if c.c != nil {
		c.c.Close()
		c.c = nil
	}
}
