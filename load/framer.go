package load

import (
	"errors"
	"sync/atomic"
)

// framer implements HTTP/1.1 or HTTP/2 on one connection, one request after another. It returns the bytes
// to send, and finds the end of the response in the bytes received. They may be split anywhere.
type framer interface {
	open()
	// startRequest starts a request with its numbers. last marks the connection's last request.
	startRequest(q *encodedRequest, numbers []int64, last, storeBody bool) error
	// takeOutput returns the new bytes to send, valid until the next call.
	takeOutput() []byte
	// feed parses bytes received while a request is in flight. If it fails, the response is lost. The
	// connection remains usable only after a resetError or an unprocessedError.
	feed(b []byte) error
	// feedIdle parses bytes received while no request is in flight. It rejects responses.
	feedIdle(b []byte) error
	// closeError returns the error of a request whose connection the server closes, or nil if that ends the
	// response.
	closeError() error
	currentResponse() response
}

// response is the part of a response that has arrived.
type response struct {
	begun     bool
	done      bool
	closes    bool // the connection cannot be used again
	unsent    bool // it arrived before all of the request was sent
	status    int
	rpc       bool  // a gRPC response: status is derived from code
	code      int   // grpc-status
	body      int64 // length in bytes
	storeBody bool
	stored    []byte
}

// resetError is the error of a lost request on a connection that has not violated the protocol.
type resetError string

func (e resetError) Error() string { return string(e) }

// unprocessedError is the error of a request that the server did not process. It may be sent again (RFC
// 9113, section 8.7).
type unprocessedError string

func (e unprocessedError) Error() string { return string(e) }

// maxTries limits how often a request is sent that the server does not process.
const maxTries = 10

func (q *exchange) isRetryable(err error) bool {
	var unprocessed unprocessedError
	return errors.As(err, &unprocessed) && q.tries < maxTries
}

var (
	_ framer = (*http1)(nil)
	_ framer = (*http2)(nil)
)

// maxReads is the number of reads of a connection in a row. Then other connections get their turn.
const maxReads = 16

// newFramer returns a framer of protocol p. bodyBudget is the number of bytes that all stored bodies may
// still take.
func newFramer(p Protocol, bodyBudget *atomic.Int64) framer {
	if p == HTTP1 {
		return &http1{http1Parser: http1Parser{stored: storedBody{budget: bodyBudget}}}
	}
	return newHTTP2(p == GRPC, 1, bodyBudget) // one stream: a framer has one request at a time
}

type http1 struct {
	http1Parser
	out    []byte
	filled []byte
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
