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

// errAgain means that nothing has arrived. To crypto/tls it is a timeout, after which a connection can be read
// again.
var errAgain error = againError{}

type againError struct{}

func (againError) Error() string   { return "nothing has come" }
func (againError) Timeout() bool   { return true }
func (againError) Temporary() bool { return true }

var errGivenUp = errors.New("the handshake was given up")

// maxRecord is the number of bytes that are encrypted at a time.
const maxRecord = 16 << 10

// tlsConn implements TLS over one socket of a thread without blocking. It is the net.Conn
// of a tls.Conn: Read returns errAgain if nothing has arrived, and Write stores the bytes
// that the socket does not accept yet. A handshake cannot be interrupted by errAgain, so
// it runs in a coroutine, which continues when bytes have arrived.
type tlsConn struct {
	net        *epollSockets
	l          *link
	conn       *tls.Conn
	began      int64  // start of the handshake in ns
	rest       []byte // encrypted bytes that are not sent yet
	buf        []byte // buffer of rest
	isDrained  bool   // nothing can be received until the next event
	peerClosed bool   // the peer has closed the connection, but not all input is read

	resume func() (struct{}, bool) // continues the handshake; it returns false at the end
	stop   func()                  // aborts the handshake
	wait   func(struct{}) bool     // suspends the coroutine of the handshake; nil outside of it
	err    error                   // result of the handshake
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

// continueHandshake continues the handshake as far as the received bytes allow.
func (s *tlsConn) continueHandshake() (done bool, err error) {
	if _, waits := s.resume(); waits {
		return false, s.sendEncrypted()
	}
	return true, errors.Join(s.err, s.sendEncrypted())
}

// sendEncrypted sends the rest of the encrypted bytes.
func (s *tlsConn) sendEncrypted() error {
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN {
		return os.NewSyscallError("send", errno)
	}
	return nil
}

// notify informs s that bytes have arrived, or, if closed is true, that the peer has closed.
func (s *tlsConn) notify(closed bool) { s.isDrained, s.peerClosed = false, s.peerClosed || closed }

// encryptAndSend encrypts and sends b part by part, and returns the number of encrypted bytes. It does not encrypt
// the next part before the socket has accepted the one before.
func (s *tlsConn) encryptAndSend(b []byte) (n int, errno syscall.Errno) {
	for {
		k, errno := s.net.send(s.l, s.rest)
		if s.rest = s.rest[k:]; errno != 0 || n == len(b) {
			return n, errno
		}
		part := b[n:min(n+maxRecord, len(b))]
		if _, err := s.conn.Write(part); err != nil {
			return n, syscall.ECONNABORTED
		}
		n += len(part)
	}
}

// Read returns received bytes. If there are none, it suspends the handshake, or fails with errAgain outside of
// the handshake.
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
			s.isDrained, s.peerClosed = true, false
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

// Write copies the bytes that crypto/tls has encrypted, whose buffer is only valid during the call, and
// sends as many as the socket accepts.
func (s *tlsConn) Write(b []byte) (int, error) {
	waits := len(s.rest) > 0
	if !waits {
		s.rest = s.buf[:0]
	}
	s.rest = append(s.rest, b...)
	s.buf = s.rest
	if waits { // b is sent after the waiting bytes
		return len(b), nil
	}
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN && errno != syscall.EPIPE {
		return len(b), os.NewSyscallError("send", errno)
	}
	return len(b), nil
}

// close aborts an unfinished handshake.
func (s *tlsConn) close() { s.stop() }

// The other methods of net.Conn do nothing; crypto/tls requires them.
func (s *tlsConn) Close() error                     { return nil }
func (s *tlsConn) LocalAddr() net.Addr              { return nil }
func (s *tlsConn) RemoteAddr() net.Addr             { return nil }
func (s *tlsConn) SetDeadline(time.Time) error      { return nil }
func (s *tlsConn) SetReadDeadline(time.Time) error  { return nil }
func (s *tlsConn) SetWriteDeadline(time.Time) error { return nil }
