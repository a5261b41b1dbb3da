//go:build linux && (amd64 || arm64)

package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// This file opens, reads, writes and closes the connections (links) of one thread of engine Epoll.
// firstSlot of a link represents the connection.

// handleEvent processes an event of one connection. Events are edge-triggered, so they are not repeated.
// Available bytes must be read now or queued with queueRead.
func (t *thread) handleEvent(ev event) {
	l := &t.links[ev.index]
	if l.generation != ev.generation { // the event is of an earlier connection
		return
	}
	c := l.firstSlot()
	l.peerClosed = l.peerClosed || ev.peerClosed
	if l.tls != nil && ev.in {
		l.tls.notify(l.peerClosed)
	}
	if c.list == &t.dialing {
		t.finishDial(l)
	} else if ev.out {
		t.flushLink(l)
	}
	wasClosed := l.generation != ev.generation || !l.opened
	switch {
	case !ev.in || wasClosed:
	case l.http2 != nil:
		t.receiveHTTP2(l)
	case c.list == &t.busy:
		t.receiveResponse(l)
	case c.list == &t.idle, c.list == &t.pausing:
		t.checkIdle(l)
	}
	canSend := t.r.queue != nil && t.idle.head != nil
	ticketDue := !t.hasTicket || t.waitingTicket.at <= t.now
	if canSend && ticketDue {
		t.sendOpenLoop()
		t.flushQueued()
	}
}

// openLinks opens closed connections, unless over is true, and fails attempts that exceed the timeout. It
// returns the time in ns of its next call.
func (t *thread) openLinks(over bool) (next int64) {
	for t.failed.dueAt(retryAfter) <= t.now {
		t.closed.push(t.failed.head, t.now)
	}
	for !over && t.closed.head != nil && t.dialing.n < maxDialing {
		t.startDial(t.closed.head.link)
	}
	limit := int64(t.s.Timeout)
	for t.dialing.dueAt(limit) <= t.now {
		t.failDial(t.dialing.head.link, os.NewSyscallError("connect", syscall.ETIMEDOUT))
	}
	if !t.allDialed && t.undialed == 0 {
		t.allDialed = true
		t.r.markDialed()
	}
	t.r.startIfOverdue(t.now)
	return min(t.failed.dueAt(retryAfter), t.dialing.dueAt(limit))
}

// startDial starts to open a connection. An event reports the result to finishDial.
func (t *thread) startDial(l *link) {
	t.now = t.s.nowNS()
	t.dialing.push(l.firstSlot(), t.now)
	fd, err := startConnect(t.addrs[l.addr%len(t.addrs)])
	l.fd = fd
	if err == nil {
		if err = t.net.watchFD(l); err == nil {
			return
		}
	}
	t.failDial(l, err)
}

// finishDial processes the result of a connection attempt. During a TLS handshake it is called several
// times.
func (t *thread) finishDial(l *link) {
	t.now = t.s.nowNS()
	if l.tls == nil {
		errno, err := syscall.GetsockoptInt(l.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
		if err != nil || errno != 0 {
			t.failDial(l, os.NewSyscallError("connect", syscall.Errno(errno)))
			return
		}
		if t.tls != nil {
			l.tls = newTLSConn(t.net, l, t.tls, t.now)
		}
	}
	if s := l.tls; s != nil {
		done, err := s.continueHandshake()
		t.now = t.s.nowNS()
		if err == nil && done {
			err = t.s.checkALPN(s.conn)
		}
		if err != nil {
			t.failDial(l, err)
		}
		if err != nil || !done {
			return
		}
		t.rec.recordHandshake(t.now-s.began, s.conn.ConnectionState().DidResume)
	}
	if !l.wasOpened && !t.allDialed {
		t.undialed--
	}
	l.wasOpened = true
	t.rec.recordConnect(t.now-l.firstSlot().since, l.isReopened)
	l.isReopened, l.opened, l.uses, l.rest = true, true, 0, nil
	t.r.addConn()
	if l.http2 != nil {
		t.openHTTP2(l)
	}
	t.freeSlot(l.firstSlot())
}

// failDial tries the next address of the target, if any. Otherwise it records the failure, and the thread
// tries again after retryAfter.
func (t *thread) failDial(l *link, err error) {
	t.closeLink(l)
	if l.addr++; l.addr%len(t.addrs) != 0 {
		return
	}
	t.rec.recordConnectError(err)
	t.failed.push(l.firstSlot(), t.now)
	t.r.abortIfUnconnected(t.now)
}

// closeLink closes a connection. It will be opened again.
func (t *thread) closeLink(l *link) {
	l.close(t.net)
	l.generation++
	for i := range l.slots {
		l.slots[i].list.remove(&l.slots[i])
	}
	t.closed.push(l.firstSlot(), t.now)
}

// close closes the descriptor without a TLS close_notify, which could block.
func (l *link) close(net *epollSockets) {
	if l.tls != nil {
		l.tls.close()
		l.tls = nil
	}
	if l.fd >= 0 {
		net.shut(l)
	}
	l.fd, l.opened, l.peerClosed, l.isWriteClosed = -1, false, false, false
}

func (t *thread) dropLink(l *link) {
	t.closeLink(l)
	t.r.removeConn(t.now)
}

// freeSlot makes a slot available for the next request, after the think time. It does not send: the thread
// first reads all responses, so that their times include no sending.
func (t *thread) freeSlot(c *slot) {
	if t.r.leg.Think > 0 && c.link.uses > 0 && !t.r.isOver() {
		t.pausing.push(c, t.now)
		return
	}
	t.idle.push(c, t.now)
}

// sendRequest sends the next request in a free slot. A closed loop has no tickets: tk is zero.
func (t *thread) sendRequest(c *slot, tk ticket) {
	l, i := c.link, t.nextRequest
	if t.nextRequest++; t.nextRequest == len(t.s.requests) {
		t.nextRequest = 0
	}
	q := &t.s.requests[i]
	l.uses++
	if l.http2 != nil {
		x := exchange{index: i, measured: tk.measured, intended: tk.at, sent: t.now, verify: t.rec.takeVerify(), numbers: q.drawNumbers(c.request.numbers[:0])}
		t.sendHTTP2(c, x)
		return
	}
	l.rest, c.last = q.wire, q.closes
	if l.uses == t.s.PerConn {
		l.rest, c.last = q.last, true
	}
	if len(q.draws) > 0 {
		l.filled, l.numbers = append(l.filled[:0], l.rest...), q.drawNumbers(l.numbers[:0])
		l.rest = l.filled
		if err := q.writeNumbers(l.filled, l.filled[len(l.filled)-q.body:], l.numbers); err != nil {
			t.abortPhase(l, tk, i, err)
			return
		}
	}
	c.request = exchange{index: i, measured: tk.measured, intended: tk.at, sent: t.now}
	l.parser.reset(q.head, t.rec.takeVerify())
	t.rec.recordSend(&c.request, t.now)
	t.busy.push(c, t.now)
	t.pushOutput(l)
}

func (t *thread) abortPhase(l *link, tk ticket, i int, err error) {
	if t.r.queue != nil {
		t.r.queue.giveBack(tk)
	}
	t.r.abort(fmt.Errorf("request %d: %w", i, err))
	t.dropLink(l)
}

func (t *thread) pushOutput(l *link) bool {
	if l.isWriteClosed {
		return false
	}
	var n int
	var errno syscall.Errno
	if l.tls != nil {
		n, errno = l.tls.encryptAndSend(l.rest)
	} else {
		n, errno = t.net.send(l, l.rest)
	}
	if l.http2 != nil {
		l.unassignedOut += n
	} else {
		l.firstSlot().request.bytesOut += n
	}
	l.rest = l.rest[n:]
	switch errno {
	case 0:
		return true
	case syscall.EAGAIN: // an event will report that the socket accepts more
	case syscall.EPIPE, syscall.ECONNRESET: // a response may have arrived before the close
		l.peerClosed, l.isWriteClosed = true, true
		if l.tls != nil {
			l.tls.notify(true)
		}
		t.queueRead(l)
	default:
		t.now = t.s.nowNS()
		t.failLink(l, classReset, os.NewSyscallError("send", errno))
	}
	return false
}

func (t *thread) flushLink(l *link) {
	hasRequest := l.http2 != nil || l.firstSlot().list == &t.busy
	if !l.opened || !hasRequest {
		return
	}
	for t.pushOutput(l) && l.http2 != nil {
		if l.rest = l.http2.takeOutput(); len(l.rest) == 0 {
			return
		}
	}
}

func (t *thread) queueFlush(l *link) {
	if !l.toFlush {
		l.toFlush = true
		t.toFlush = append(t.toFlush, l)
	}
}

func (t *thread) flushQueued() {
	for i := 0; i < len(t.toFlush); i++ {
		l := t.toFlush[i]
		l.toFlush = false
		t.flushLink(l)
	}
	t.toFlush = t.toFlush[:0]
}

func (t *thread) queueRead(l *link) {
	if !l.toRead {
		l.toRead = true
		t.toRead = append(t.toRead, l)
	}
}

func (t *thread) readQueued() {
	for range len(t.toRead) {
		l := t.toRead[0]
		t.toRead = append(t.toRead[:0], t.toRead[1:]...)
		l.toRead = false
		switch {
		case !l.opened: // it was closed in the meantime
		case l.http2 != nil:
			t.receiveHTTP2(l)
		case l.firstSlot().list == &t.busy:
			t.receiveResponse(l)
		}
	}
}

// readLink returns received bytes, and whether there may be more. b is valid until the next call, and empty
// at the end of the input. If nothing has arrived, the error is errAgain.
func (t *thread) readLink(l *link) (b []byte, more bool, err error) {
	if l.tls != nil {
		n, err := l.tls.conn.Read(t.buf)
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

func (t *thread) receiveResponse(l *link) {
	c := l.firstSlot()
	for range maxReads {
		b, more, err := t.readLink(l)
		if errors.Is(err, errAgain) {
			return
		}
		t.now = t.s.nowNS()
		if err != nil {
			t.failRequest(c, classReset, err)
			return
		}
		if len(b) == 0 {
			t.handleClose(c)
			return
		}
		if c.request.parts == 0 {
			c.request.first = t.now
		}
		c.request.parts++
		c.request.bytesIn += int64(len(b))
		used, err := l.parser.feed(b)
		switch {
		case err != nil:
			t.failRequest(c, classFraming, err)
			return
		case used < len(b):
			t.failRequest(c, classFraming, frameError("more than one answer"))
			return
		case l.parser.isDone():
			closedInPlain := l.peerClosed && l.tls == nil // with TLS hasMoreInput finds the close
			gone := closedInPlain || more && t.hasMoreInput(l)
			t.finishRequest(c, gone)
			return
		case !more:
			return
		}
	}
	t.queueRead(l)
}

// hasMoreInput reads after a response. It reports whether there are more bytes, or the end of the input.
// The bytes are unsolicited.
func (t *thread) hasMoreInput(l *link) bool {
	b, _, err := t.readLink(l)
	if err == nil && len(b) > 0 {
		t.rec.recordUnsolicited(t.now)
	}
	return !errors.Is(err, errAgain)
}

func (t *thread) handleClose(c *slot) {
	if err := c.link.parser.closeError(); err != nil {
		t.failRequest(c, classReset, err)
		return
	}
	t.finishRequest(c, true)
}

// finishRequest records a complete response, and frees the slot or closes the connection. gone means that
// the peer has closed, or has sent more than the response.
func (t *thread) finishRequest(c *slot, gone bool) {
	l := c.link
	t.rec.recordResponse(&c.request, l.parser.currentResponse(), t.now)
	unsent := len(l.rest) > 0 || l.tls != nil && len(l.tls.rest) > 0
	if gone || c.last || l.parser.closes || unsent {
		t.dropLink(l)
		return
	}
	t.freeSlot(c)
}

func (t *thread) failRequest(c *slot, class int, err error) {
	t.rec.recordFailure(&c.request, class, err, t.now)
	t.dropLink(c.link)
}

func (t *thread) failLink(l *link, class int, err error) {
	if l.http2 != nil {
		t.failHTTP2(l, class, err)
		return
	}
	t.failRequest(l.firstSlot(), class, err)
}

func (t *thread) timeOut(c *slot) {
	if c.link.http2 != nil {
		t.timeOutStream(c)
		return
	}
	t.failRequest(c, classTimeout, errTimeout)
}

// checkIdle processes input without a request: the end of the input, or unsolicited bytes. Either closes
// the connection.
func (t *thread) checkIdle(l *link) {
	b, _, err := t.readLink(l)
	t.now = t.s.nowNS()
	if errors.Is(err, errAgain) {
		return
	}
	if err == nil && len(b) > 0 {
		t.rec.recordUnsolicited(t.now)
	}
	t.dropLink(l)
}
