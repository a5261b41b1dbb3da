//go:build linux && (amd64 || arm64)

package load

import (
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"os"
	"syscall"
	"time"
)

// errAgain means that nothing has arrived. It is a timeout error: crypto/tls can continue to read after
// one.
var errAgain error = againError{}

type againError struct{}

func (againError) Error() string   { return "nothing has come" }
func (againError) Timeout() bool   { return true }
func (againError) Temporary() bool { return true }

var errGivenUp = errors.New("the handshake was given up")

const maxRecord = 16 << 10

// tlsConn implements TLS over one nonblocking socket. It is the net.Conn below a tls.Conn. Read returns
// errAgain if nothing has arrived. Write stores the bytes that the socket does not accept. crypto/tls
// cannot continue a handshake after errAgain. So the handshake runs in a coroutine, which Read suspends and
// continueHandshake resumes.
type tlsConn struct {
	net        *epollSockets
	l          *link
	conn       *tls.Conn
	began      int64  // ns
	rest       []byte // encrypted bytes to send
	buf        []byte
	isDrained  bool // no more input until the next event
	peerClosed bool // the peer has closed, but not all input is read

	resume func() (struct{}, bool) // continues the handshake; false means its end
	stop   func()
	wait   func(struct{}) bool // suspends the handshake; nil outside of it
	err    error
}

func newTLSConn(net *epollSockets, l *link, config *tls.Config, now int64) *tlsConn {
	s := &tlsConn{net: net, l: l, began: now}
	s.conn = tls.Client(s, config)
	s.resume, s.stop = iter.Pull(func(wait func(struct{}) bool) {
		s.wait = wait
		s.err = s.conn.Handshake()
		s.wait = nil
	})
	return s
}

// continueHandshake continues the handshake as far as the received bytes allow. done reports its end.
func (s *tlsConn) continueHandshake() (done bool, err error) {
	if _, isSuspended := s.resume(); isSuspended {
		return false, s.sendEncrypted()
	}
	return true, errors.Join(s.err, s.sendEncrypted())
}

func (s *tlsConn) sendEncrypted() error {
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN {
		return os.NewSyscallError("send", errno)
	}
	return nil
}

// notify records an event: bytes have arrived or, if closed is true, the peer has closed.
func (s *tlsConn) notify(closed bool) { s.isDrained, s.peerClosed = false, s.peerClosed || closed }

// encryptAndSend encrypts and sends b in parts, and returns the number of bytes encrypted. Each part waits
// until the socket has accepted the previous one.
func (s *tlsConn) encryptAndSend(b []byte) (n int, errno syscall.Errno) {
	for {
		k, errno := s.net.send(s.l, s.rest)
		if s.rest = s.rest[k:]; errno != 0 || n == len(b) {
			return n, errno
		}
		part := b[n:min(n+maxRecord, len(b))]
		if _, err := s.conn.Write(part); err != nil {
			return n, syscall.ECONNABORTED // the caller handles only errors of the system
		}
		n += len(part)
	}
}

// Read is called by crypto/tls. Without received bytes it suspends the handshake. After the handshake it
// returns errAgain.
func (s *tlsConn) Read(b []byte) (int, error) {
	for {
		if s.isDrained && !s.peerClosed {
			if s.wait == nil {
				return 0, errAgain
			}
			if !s.wait(struct{}{}) {
				return 0, errGivenUp
			}
			continue
		}
		got, more, errno := s.net.receive(s.l, b)
		switch {
		case errno == syscall.EAGAIN:
			s.isDrained, s.peerClosed = true, false // wait for the next event
		case errno != 0:
			return 0, os.NewSyscallError("recv", errno)
		case len(got) == 0:
			return 0, io.EOF
		default:
			s.isDrained = !more
			return copy(b, got), nil
		}
	}
}

// Write is called by crypto/tls with encrypted bytes. It sends as many as the socket accepts, and stores
// the rest.
func (s *tlsConn) Write(b []byte) (int, error) {
	hasRest := len(s.rest) > 0
	if !hasRest {
		s.rest = s.buf[:0]
	}
	s.rest = append(s.rest, b...)
	s.buf = s.rest
	if hasRest { // after the stored bytes
		return len(b), nil
	}
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN && errno != syscall.EPIPE {
		return len(b), os.NewSyscallError("send", errno)
	}
	return len(b), nil
}

func (s *tlsConn) close() { s.stop() }

// crypto/tls requires the other methods of net.Conn, but does not need them.
func (s *tlsConn) Close() error                     { return nil }
func (s *tlsConn) LocalAddr() net.Addr              { return nil }
func (s *tlsConn) RemoteAddr() net.Addr             { return nil }
func (s *tlsConn) SetDeadline(time.Time) error      { return nil }
func (s *tlsConn) SetReadDeadline(time.Time) error  { return nil }
func (s *tlsConn) SetWriteDeadline(time.Time) error { return nil }
