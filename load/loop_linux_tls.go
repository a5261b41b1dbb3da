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

// errAgain says that nothing has come. To crypto/tls it is a timeout, after which
// a connection can be read again.
var errAgain error = again{}

type again struct{}

func (again) Error() string   { return "nothing has come" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

var errGivenUp = errors.New("the handshake was given up")

// mostSealed is how many bytes are encrypted at a time.
const mostSealed = 16 << 10

// secure is TLS over one socket of a thread, which never waits: what crypto/tls
// reads is what has come, and what it writes is kept until the socket takes it. A
// handshake wants to wait, so it has a stack of its own and goes on when
// something has come.
type secure struct {
	net   sockets
	l     *link
	conn  *tls.Conn
	began int64  // ns: the handshake
	rest  []byte // encrypted, still to be sent
	buf   []byte
	dry   bool // nothing is left to be received until there is news
	gone  bool // the other side has closed: the end is still to be read

	resume func() (struct{}, bool) // goes on with the handshake; nil: it is over
	stop   func()
	wait   func(struct{}) bool
	err    error // of the handshake
}

func newSecure(net sockets, l *link, config *tls.Config, now int64) *secure {
	s := &secure{net: net, l: l, began: now}
	s.conn = tls.Client(s, config)
	s.resume, s.stop = iter.Pull(func(wait func(struct{}) bool) {
		s.wait = wait
		s.err = s.conn.Handshake()
		s.wait = nil
	})
	return s
}

// handshake goes on with the handshake as far as what has come allows.
func (s *secure) handshake() (whole bool, err error) {
	if _, waits := s.resume(); waits {
		return false, s.push()
	}
	return true, errors.Join(s.err, s.push())
}

// push sends what is left of what was encrypted.
func (s *secure) push() error {
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN {
		return os.NewSyscallError("send", errno)
	}
	return nil
}

// news says that something has come, or that nothing more will.
func (s *secure) news(gone bool) { s.dry, s.gone = false, s.gone || gone }

// send encrypts and sends b piece by piece, and returns how much of it was
// encrypted: no more than one piece waits for the socket.
func (s *secure) send(b []byte) (n int, errno syscall.Errno) {
	for {
		k, errno := s.net.send(s.l, s.rest)
		if s.rest = s.rest[k:]; errno != 0 || n == len(b) {
			return n, errno
		}
		piece := b[n:min(n+mostSealed, len(b))]
		if _, err := s.conn.Write(piece); err != nil {
			return n, syscall.ECONNABORTED
		}
		n += len(piece)
	}
}

// Read takes what has come.
func (s *secure) Read(b []byte) (int, error) {
	for {
		if s.dry && !s.gone {
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
			s.dry, s.gone = true, false
		case errno != 0:
			return 0, os.NewSyscallError("recv", errno)
		case len(got) == 0:
			return 0, io.EOF
		default:
			s.dry = !more
			return copy(b, got), nil
		}
	}
}

// Write keeps what crypto/tls has encrypted, in whose memory it may not stay, and
// sends what the socket takes of it.
func (s *secure) Write(b []byte) (int, error) {
	waits := len(s.rest) > 0
	if !waits {
		s.rest = s.buf[:0]
	}
	s.rest = append(s.rest, b...)
	s.buf = s.rest
	if waits { // its turn comes after what waits
		return len(b), nil
	}
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN && errno != syscall.EPIPE {
		return len(b), os.NewSyscallError("send", errno)
	}
	return len(b), nil
}

// close gives up a handshake that is under way.
func (s *secure) close() { s.stop() }

// The rest of a net.Conn, for crypto/tls.
func (s *secure) Close() error                     { return nil }
func (s *secure) LocalAddr() net.Addr              { return nil }
func (s *secure) RemoteAddr() net.Addr             { return nil }
func (s *secure) SetDeadline(time.Time) error      { return nil }
func (s *secure) SetReadDeadline(time.Time) error  { return nil }
func (s *secure) SetWriteDeadline(time.Time) error { return nil }
