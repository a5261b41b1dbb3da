package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stream is one connection of the portable engine.
type stream struct {
	p     *portable
	s     *settings
	shard *shard
	w     wire

	opened bool
	addr   int   // of the session's addresses, the one to try
	again  bool  // it was open before
	uses   int   // requests since it was opened
	used   int64 // ns of the last answer
	x      exchange
	glance *time.Timer // of when to look at a connection that waits for a request
}

// wire is what a connection consists of: a socket that a framer speaks over, or what
// others carry requests with.
type wire interface {
	// open makes the connection and shakes hands; shook is told how long that took,
	// and whether the handshake went on from an earlier one.
	open(ctx context.Context, addr string, shook func(took int64, resumed bool)) error
	// ask begins a request, and last says that it is the connection's last one. Its
	// error says that a number of the request has no room.
	ask(q *encoded, x *exchange, last bool) error
	// answer sends the request and reads until its answer is whole, or says what
	// went wrong.
	answer(l *stretch, x *exchange, due time.Time) reply
	// look sees what became of a connection that nothing was asked on: whether it can
	// still be used, and what came that nobody asked for.
	look(l *stretch) (usable bool, unasked error)
	// rest sends what is owed to the other side between requests.
	rest()
	// interrupt ends a read or a write that is waiting.
	interrupt()
	shut()
}

// reply is what came of a request.
type reply struct {
	answer
	class int   // of why
	why   error // there is no whole answer; nil: there is
	ends  bool  // the connection cannot be used any longer
}

// run carries the connection's part of one leg through.
func (c *stream) run(l *stretch) {
	r := l.r
	if c.opened {
		r.conns.Add(1)
		c.look(l)
	}
	for said := false; !r.aborted.Load(); {
		if !c.opened && !c.dial(l.ctx, l) {
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

// dial makes the connection; false: it could not be made, or ctx is over.
func (c *stream) dial(ctx context.Context, l *stretch) bool {
	select {
	case c.p.dials <- struct{}{}:
		defer func() { <-c.p.dials }()
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		return false
	}
	began := c.s.now()
	err := c.w.open(ctx, c.s.addrs[c.addr%len(c.s.addrs)], c.shook)
	for err != nil && ctx.Err() == nil {
		if c.addr++; c.addr%len(c.s.addrs) == 0 {
			break
		}
		began = c.s.now()
		err = c.w.open(ctx, c.s.addrs[c.addr%len(c.s.addrs)], c.shook)
	}
	now := c.s.now()
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			c.shard.rec.unconnected(err)
			l.r.refused(now)
		}
		return false
	}
	c.shard.rec.connected(now-began, c.again)
	c.opened, c.again, c.uses, c.used = true, true, 0, now
	l.r.connected()
	return true
}

func (c *stream) shook(took int64, resumed bool) {
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	c.shard.rec.shook(took, resumed)
}

func (c *stream) drop(r *run, now int64) {
	c.w.shut()
	c.opened = false
	r.disconnected(now)
}

// restless is how long in ns a connection may have been idle without being
// looked at before it is used again.
const restless = int64(10 * time.Millisecond)

// attentive is how often a connection that has nothing to send is looked at: a
// server's ping is answered, and its end is seen.
const attentive = 100 * time.Millisecond

// step sends the next request and waits for what comes of it; false: there is
// nothing more to send.
func (c *stream) step(l *stretch) bool {
	var t ticket
	if l.r.queue != nil {
		if c.glance == nil {
			c.glance = time.NewTimer(attentive)
		}
		c.glance.Reset(attentive)
		var ok bool
		select {
		case t, ok = <-l.tickets:
			if !ok {
				return false
			}
		case <-c.glance.C:
			c.look(l)
			return true
		}
	} else if l.r.over() || l.r.leg.Think > 0 && c.uses > 0 && !c.think(l) {
		return false
	}
	if !c.opened { // the other side closed it meanwhile
		return true
	}
	if c.s.now()-c.used > restless && !c.look(l) {
		if l.r.queue != nil {
			l.r.queue.giveBack(t) // another connection, or this one when it is open again
		}
		return true
	}
	if l.r.queue == nil && !l.r.admit() {
		return false
	}
	c.exchange(l, t)
	return true
}

// think waits for the think time, and looks at the connection meanwhile; false: the
// leg is over.
func (c *stream) think(l *stretch) bool {
	for left := l.r.leg.Think; left > 0; left -= attentive {
		if !l.sleep(min(left, attentive)) {
			return false
		}
		if c.opened {
			c.look(l)
		}
	}
	return true
}

// look drops a free connection that the other side has closed, or over which
// bytes came that nobody asked for.
func (c *stream) look(l *stretch) bool {
	usable, unasked := c.w.look(l)
	if usable {
		return true
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

// exchange sends one request and reads its answer.
func (c *stream) exchange(l *stretch, t ticket) {
	last, err := c.begin(t)
	if err != nil {
		if l.r.queue != nil {
			l.r.queue.giveBack(t)
		}
		l.r.abort(err)
		c.drop(l.r, c.s.now())
		return
	}
	for {
		o := c.w.answer(l, &c.x, c.due())
		now := c.s.now()
		o.ends = o.ends || last || o.closes || o.unsent
		if c.used = now; o.why == nil {
			c.shard.mu.Lock()
			c.shard.rec.answered(&c.x, o.answer, now)
			c.shard.mu.Unlock()
			c.leave(l.r, now, o.ends)
			return
		}
		if l.r.aborted.Load() {
			c.drop(l.r, now)
			return
		}
		c.leave(l.r, now, o.ends)
		if c.x.sentAgain(o.why) {
			if last, err = c.askAgain(l); err == nil {
				continue
			}
			if l.r.aborted.Load() {
				return
			}
			o.class, o.why, now = ofTimeout, err, c.s.now()
		}
		c.shard.mu.Lock()
		c.shard.rec.failed(&c.x, o.class, o.why, now)
		c.shard.mu.Unlock()
		return
	}
}

// due is when the request will have taken too long.
func (c *stream) due() time.Time {
	return c.s.base.Add(time.Duration(c.x.sent) + c.s.Timeout)
}

// askAgain asks once more for what the server left, if need be on a connection of
// its own. Its error says that there was none in time.
func (c *stream) askAgain(l *stretch) (last bool, err error) {
	ctx, cancel := context.WithDeadline(l.sending, c.due())
	defer cancel()
	for !c.opened && !c.dial(ctx, l) {
		select {
		case <-ctx.Done():
			return false, errTimeout
		case <-time.After(time.Duration(retryAfter)):
		}
	}
	sh := c.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	last, err = c.ask()
	sh.rec.sending(&c.x, c.s.now())
	return last, err
}

// ask begins the request on the connection, and reports whether it is its last one.
func (c *stream) ask() (last bool, err error) {
	q := &c.s.requests[c.x.index]
	c.uses++
	ends := c.uses == c.s.PerConn
	if err := c.w.ask(q, &c.x, ends); err != nil {
		return false, fmt.Errorf("request %d: %w", c.x.index, err)
	}
	return ends || q.closes, nil
}

// leave ends an exchange: the connection is dropped, or what it owes the other
// side is sent.
func (c *stream) leave(r *run, now int64, drop bool) {
	if drop {
		c.drop(r, now)
		return
	}
	c.w.rest()
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
	c.x = exchange{
		index: i, measured: t.measured, intended: t.at,
		keep: sh.rec.verifies(), numbers: c.s.requests[i].draw(c.x.numbers[:0]),
	}
	if last, err = c.ask(); err != nil {
		return false, err
	}
	c.x.sent = c.s.now()
	sh.rec.sending(&c.x, c.x.sent)
	return last, nil
}

// ofRequest reports whether an error says of one request alone that it has no answer.
func ofRequest(err error) bool {
	var lost resetError
	var left leftError
	return errors.As(err, &lost) || errors.As(err, &left)
}

// classOf is the class of a framer's error.
func classOf(err error) int {
	if ofRequest(err) {
		return ofReset
	}
	return ofFraming
}
