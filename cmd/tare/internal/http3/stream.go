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

// stream carries one request after another over a connection.
type stream struct {
	c *carrier

	mu       sync.Mutex
	s        *quic.Stream // nil before the first
	rejected bool         // a GOAWAY says that the server does not process it
}

func (s *stream) Open() (bool, error) {
	opened, err := s.c.conn.OpenStream()
	if err != nil && isFull(err) {
		return false, nil
	}
	return true, s.use(opened, err)
}

// isFull reports whether the server allows no more streams for now. It is a function of
// its own because errors.As allocates.
func isFull(err error) bool {
	var full *quic.StreamLimitReachedError
	return errors.As(err, &full)
}

func (s *stream) OpenWait(ctx context.Context) error {
	return s.use(s.c.conn.OpenStreamSync(ctx))
}

// use makes an opened stream that of the request. Without one the request was not sent.
func (s *stream) use(opened *quic.Stream, err error) error {
	if err != nil {
		return &load.Loss{Err: err, Left: true}
	}
	s.mu.Lock()
	s.s, s.rejected = opened, false
	s.mu.Unlock()
	s.c.mu.Lock()
	first, leaves := s.c.peer.Leaves()
	s.c.mu.Unlock()
	if leaves { // since Over was asked
		s.reject(quic.StreamID(first))
	}
	return nil
}

func (s *stream) Send(b []byte) error {
	if _, err := s.s.Write(b); err != nil {
		return s.explain(err)
	}
	return s.s.Close()
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.s.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.explain(err)
	}
	return n, err
}

func (s *stream) Cancel(code h3.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s != nil {
		s.s.CancelRead(quic.StreamErrorCode(code))
		s.s.CancelWrite(quic.StreamErrorCode(code))
	}
}

// reject cancels the request if its stream is first or a later one: the server says that
// it does not process it.
func (s *stream) reject(first quic.StreamID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.s != nil && s.s.StreamID() >= first && !s.rejected {
		s.rejected = true
		s.s.CancelRead(quic.StreamErrorCode(h3.RequestCancelled))
		s.s.CancelWrite(quic.StreamErrorCode(h3.RequestCancelled))
	}
}

// explain returns what became of a request that has no complete answer.
func (s *stream) explain(err error) error {
	over := s.c.conn.Context().Err() != nil
	s.mu.Lock()
	loss := &load.Loss{Err: err, Alone: !over, Left: s.rejected}
	s.mu.Unlock()
	if loss.Left {
		loss.Err = errors.New("the server sent GOAWAY")
	}
	var ofStream *quic.StreamError
	var application *quic.ApplicationError
	var transport *quic.TransportError
	switch {
	case errors.As(err, &ofStream) && ofStream.Remote:
		code := h3.Code(ofStream.ErrorCode)
		loss.Left = loss.Left || code == h3.RequestRejected
		loss.Err = fmt.Errorf("the server reset the stream: %s", code)
	case errors.As(err, &application):
		loss.Garbled = !application.Remote && h3.Code(application.ErrorCode) != h3.NoError
		if application.Remote {
			loss.Err = fmt.Errorf("the server closed the connection: %s", h3.Code(application.ErrorCode))
		} else if loss.Garbled {
			loss.Err = errors.New(application.ErrorMessage)
		}
	case errors.As(err, &transport):
		loss.Garbled = !transport.Remote
	}
	return loss
}
