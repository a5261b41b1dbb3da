package http3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// stream carries one request after another over a connection, each on a separate QUIC stream. It implements
// load.CarrierStream. Other goroutines may call Cancel and reject.
type stream struct {
	c *carrier

	mu       sync.Mutex
	s        *quic.Stream // of the current request; nil before the first
	rejected bool         // the server does not process the current request
}

// Open opens a stream for the next request. It returns false while the server allows no more streams.
func (s *stream) Open() (bool, error) {
	opened, err := s.c.conn.OpenStream()
	if err != nil && isFull(err) {
		return false, nil
	}
	return true, s.startRequest(opened, err)
}

// isFull reports whether err means that the server allows no more streams now. It is a separate function
// because the target of errors.As escapes to the heap.
func isFull(err error) bool {
	var full *quic.StreamLimitReachedError
	return errors.As(err, &full)
}

// OpenWait is like Open, but waits until the server allows a stream or ctx ends.
func (s *stream) OpenWait(ctx context.Context) error {
	return s.startRequest(s.c.conn.OpenStreamSync(ctx))
}

// startRequest makes opened the stream of the next request. If opening failed with err, the request was not
// processed.
func (s *stream) startRequest(opened *quic.Stream, err error) error {
	if err != nil {
		return &load.Loss{Err: err, Left: true}
	}
	s.mu.Lock()
	s.s, s.rejected = opened, false
	s.mu.Unlock()
	s.c.mu.Lock()
	first, leaves := s.c.peer.Leaves()
	s.c.mu.Unlock()
	if leaves { // GOAWAY has arrived since the caller checked Over
		s.reject(quic.StreamID(first))
	}
	return nil
}

// Send sends a complete request. On a connection with several streams it may leave that to another goroutine.
func (s *stream) Send(b []byte) error {
	if s.c.isShared.Load() && len(b) <= maxBatched {
		s.c.batch.sendRequest(s.s, b)
		return nil
	}
	if _, err := s.s.Write(b); err != nil {
		return s.explain(err)
	}
	return s.s.Close()
}

// Read reads the response until io.EOF.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.s.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.explain(err)
	}
	return n, err
}

// Cancel ends the request with an error code.
func (s *stream) Cancel(code h3.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s != nil {
		s.s.CancelRead(quic.StreamErrorCode(code))
		s.s.CancelWrite(quic.StreamErrorCode(code))
	}
}

// reject cancels the current request if the server does not process it. After GOAWAY, the server processes
// only streams before first.
func (s *stream) reject(first quic.StreamID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s != nil && s.s.StreamID() >= first && !s.rejected {
		s.rejected = true
		s.s.CancelRead(quic.StreamErrorCode(h3.RequestCancelled))
		s.s.CancelWrite(quic.StreamErrorCode(h3.RequestCancelled))
	}
}

// explain returns a *load.Loss for an incomplete response that ended with err. It has whether the
// connection is usable, and who caused the loss.
func (s *stream) explain(err error) error {
	isConnectionOver := s.c.conn.Context().Err() != nil
	s.mu.Lock()
	loss := &load.Loss{Err: err, Alone: !isConnectionOver, Left: s.rejected}
	s.mu.Unlock()
	if loss.Left {
		loss.Err = errors.New("the server sent GOAWAY")
	}
	var streamErr *quic.StreamError
	var applicationErr *quic.ApplicationError
	var transportErr *quic.TransportError
	switch {
	case errors.As(err, &streamErr) && streamErr.Remote:
		code := h3.Code(streamErr.ErrorCode)
		loss.Left = loss.Left || code == h3.RequestRejected
		loss.Err = fmt.Errorf("the server reset the stream: %s", code)
	case errors.As(err, &applicationErr): // closed by the server, or by carrier.failConnection or Close
		loss.Garbled = !applicationErr.Remote && h3.Code(applicationErr.ErrorCode) != h3.NoError
		if applicationErr.Remote {
			loss.Err = fmt.Errorf("the server closed the connection: %s", h3.Code(applicationErr.ErrorCode))
		} else if loss.Garbled {
			loss.Err = errors.New(applicationErr.ErrorMessage)
		}
	case errors.As(err, &transportErr):
		loss.Garbled = !transportErr.Remote
	}
	return loss
}
