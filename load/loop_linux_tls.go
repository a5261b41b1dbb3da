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

// errAgain means that nothing has arrived. It is a timeout error, because after such an error crypto/tls can read a
// connection again.
var errAgain error = againError{}

type againError struct{}

func (againError) Error() string   { return "nothing has come" }
func (againError) Timeout() bool   { return true }
func (againError) Temporary() bool { return true }

var errGivenUp = errors.New("the handshake was given up")

// maxRecord is the number of bytes that are encrypted at a time.
const maxRecord = 16 << 10

// tlsConn implements TLS over one socket of a thread without blocking. It uses a tls.Conn and
// is itself the net.Conn under it: Read returns errAgain if nothing has arrived, and Write
// stores the bytes that the socket does not accept yet. crypto/tls cannot continue a handshake
// after errAgain. So the handshake runs in a coroutine, which Read suspends and
// continueHandshake resumes when bytes have arrived.
type tlsConn struct {
	net        *epollSockets
	l          *link     // the connection
	conn       *tls.Conn // encrypts and decrypts
	began      int64     // start of the handshake in ns
	rest       []byte    // encrypted bytes that are not sent yet
	buf        []byte    // buffer of rest
	isDrained  bool      // everything that has arrived is read: nothing can be received until the next event
	peerClosed bool      // the peer has closed the connection, but not all input is read

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

// continueHandshake continues the handshake as far as the received bytes allow. It returns true when the handshake
// has ended, with its error.
func (s *tlsConn) continueHandshake() (done bool, err error) {
	if _, isSuspended := s.resume(); isSuspended {
		return false, s.sendEncrypted()
	}
	return true, errors.Join(s.err, s.sendEncrypted())
}

// sendEncrypted sends as many of the encrypted bytes as the socket accepts.
func (s *tlsConn) sendEncrypted() error {
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN {
		return os.NewSyscallError("send", errno)
	}
	return nil
}

// notify informs s that bytes have arrived, or, if closed is true, that the peer has closed.
func (s *tlsConn) notify(closed bool) { s.isDrained, s.peerClosed = false, s.peerClosed || closed }

// encryptAndSend encrypts and sends b part by part, and returns the number of bytes of b that it has encrypted. It
// encrypts a part only when the socket has accepted the previous one.
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

// Read is called by crypto/tls. It returns received bytes. If there are none, it suspends the handshake until there
// are, or after the handshake returns errAgain.
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

// Write is called by crypto/tls with encrypted bytes, which are only valid during the call. It stores them, and
// sends as many as the socket accepts.
func (s *tlsConn) Write(b []byte) (int, error) {
	hasRest := len(s.rest) > 0
	if !hasRest {
		s.rest = s.buf[:0]
	}
	s.rest = append(s.rest, b...)
	s.buf = s.rest
	if hasRest { // the socket accepts no more for now: b is sent after the bytes before it
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

// crypto/tls requires the other methods of net.Conn, but needs none of them.
func (s *tlsConn) Close() error                     { return nil }
func (s *tlsConn) LocalAddr() net.Addr              { return nil }
func (s *tlsConn) RemoteAddr() net.Addr             { return nil }
func (s *tlsConn) SetDeadline(time.Time) error      { return nil }
func (s *tlsConn) SetReadDeadline(time.Time) error  { return nil }
func (s *tlsConn) SetWriteDeadline(time.Time) error { return nil }
