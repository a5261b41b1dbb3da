package load

import (
	"errors"
	"sync/atomic"
)

// framer implements a protocol on one connection of the portable engine, one
// request after another: it returns the bytes to send, and finds the end of a
// response in the received bytes, whatever their boundaries.
type framer interface {
	// open starts a connection and forgets the one before.
	open()
	// startRequest starts a request with the numbers drawn for it; last means that
	// it is the connection's last one. It fails if a number does not fit.
	startRequest(q *encodedRequest, numbers []int64, last, keep bool) error
	// takeOutput returns the bytes to send now, each byte once. They are valid until the
	// next call.
	takeOutput() []byte
	// feed parses bytes received while a request is in flight. Its error is why
	// the response is lost; a resetError or an unprocessedError means that only this request
	// has lost it.
	feed(b []byte) error
	// feedIdle parses bytes received while none is. Its error means that they are
	// unsolicited.
	feedIdle(b []byte) error
	// closeError returns the error of a closed connection, or nil if the close ends the response.
	closeError() error
	currentResponse() response
}

// response is the known state of a response.
type response struct {
	begun  bool // part of it has arrived
	done   bool // all of it has arrived
	closes bool // the connection cannot be used after it
	unsent bool // it arrived before all of the request was sent
	status int
	rpc    bool  // it is one of gRPC
	code   int   // of gRPC
	body   int64 // bytes
	keep   bool  // the body is in kept
	kept   []byte
}

// resetError is the reason why a request is lost on a connection that remains usable, or that has only ended.
type resetError string

func (e resetError) Error() string { return string(e) }

// unprocessedError is a resetError for a request that the server reports as not processed, so that it may be
// sent again (RFC 9113, section 8.7).
type unprocessedError string

func (e unprocessedError) Error() string { return string(e) }

// maxTries is the number of times that a request is sent if the server never processes it.
const maxTries = 10

// isRetryable reports whether a request that failed with why is sent again.
func (q *exchange) isRetryable(why error) bool {
	var left unprocessedError
	return errors.As(why, &left) && q.tries < maxTries
}

var (
	_ framer = (*http1)(nil)
	_ framer = (*http2)(nil)
)

// maxReads is the number of reads of a connection before others get their turn.
const maxReads = 16

// newFramer returns a framer of p. room is the number of bytes of bodies that all connections may still store
// for Verify.
func newFramer(p Protocol, room *atomic.Int64) framer {
	if p == HTTP1 {
		return &http1{framer1: framer1{kept: keptBody{room: room}}}
	}
	return newHTTP2(p == GRPC, 1, room)
}

// http1 implements HTTP/1.1.
type http1 struct {
	framer1
	out    []byte // bytes to send
	filled []byte // buffer of a request with numbers
}

func (h *http1) open() { h.out = nil }

func (h *http1) startRequest(q *encodedRequest, numbers []int64, last, keep bool) error {
	h.reset(q.head, keep)
	if h.out = q.wire; last {
		h.out = q.last
	}
	if len(q.draws) == 0 {
		return nil
	}
	h.filled = append(h.filled[:0], h.out...)
	h.out = h.filled
	return q.writeNumbers(h.filled, h.filled[len(h.filled)-q.body:], numbers)
}

func (h *http1) takeOutput() []byte {
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

func (h *http1) feedIdle([]byte) error { return errUnsolicited }
