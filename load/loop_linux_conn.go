//go:build linux && (amd64 || arm64)

package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// handle does what an event of one connection asks for. Events come once for
// each change, so whatever is there must be taken now.
func (t *thread) handle(ev event) {
	l := &t.links[ev.index]
	if l.turn != ev.turn {
		return
	}
	c := l.first()
	l.gone = l.gone || ev.gone
	if l.secure != nil && ev.in {
		l.secure.news(l.gone)
	}
	if c.in == &t.dialing {
		t.dialed(l)
	} else if ev.out {
		t.flush(l)
	}
	switch {
	case !ev.in || l.turn != ev.turn || !l.opened:
	case l.h != nil:
		t.receive2(l)
	case c.in == &t.busy:
		t.receive(l)
	case c.in == &t.idle, c.in == &t.pausing:
		t.disturbed(l)
	}
	if t.r.queue != nil && t.idle.head != nil && (!t.holds || t.held.at <= t.now) {
		t.pump()
		t.sendOwed()
	}
}

// connect opens connections that are closed, unless the leg is over, and gives
// up attempts that take too long. It returns when it is to be called again.
func (t *thread) connect(over bool) (next int64) {
	for t.failed.due(retryAfter) <= t.now {
		t.closed.push(t.failed.head, t.now)
	}
	for !over && t.closed.head != nil && t.dialing.n < maxDialing {
		t.dial(t.closed.head.link)
	}
	limit := int64(t.s.Timeout)
	for t.dialing.due(limit) <= t.now {
		t.refused(t.dialing.head.link, os.NewSyscallError("connect", syscall.ETIMEDOUT))
	}
	if !t.said && t.unmade == 0 {
		t.said = true
		t.r.dialed()
	}
	t.r.patience(t.now)
	return min(t.failed.due(retryAfter), t.dialing.due(limit))
}

func (t *thread) dial(l *link) {
	t.now = t.s.now()
	t.dialing.push(l.first(), t.now)
	fd, err := dialNow(t.addrs[l.addr%len(t.addrs)])
	l.fd = fd
	if err == nil {
		if err = t.net.watch(l); err == nil {
			return
		}
	}
	t.refused(l, err)
}

// dialed is said of a connection that was made, or could not be; over TLS of one
// whose handshake may go on, too.
func (t *thread) dialed(l *link) {
	t.now = t.s.now()
	if l.secure == nil {
		errno, err := syscall.GetsockoptInt(l.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
		if err != nil || errno != 0 {
			t.refused(l, os.NewSyscallError("connect", syscall.Errno(errno)))
			return
		}
		if t.tls != nil {
			l.secure = newSecure(t.net, l, t.tls, t.now)
		}
	}
	if s := l.secure; s != nil {
		whole, err := s.handshake()
		t.now = t.s.now()
		if err == nil && whole {
			err = t.s.agreed(s.conn)
		}
		if err != nil {
			t.refused(l, err)
		}
		if err != nil || !whole {
			return
		}
		t.rec.shook(t.now-s.began, s.conn.ConnectionState().DidResume)
	}
	if !l.made && !t.said {
		t.unmade--
	}
	l.made = true
	t.rec.connected(t.now-l.first().since, l.again)
	l.again, l.opened, l.uses, l.rest = true, true, 0, nil
	t.r.connected()
	if l.h != nil {
		t.open2(l)
	}
	t.next(l.first())
}

// refused is said of a connection that could not be made. It has failed when
// every address of the target has.
func (t *thread) refused(l *link, err error) {
	t.shut(l)
	if l.addr++; l.addr%len(t.addrs) != 0 {
		return
	}
	t.rec.unconnected(err)
	t.failed.push(l.first(), t.now)
	t.r.refused(t.now)
}

// shut closes the descriptor, and the connection is one to be opened.
func (t *thread) shut(l *link) {
	l.close(t.net)
	l.turn++
	for i := range l.places {
		l.places[i].in.remove(&l.places[i])
	}
	t.closed.push(l.first(), t.now)
}

// close closes the descriptor without a farewell, which might have to wait.
func (l *link) close(net sockets) {
	if l.secure != nil {
		l.secure.close()
		l.secure = nil
	}
	if l.fd >= 0 {
		net.shut(l)
	}
	l.fd, l.opened, l.gone, l.deaf = -1, false, false, false
}

// drop shuts a connection that was open.
func (t *thread) drop(l *link) {
	t.shut(l)
	t.r.disconnected(t.now)
}

// next is what a place is for when it is free: it is sent on when
// all answers that have come are taken, so that none of them has to wait for
// requests to be sent before its time is read.
func (t *thread) next(c *conn) {
	if t.r.leg.Think > 0 && c.link.uses > 0 && !t.r.over() {
		t.pausing.push(c, t.now)
		return
	}
	t.idle.push(c, t.now)
}

// send begins the next request in a free place.
func (t *thread) send(c *conn, tk ticket) {
	l, i := c.link, t.turn
	if t.turn++; t.turn == len(t.s.requests) {
		t.turn = 0
	}
	q := &t.s.requests[i]
	l.uses++
	if l.h != nil {
		x := exchange{index: i, measured: tk.measured, intended: tk.at, sent: t.now, keep: t.rec.verifies(), numbers: q.draw(c.x.numbers[:0])}
		t.send2(c, x)
		return
	}
	l.rest, c.last = q.wire, q.closes
	if l.uses == t.s.PerConn {
		l.rest, c.last = q.last, true
	}
	if len(q.draws) > 0 {
		l.own, l.numbers = append(l.own[:0], l.rest...), q.draw(l.numbers[:0])
		l.rest = l.own
		if err := q.fill(l.own, l.own[len(l.own)-q.body:], l.numbers); err != nil {
			t.cannot(l, tk, i, err)
			return
		}
	}
	c.x = exchange{index: i, measured: tk.measured, intended: tk.at, sent: t.now}
	l.f.reset(q.head, t.rec.verifies())
	t.rec.sending(&c.x, t.now)
	t.busy.push(c, t.now)
	t.push(l)
}

// cannot gives up a leg whose request i cannot be made.
func (t *thread) cannot(l *link, tk ticket, i int, err error) {
	if t.r.queue != nil {
		t.r.queue.giveBack(tk)
	}
	t.r.abort(fmt.Errorf("request %d: %w", i, err))
	t.drop(l)
}

// push sends as much as the socket takes; an event says when it takes more. It
// reports whether it took all.
func (t *thread) push(l *link) bool {
	if l.deaf {
		return false
	}
	var n int
	var errno syscall.Errno
	if l.secure != nil {
		n, errno = l.secure.send(l.rest)
	} else {
		n, errno = t.net.send(l, l.rest)
	}
	if l.h != nil {
		l.sent += n
	} else {
		l.first().x.out += n
	}
	l.rest = l.rest[n:]
	switch errno {
	case 0:
		return true
	case syscall.EAGAIN:
	case syscall.EPIPE, syscall.ECONNRESET: // it may have answered before it closed
		l.gone, l.deaf = true, true
		if l.secure != nil {
			l.secure.news(true)
		}
		t.later(l)
	default:
		t.now = t.s.now()
		t.lost(l, ofReset, os.NewSyscallError("send", errno))
	}
	return false
}

// flush sends what a connection has to send.
func (t *thread) flush(l *link) {
	if !l.opened || l.h == nil && l.first().in != &t.busy {
		return
	}
	for t.push(l) && l.h != nil {
		if l.rest = l.h.owed(); len(l.rest) == 0 {
			return
		}
	}
}

// owe has a connection flushed before the thread waits.
func (t *thread) owe(l *link) {
	if !l.owes {
		l.owes = true
		t.owing = append(t.owing, l)
	}
}

// sendOwed flushes the connections that have something to send.
func (t *thread) sendOwed() {
	for i := 0; i < len(t.owing); i++ {
		l := t.owing[i]
		l.owes = false
		t.flush(l)
	}
	t.owing = t.owing[:0]
}

// later has a connection read again before the thread waits.
func (t *thread) later(l *link) {
	if !l.more {
		l.more = true
		t.unread = append(t.unread, l)
	}
}

// readOn reads on where there was too much to be read at a time.
func (t *thread) readOn() {
	for range len(t.unread) {
		l := t.unread[0]
		t.unread = append(t.unread[:0], t.unread[1:]...)
		l.more = false
		switch {
		case !l.opened:
		case l.h != nil:
			t.receive2(l)
		case l.first().in == &t.busy:
			t.receive(l)
		}
	}
}

// read takes what has come: nothing without an error is the end. It returns
// errAgain where nothing has, and whether there may be more. What it returns holds
// until the next call.
func (t *thread) read(l *link) (b []byte, more bool, err error) {
	if l.secure != nil {
		n, err := l.secure.conn.Read(t.buf)
		if n > 0 {
			return t.buf[:n], true, nil
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, false, err
	}
	b, more, errno := t.net.receive(l, t.buf)
	switch errno {
	case 0:
		return b, more, nil
	case syscall.EAGAIN:
		return nil, false, errAgain
	}
	return nil, false, os.NewSyscallError("recv", errno)
}

// receive takes what there is of an answer. Less than fits says that it was
// all, unless the other side is gone: then the end is still to be read.
func (t *thread) receive(l *link) {
	c := l.first()
	for range mostReads {
		b, more, err := t.read(l)
		if errors.Is(err, errAgain) {
			return
		}
		t.now = t.s.now()
		if err != nil {
			t.lose(c, ofReset, err)
			return
		}
		if len(b) == 0 {
			t.ended(c)
			return
		}
		if c.x.pieces == 0 {
			c.x.first = t.now
		}
		c.x.pieces++
		c.x.in += int64(len(b))
		used, err := l.f.feed(b)
		switch {
		case err != nil:
			t.lose(c, ofFraming, err)
			return
		case used < len(b):
			t.lose(c, ofFraming, frameError("more than one answer"))
			return
		case l.f.done():
			t.answered(c, l.gone && l.secure == nil || more && t.another(l))
			return
		case !more:
			return
		}
	}
	t.later(l)
}

// another reports whether something follows an answer.
func (t *thread) another(l *link) bool {
	b, _, err := t.read(l)
	if err == nil && len(b) > 0 {
		t.rec.unasked(t.now)
	}
	return !errors.Is(err, errAgain)
}

// ended is said when the other side has closed.
func (t *thread) ended(c *conn) {
	if err := c.link.f.end(); err != nil {
		t.lose(c, ofReset, err)
		return
	}
	t.answered(c, true)
}

// answered is said when an answer is whole. A connection whose other side is
// gone, or that was asked to close, or that has not taken the whole request,
// is not used again.
func (t *thread) answered(c *conn, gone bool) {
	l := c.link
	t.rec.answered(&c.x, l.f.answer(), t.now)
	if gone || c.last || l.f.closes || len(l.rest) > 0 || l.secure != nil && len(l.secure.rest) > 0 {
		t.drop(l)
		return
	}
	t.next(c)
}

// lose is said of a request that will have no whole answer.
func (t *thread) lose(c *conn, class int, err error) {
	t.rec.failed(&c.x, class, err, t.now)
	t.drop(c.link)
}

// lost is said of a connection that broke.
func (t *thread) lost(l *link, class int, err error) {
	if l.h != nil {
		t.lost2(l, class, err)
		return
	}
	t.lose(l.first(), class, err)
}

// tooLate is said of a request that was not answered in time.
func (t *thread) tooLate(c *conn) {
	if c.link.h != nil {
		t.tooLate2(c)
		return
	}
	t.lose(c, ofTimeout, errTimeout)
}

// disturbed is said when something comes over a free connection: it was
// closed, or bytes came that nobody asked for.
func (t *thread) disturbed(l *link) {
	b, _, err := t.read(l)
	t.now = t.s.now()
	if errors.Is(err, errAgain) {
		return
	}
	if err == nil && len(b) > 0 {
		t.rec.unasked(t.now)
	}
	t.drop(l)
}
