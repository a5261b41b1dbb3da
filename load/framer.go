package load

import (
	"errors"
	"sync/atomic"
)

// framer implements HTTP/1.1 or HTTP/2 on one connection of the portable engine (the
// one on package net), one request after another: it returns the bytes to send, and
// finds the end of the response in the received bytes, however they are split.
type framer interface {
	// open resets the framer for a new connection.
	open()
	// startRequest starts a request with the numbers drawn for it. last means that it
	// is the connection's last request, and storeBody that the response's body is to be
	// stored. It fails if a number does not fit.
	startRequest(q *encodedRequest, numbers []int64, last, storeBody bool) error
	// takeOutput returns the bytes to send that it has not returned before. They are
	// valid until the next call.
	takeOutput() []byte
	// feed parses bytes received while a request is in flight. If it fails, the response is
	// lost. After a resetError or an unprocessedError the connection remains usable, otherwise
	// it is not.
	feed(b []byte) error
	// feedIdle parses bytes received while no request is in flight. It fails if they
	// are a response that was not requested, or invalid.
	feedIdle(b []byte) error
	// closeError is called when the server closes the connection during a request. It returns the
	// error of the request, or nil if the close ends the response.
	closeError() error
	// currentResponse returns the state of the response to the last request.
	currentResponse() response
}

// response is the state of a response, as far as it has arrived.
type response struct {
	begun     bool // part of it has arrived
	done      bool // all of it has arrived
	closes    bool // the connection cannot be used after the response
	unsent    bool // the response arrived before all of the request was sent
	status    int
	rpc       bool   // the response is one of gRPC, and status is derived from code
	code      int    // gRPC: grpc-status
	body      int64  // length in bytes
	storeBody bool   // the body is stored, for Verify
	stored    []byte // the body so far, if storeBody is set
}

// resetError is the reason why a request is lost although the connection has not violated the protocol.
type resetError string

func (e resetError) Error() string { return string(e) }

// unprocessedError is a resetError for a request that the server reports as not processed, so that it may be
// sent again (RFC 9113, section 8.7).
type unprocessedError string

func (e unprocessedError) Error() string { return string(e) }

// maxTries is the number of times that a request is sent if the server does not process it.
const maxTries = 10

// isRetryable reports whether a request that failed with err is to be sent again.
func (q *exchange) isRetryable(err error) bool {
	var unprocessed unprocessedError
	return errors.As(err, &unprocessed) && q.tries < maxTries
}

var (
	_ framer = (*http1)(nil)
	_ framer = (*http2)(nil)
)

// maxReads is the number of reads of a connection in a row, after which other connections get their turn.
const maxReads = 16

// newFramer returns a framer of protocol p. bodyBudget is the number of bytes of bodies that all connections may
// still store for Verify.
func newFramer(p Protocol, bodyBudget *atomic.Int64) framer {
	if p == HTTP1 {
		return &http1{http1Parser: http1Parser{stored: storedBody{budget: bodyBudget}}}
	}
	return newHTTP2(p == GRPC, 1, bodyBudget) // one stream: a framer has one request at a time
}

// http1 is the framer of HTTP/1.1.
type http1 struct {
	http1Parser
	out    []byte // bytes to send
	filled []byte // buffer of a request with numbers
}

func (h *http1) open() { h.out = nil }

func (h *http1) startRequest(q *encodedRequest, numbers []int64, last, storeBody bool) error {
	h.reset(q.head, storeBody)
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
	used, err := h.http1Parser.feed(b)
	if err == nil && used < len(b) {
		err = frameError("more than one answer")
	}
	return err
}

func (h *http1) feedIdle([]byte) error { return errUnsolicited }
