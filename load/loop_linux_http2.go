//go:build linux && (amd64 || arm64)

package load

import (
	"errors"

	"github.com/tarebench/tare/load/h2"
)

// open2 begins a connection of HTTP/2. Its first stream does not wait for the
// server's SETTINGS, which limit the number of streams.
func (t *thread) open2(l *link) {
	l.h.open()
	l.used, l.busy, l.got, l.sent = 1, 0, 0, 0
	t.owe(l)
}

// allowed is how many requests may be under way on a connection.
func (l *link) allowed() int {
	if !l.h.greeted {
		return 1
	}
	return max(1, int(min(int64(len(l.places)), int64(l.h.most))))
}

// free2 decides what a place does after its request: it takes the next one, or
// goes out of use. A place is a slot for one stream of a connection.
func (t *thread) free2(c *conn) {
	l := c.link
	if l.h.closes() || l.used > l.allowed() {
		t.put(c)
		return
	}
	t.next(c)
}

// put takes a place out of use.
func (t *thread) put(c *conn) {
	c.in.remove(c)
	c.link.used--
}

// settle2 is called after every read. It starts requests on as many places as the
// server allows, and closes a connection that takes no more requests once none is
// in flight.
func (t *thread) settle2(l *link) {
	if !l.h.closes() {
		for i := 0; l.used < l.allowed() && i < len(l.places); i++ {
			if c := &l.places[i]; c.in == nil {
				l.used++
				t.next(c)
			}
		}
		t.owe(l)
		return
	}
	for i := range l.places {
		if c := &l.places[i]; c.in == &t.idle || c.in == &t.pausing {
			t.put(c)
		}
	}
	if l.busy == 0 {
		t.farewell(l)
		t.drop(l)
		return
	}
	t.owe(l)
}

// send2 begins a request in a free place; it is sent with those that begin at the
// same time.
func (t *thread) send2(c *conn, x exchange) {
	l, q := c.link, &t.s.requests[x.index]
	if err := l.h.askOn(c.number, q, x.numbers, x.keep); err != nil {
		t.cannot(l, ticket{x.intended, x.measured}, x.index, err)
		return
	}
	c.x = x
	t.rec.sending(&c.x, t.now)
	t.busy.insert(c, x.sent)
	l.busy++
	if l.uses == t.s.PerConn || q.closes {
		l.h.leaving = true
	}
	if l.h.closes() {
		t.settle2(l)
		return
	}
	t.owe(l)
}

// receive2 takes what there is of answers, and of all else that a server says.
func (t *thread) receive2(l *link) {
	for range mostReads {
		b, more, err := t.read(l)
		if errors.Is(err, errAgain) {
			return
		}
		t.now = t.s.now()
		switch {
		case err != nil:
			t.lost2(l, ofReset, err)
			return
		case len(b) == 0:
			t.lost2(l, ofReset, nil)
			return
		}
		l.got += int64(len(b))
		l.h.now = t.now
		if err := l.h.hear(b); err != nil {
			t.farewell(l)
			t.lost2(l, ofFraming, err)
			return
		}
		for _, i := range l.h.over {
			t.decided(l, i)
		}
		turn := l.turn
		if t.settle2(l); !more || l.turn != turn {
			return
		}
	}
	t.later(l)
}

// farewell sends what the server is to know before the connection ends, if the
// socket takes it at once.
func (t *thread) farewell(l *link) {
	if l.deaf || len(l.rest) > 0 {
		return
	}
	if b := l.h.owed(); l.secure != nil {
		_, _ = l.secure.send(b)
	} else {
		_, _ = t.net.send(l, b)
	}
}

// decided records the outcome of a finished request.
func (t *thread) decided(l *link, i int) {
	c, call := &l.places[i], &l.h.calls[i]
	t.over(c, call)
	if call.lost != nil && c.x.sentAgain(call.lost) {
		t.leave(c)
	} else if call.lost != nil {
		t.rec.failed(&c.x, classOf(call.lost), call.lost, t.now)
	} else {
		t.rec.answered(&c.x, call.a, t.now)
	}
	if call.a.unsent || call.upTo > l.h.written-int64(len(l.rest)) { // it came before all was sent
		l.h.leaving = true
	}
	t.free2(c)
}

// over records the first byte, the pieces and the byte counts of a finished
// exchange.
func (t *thread) over(c *conn, call *call) {
	l := c.link
	c.x.first, c.x.pieces = call.first, call.pieces
	c.x.in, c.x.out, l.got, l.sent = c.x.in+l.got, c.x.out+l.sent, 0, 0
	l.busy--
}

// leave moves the request of a place into t.left, the one sent first at the
// front, for any free place to send again.
func (t *thread) leave(c *conn) {
	t.left = append(t.left, c.x)
	for i := len(t.left) - 1; i > 0 && t.left[i].sent < t.left[i-1].sent; i-- {
		t.left[i], t.left[i-1] = t.left[i-1], t.left[i]
	}
	c.x = exchange{} // t.left has the exchange now, with its numbers
}

// resend sends the requests in t.left on free places, idle or pausing. It returns
// the time at which the oldest that still waits for a place times out, or never.
func (t *thread) resend() (next int64) {
	for n := len(t.left); n > 0; n-- {
		x := t.left[0]
		c := t.idle.head
		if c == nil {
			c = t.pausing.head
		}
		late := x.sent+int64(t.s.Timeout) <= t.now
		if c == nil && !late {
			return x.sent + int64(t.s.Timeout)
		}
		t.left = append(t.left[:0], t.left[1:]...)
		if late {
			t.rec.failed(&x, ofTimeout, errTimeout, t.now)
			continue
		}
		c.link.uses++
		t.send2(c, x)
	}
	return never
}

// lost2 fails all requests in flight on a connection that broke or that the server
// closed; closing an idle one is no error. A complete answer in the same read as
// a frame that cannot be read is lost with it.
func (t *thread) lost2(l *link, class int, err error) {
	if l.busy == 0 && class == ofFraming {
		t.rec.unasked(t.now)
	}
	for i := range l.places {
		c, call := &l.places[i], &l.h.calls[i]
		if c.in != &t.busy {
			continue
		}
		t.over(c, call)
		why := err
		if why == nil {
			why = call.end()
		}
		t.rec.failed(&c.x, class, why, t.now)
	}
	t.drop(l)
}

// tooLate2 is said of a request that was not answered in time. The others on its
// connection go on, and no more are sent on it.
func (t *thread) tooLate2(c *conn) {
	l, call := c.link, &c.link.h.calls[c.number]
	t.over(c, call)
	t.rec.failed(&c.x, ofTimeout, errTimeout, t.now)
	l.h.giveUp(call, h2.Cancel)
	t.put(c)
	t.settle2(l)
}
