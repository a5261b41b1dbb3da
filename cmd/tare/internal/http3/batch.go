package http3

import (
	"io"
	"runtime"
	"slices"
	"sync"
)

// maxBatched is the size in bytes of the largest request that is sent in a batch. quic-go accepts so little
// without waiting for the server.
const maxBatched = 1000

// sendBatch sends the requests of several streams of a connection right after each other. quic-go then puts
// them into the same packets. Without it, the goroutine of the connection runs after each request, and sends
// a packet for it.
type sendBatch struct {
	mu        sync.Mutex
	isSending bool      // a goroutine will send the requests
	requests  []request // to send
	sent      []request // of the last batch, for their memory
}

type request struct {
	stream io.WriteCloser // a *quic.Stream
	b      []byte         // a copy
}

// sendRequest sends a request and the end of its stream. It may leave that to another goroutine that is about to
// send. The stream's Read returns the reason for an error.
func (s *sendBatch) sendRequest(stream io.WriteCloser, b []byte) {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = slices.Grow(s.requests, 1)[:n+1] // append would lose the memory of b
	r := &s.requests[n]
	r.stream, r.b = stream, append(r.b[:0], b...)
	isAnotherSending := s.isSending
	s.isSending = true
	s.mu.Unlock()
	if isAnotherSending {
		return
	}
	runtime.Gosched() // goroutines with a response that has arrived add their next requests
	for s.swapRequests() {
		for i := range s.sent {
			r := &s.sent[i]
			if _, err := r.stream.Write(r.b); err == nil {
				_ = r.stream.Close()
			}
			r.stream = nil
		}
	}
}

// swapRequests moves the requests to s.sent. It returns false if there are none: the caller stops sending.
func (s *sendBatch) swapRequests() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.sent = s.sent[:0], s.requests
	s.isSending = len(s.sent) > 0
	return s.isSending
}
