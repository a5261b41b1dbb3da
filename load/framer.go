package load

import (
	"errors"
	"sync/atomic"
)

// framer speaks a protocol over one connection of the portable engine, one
// request after another: it has the bytes that are to be sent, and finds in those
// that come where an answer ends, however they are cut into pieces.
type framer interface {
	// open begins a connection; nothing is left of the one before.
	open()
	// ask begins a request with the numbers that were drawn for it; last says that
	// it is the connection's last one. Its error says that a number has no room.
	ask(q *encoded, numbers []int64, last, keep bool) error
	// owed hands out what is to be sent now, each byte once; it holds until the
	// next call.
	owed() []byte
	// feed takes bytes that came while a request is under way. Its error says why
	// there will be no answer; a resetError or a leftError, that only this request
	// has none.
	feed(b []byte) error
	// idle takes bytes that came while none is. Its error says that nobody asked
	// for them.
	idle(b []byte) error
	// end says what it means that the connection was closed.
	end() error
	answer() answer
}

// answer is what is known of an answer.
type answer struct {
	begun  bool // some of it has come
	done   bool // all of it has
	closes bool // the connection cannot be used after it
	unsent bool // it came before the whole request could be sent
	status int
	rpc    bool  // it is one of gRPC
	code   int   // of gRPC
	body   int64 // bytes
	keep   bool  // kept is the body
	kept   []byte
}

// resetError says why a request has no answer on a connection that is still
// good, or that has only ended.
type resetError string

func (e resetError) Error() string { return string(e) }

// leftError is a resetError of a request that the server says it did not look at,
// so that it may be sent again (RFC 9113, section 8.7).
type leftError string

func (e leftError) Error() string { return string(e) }

// mostTries is how often a request is sent that servers leave each time.
const mostTries = 10

// sentAgain reports whether a request that came to nothing is to be sent again.
func (q *exchange) sentAgain(why error) bool {
	var left leftError
	return errors.As(why, &left) && q.tries < mostTries
}

var (
	_ framer = (*http1)(nil)
	_ framer = (*http2)(nil)
)

// mostReads is how often a connection is read from before it is another one's turn.
const mostReads = 16

// newFramer is one for a connection. room is what all connections may keep to be
// verified.
func newFramer(p Protocol, room *atomic.Int64) framer {
	if p == HTTP1 {
		return &http1{framer1: framer1{kept: keptBody{room: room}}}
	}
	return newHTTP2(p == GRPC, 1, room)
}

// http1 speaks HTTP/1.1.
type http1 struct {
	framer1
	out []byte // to be sent
	own []byte // room for a request with numbers of its own
}

func (h *http1) open() { h.out = nil }

func (h *http1) ask(q *encoded, numbers []int64, last, keep bool) error {
	h.reset(q.head, keep)
	if h.out = q.wire; last {
		h.out = q.last
	}
	if len(q.draws) == 0 {
		return nil
	}
	h.own = append(h.own[:0], h.out...)
	h.out = h.own
	return q.fill(h.own, h.own[len(h.own)-q.body:], numbers)
}

func (h *http1) owed() []byte {
	b := h.out
	h.out = nil
	return b
}

func (h *http1) feed(b []byte) error {
	used, err := h.framer1.feed(b)
	if err == nil && used < len(b) {
		err = frameError("more than one answer")
	}
	return err
}

func (h *http1) idle([]byte) error { return errUnasked }
