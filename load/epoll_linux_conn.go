//go:build linux && (amd64 || arm64)

package load

import (
	"os"
	"syscall"
)

// handle does what an event of one connection asks for. Events come once for
// each change, so whatever is there must be taken now.
func (t *thread) handle(ev *syscall.EpollEvent) {
	if ev.Fd < 0 { // the bell
		t.now = t.s.now()
		return
	}
	c := &t.conns[ev.Fd]
	if c.turn != ev.Pad {
		return
	}
	in, gone := ev.Events&^epollOut != 0, ev.Events&(epollRdHup|epollHup|epollErr) != 0
	if c.in == &t.dialing {
		t.dialed(c)
	} else if c.in == &t.busy && len(c.rest) > 0 && ev.Events&epollOut != 0 {
		t.push(c)
	}
	switch {
	case !in || c.turn != ev.Pad:
	case c.in == &t.busy:
		t.receive(c, gone)
	case c.in == &t.idle, c.in == &t.pausing:
		t.disturbed(c)
	}
	if t.r.queue != nil && t.idle.head != nil && (!t.holds || t.held.at <= t.now) {
		t.pump()
	}
}

// connect opens connections that are closed, unless the leg is over, and gives
// up attempts that take too long. It returns when it is to be called again.
func (t *thread) connect(over bool) (next int64) {
	for t.failed.due(retryAfter) <= t.now {
		t.closed.push(t.failed.head, t.now)
	}
	for !over && t.closed.head != nil && t.dialing.n < maxDialing {
		t.dial(t.closed.head)
	}
	limit := int64(t.s.Timeout)
	for t.dialing.due(limit) <= t.now {
		t.refused(t.dialing.head, os.NewSyscallError("connect", syscall.ETIMEDOUT))
	}
	if !t.said && t.unmade == 0 {
		t.said = true
		t.r.dialed()
	}
	t.r.patience(t.now)
	return min(t.failed.due(retryAfter), t.dialing.due(limit))
}

func (t *thread) dial(c *conn) {
	t.now = t.s.now()
	t.dialing.push(c, t.now)
	fd, err := dialNow(t.addrs[c.addr%len(t.addrs)])
	c.fd = fd
	if err == nil {
		if err = register(t.fd, fd, c.index, c.turn); err == nil {
			return
		}
		err = os.NewSyscallError("epoll_ctl", err)
	}
	t.refused(c, err)
}

// dialed is said of a connection that was made, or could not be.
func (t *thread) dialed(c *conn) {
	t.now = t.s.now()
	errno, err := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err != nil || errno != 0 {
		t.refused(c, os.NewSyscallError("connect", syscall.Errno(errno)))
		return
	}
	if !c.made && !t.said {
		t.unmade--
	}
	c.made = true
	t.rec.connected(t.now-c.since, c.again)
	c.again, c.uses, c.rest = true, 0, nil
	t.r.connected()
	t.next(c)
}

// refused is said of a connection that could not be made. It has failed when
// every address of the target has.
func (t *thread) refused(c *conn, err error) {
	t.shut(c)
	if c.addr++; c.addr%len(t.addrs) != 0 {
		return
	}
	t.rec.unconnected(err)
	t.failed.push(c, t.now)
	t.r.refused(t.now)
}

// shut closes the descriptor, and the connection is one to be opened.
func (t *thread) shut(c *conn) {
	if c.fd >= 0 {
		_ = syscall.Close(c.fd)
	}
	c.fd = -1
	c.turn++
	t.closed.push(c, t.now)
}

// drop shuts a connection that was open.
func (t *thread) drop(c *conn) {
	t.shut(c)
	t.r.disconnected(t.now)
}

// next is what an open connection does when it is free: it is sent on when
// all answers that have come are taken, so that none of them has to wait for
// requests to be sent before its time is read.
func (t *thread) next(c *conn) {
	if t.r.leg.Think > 0 && c.uses > 0 && !t.r.over() {
		t.pausing.push(c, t.now)
		return
	}
	t.idle.push(c, t.now)
}

// send begins the next request on a free connection.
func (t *thread) send(c *conn, tk ticket) {
	i := t.turn
	if t.turn++; t.turn == len(t.s.requests) {
		t.turn = 0
	}
	q := &t.s.requests[i]
	c.uses++
	c.rest, c.last = q.wire, q.closes
	if c.uses == t.s.PerConn {
		c.rest, c.last = q.last, true
	}
	c.x = exchange{index: i, measured: tk.measured, intended: tk.at, sent: t.now}
	c.f.reset(q.head, t.rec.verifies())
	t.rec.sending(&c.x, t.now)
	t.busy.push(c, t.now)
	t.push(c)
}

// push sends as much of a request as the socket takes; an event says when it
// takes more.
func (t *thread) push(c *conn) {
	for len(c.rest) > 0 {
		n, errno := sendNow(c.fd, c.rest)
		switch errno {
		case 0:
			c.x.out += n
			c.rest = c.rest[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return
		case syscall.EPIPE: // it may have answered before it closed
			t.receive(c, true)
			return
		default:
			t.now = t.s.now()
			t.lose(c, ofReset, os.NewSyscallError("send", errno))
			return
		}
	}
}

// receive takes what there is of an answer. Less than fits says that it was
// all, unless the other side is gone: then the end is still to be read.
func (t *thread) receive(c *conn, gone bool) {
	for {
		n, errno := receiveNow(c.fd, t.buf)
		if errno == syscall.EINTR {
			continue
		}
		if errno == syscall.EAGAIN {
			return
		}
		t.now = t.s.now()
		if errno != 0 {
			t.lose(c, ofReset, os.NewSyscallError("recv", errno))
			return
		}
		if n == 0 {
			t.ended(c)
			return
		}
		if c.x.pieces == 0 {
			c.x.first = t.now
		}
		c.x.pieces++
		c.x.in += int64(n)
		used, err := c.f.feed(t.buf[:n])
		switch {
		case err != nil:
			t.lose(c, ofFraming, err)
			return
		case used < n:
			t.lose(c, ofFraming, frameError("more than one answer"))
			return
		case c.f.done():
			t.answered(c, gone || n == len(t.buf) && t.more(c))
			return
		case n < len(t.buf) && !gone:
			return
		}
	}
}

// more reports whether something follows an answer that filled the buffer.
func (t *thread) more(c *conn) bool {
	n, errno := receiveNow(c.fd, t.buf)
	if errno == 0 && n > 0 {
		t.rec.unasked(t.now)
	}
	return errno != syscall.EAGAIN
}

// ended is said when the other side has closed.
func (t *thread) ended(c *conn) {
	if err := c.f.end(); err != nil {
		t.lose(c, ofReset, err)
		return
	}
	t.answered(c, true)
}

// answered is said when an answer is whole. A connection whose other side is
// gone, or that was asked to close, or that has not taken the whole request,
// is not used again.
func (t *thread) answered(c *conn, gone bool) {
	t.rec.answered(&c.x, c.f.answer(), t.now)
	if gone || c.last || c.f.closes || len(c.rest) > 0 {
		t.drop(c)
		return
	}
	t.next(c)
}

// lose is said of a request that will have no whole answer.
func (t *thread) lose(c *conn, class int, err error) {
	t.rec.failed(&c.x, class, err, t.now)
	t.drop(c)
}

// disturbed is said when something comes over a free connection: it was
// closed, or bytes came that nobody asked for.
func (t *thread) disturbed(c *conn) {
	n, errno := receiveNow(c.fd, t.buf)
	t.now = t.s.now()
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return
	}
	if errno == 0 && n > 0 {
		t.rec.unasked(t.now)
	}
	t.drop(c)
}
