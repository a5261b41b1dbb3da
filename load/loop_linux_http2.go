//go:build linux && (amd64 || arm64)

package load

import (
	"errors"

	"github.com/tarebench/tare/load/h2"
)

// This file executes requests over HTTP/2 for engine Epoll. Slot i of a connection (link) carries the
// request of call i. Each request has its own stream.

// openHTTP2 starts a connection of HTTP/2. Until the server's SETTINGS arrive, it allows one request.
func (t *thread) openHTTP2(l *link) {
	l.http2.open()
	l.usedSlots, l.busySlots, l.unassignedIn, l.unassignedOut = 1, 0, 0, 0
	t.queueFlush(l)
}

// maxRequests returns how many requests may be in flight on a connection, by its slots and by the server's
// limit.
func (l *link) maxRequests() int {
	if !l.http2.hasSettings {
		return 1
	}
	return max(1, int(min(int64(len(l.slots)), int64(l.http2.maxStreams))))
}

// freeStream makes a slot available for the next request, or retires it if the server allows no more
// streams.
func (t *thread) freeStream(c *slot) {
	l := c.link
	if l.http2.isClosing() || l.usedSlots > l.maxRequests() {
		t.retireSlot(c)
		return
	}
	t.freeSlot(c)
}

// retireSlot removes a slot from its list. It gets no requests until updateSlots frees it again.
func (t *thread) retireSlot(c *slot) {
	c.list.remove(c)
	c.link.usedSlots--
}

// updateSlots is called after every read. It frees as many slots as the server allows. A connection that
// takes no more requests is closed once none is in flight.
func (t *thread) updateSlots(l *link) {
	if !l.http2.isClosing() {
		for i := 0; l.usedSlots < l.maxRequests() && i < len(l.slots); i++ {
			if c := &l.slots[i]; c.list == nil {
				l.usedSlots++
				t.freeSlot(c)
			}
		}
		t.queueFlush(l)
		return
	}
	for i := range l.slots {
		if c := &l.slots[i]; c.list == &t.idle || c.list == &t.pausing {
			t.retireSlot(c)
		}
	}
	if l.busySlots == 0 {
		t.sendGoodbye(l)
		t.dropLink(l)
		return
	}
	t.queueFlush(l)
}

// sendHTTP2 starts a request in a free slot. flushQueued sends it later, together with others.
func (t *thread) sendHTTP2(c *slot, x exchange) {
	l, q := c.link, &t.s.requests[x.index]
	if err := l.http2.startCall(c.number, q, x.numbers, x.verify); err != nil {
		t.abortPhase(l, ticket{x.intended, x.measured}, x.index, err)
		return
	}
	c.request = x
	t.rec.recordSend(&c.request, t.now)
	t.busy.insert(c, x.sent)
	l.busySlots++
	if l.uses == t.s.PerConn || q.closes { // this is the connection's last request
		l.http2.noMoreStreams = true
	}
	if l.http2.isClosing() {
		t.updateSlots(l)
		return
	}
	t.queueFlush(l)
}

func (t *thread) receiveHTTP2(l *link) {
	for range maxReads {
		b, more, err := t.readLink(l)
		if errors.Is(err, errAgain) {
			return
		}
		t.now = t.s.nowNS()
		switch {
		case err != nil:
			t.failHTTP2(l, classReset, err)
			return
		case len(b) == 0:
			t.failHTTP2(l, classReset, nil)
			return
		}
		l.unassignedIn += int64(len(b))
		l.http2.now = t.now
		if err := l.http2.feedAll(b); err != nil {
			t.sendGoodbye(l)
			t.failHTTP2(l, classFraming, err)
			return
		}
		for _, i := range l.http2.decided {
			t.recordOutcome(l, i)
		}
		generation := l.generation
		t.updateSlots(l)
		wasClosed := l.generation != generation
		if wasClosed || !more {
			return
		}
	}
	t.queueRead(l)
}

// sendGoodbye sends the last output of a connection, e.g. a GOAWAY. It gives up if the socket buffer is
// full: nothing waits for a closed connection.
func (t *thread) sendGoodbye(l *link) {
	if l.isWriteClosed || len(l.rest) > 0 {
		return
	}
	if b := l.http2.takeOutput(); l.tls != nil {
		_, _ = l.tls.encryptAndSend(b) // the connection closes anyway
	} else {
		_, _ = t.net.send(l, b)
	}
}

func (t *thread) recordOutcome(l *link, i int) {
	c, call := &l.slots[i], &l.http2.calls[i]
	t.takeCounts(c, call)
	if call.lost != nil && c.request.isRetryable(call.lost) {
		t.queueResend(c)
	} else if call.lost != nil {
		t.rec.recordFailure(&c.request, errorClass(call.lost), call.lost, t.now)
	} else {
		t.rec.recordResponse(&c.request, call.response, t.now)
	}
	sentUpTo := l.http2.written - int64(len(l.rest))
	unsent := call.response.unsent || call.upTo > sentUpTo
	if unsent { // the server responded before it got the complete request
		l.http2.noMoreStreams = true
	}
	t.freeStream(c)
}

// takeCounts copies the time of the first byte and the number of parts to the finished exchange. All bytes
// that no request has yet count for it.
func (t *thread) takeCounts(c *slot, call *call) {
	l := c.link
	c.request.first, c.request.parts = call.first, call.parts
	c.request.bytesIn += l.unassignedIn
	c.request.bytesOut += l.unassignedOut
	l.unassignedIn, l.unassignedOut = 0, 0
	l.busySlots--
}

// queueResend moves the request of a slot into t.resends, sorted by the time of its first try. Any free
// slot sends it again.
func (t *thread) queueResend(c *slot) {
	t.resends = append(t.resends, c.request)
	for i := len(t.resends) - 1; i > 0 && t.resends[i].sent < t.resends[i-1].sent; i-- {
		t.resends[i], t.resends[i-1] = t.resends[i-1], t.resends[i]
	}
	c.request = exchange{} // its numbers belong to t.resends now
}

// resendQueued sends the requests in t.resends on free slots, idle or pausing. It returns when the oldest
// waiting request times out.
func (t *thread) resendQueued() (next int64) {
	for n := len(t.resends); n > 0; n-- {
		x := t.resends[0]
		c := t.idle.head
		if c == nil {
			c = t.pausing.head
		}
		late := x.sent+int64(t.s.Timeout) <= t.now
		if c == nil && !late {
			return x.sent + int64(t.s.Timeout)
		}
		t.resends = append(t.resends[:0], t.resends[1:]...)
		if late {
			t.rec.recordFailure(&x, classTimeout, errTimeout, t.now)
			continue
		}
		c.link.uses++
		t.sendHTTP2(c, x)
	}
	return never
}

// failHTTP2 fails all requests on a broken connection, and closes it. err is nil if the server has closed
// the connection. Without requests, only an invalid frame is recorded. A complete response that arrived
// together with an invalid frame is lost, too.
func (t *thread) failHTTP2(l *link, class int, err error) {
	if l.busySlots == 0 && class == classFraming {
		t.rec.recordUnsolicited(t.now)
	}
	for i := range l.slots {
		c, call := &l.slots[i], &l.http2.calls[i]
		if c.list != &t.busy {
			continue
		}
		t.takeCounts(c, call)
		why := err
		if why == nil {
			why = call.closeError()
		}
		t.rec.recordFailure(&c.request, class, why, t.now)
	}
	t.dropLink(l)
}

// timeOutStream fails a request that exceeded the timeout. Its connection gets no new requests.
func (t *thread) timeOutStream(c *slot) {
	l, call := c.link, &c.link.http2.calls[c.number]
	t.takeCounts(c, call)
	t.rec.recordFailure(&c.request, classTimeout, errTimeout, t.now)
	l.http2.abandonCall(call, h2.Cancel)
	t.retireSlot(c)
	t.updateSlots(l)
}
