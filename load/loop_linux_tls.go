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

// secure is TLS over one socket of a thread, which never blocks: crypto/tls reads the
// received bytes, and its output is stored until the socket accepts it. A
// handshake must wait, so it runs in a coroutine and continues when bytes
// have arrived.
type secure struct {
	net        *epollSockets
	l          *link
	conn       *tls.Conn
	began      int64  // ns, start of the handshake
	rest       []byte // encrypted bytes to send
	buf        []byte
	isDrained  bool // nothing can be received until the next event
	peerClosed bool // the other side has closed: the end is still to be read

	resume func() (struct{}, bool) // continues the handshake
	stop   func()
	wait   func(struct{}) bool
	err    error // of the handshake
}

func newSecure(net *epollSockets, l *link, config *tls.Config, now int64) *secure {
	s := &secure{net: net, l: l, began: now}
	s.conn = tls.Client(s, config)
	s.resume, s.stop = iter.Pull(func(wait func(struct{}) bool) {
		s.wait = wait
		s.err = s.conn.Handshake()
		s.wait = nil
	})
	return s
}

// continueHandshake continues the handshake as far as the received bytes allow.
func (s *secure) continueHandshake() (whole bool, err error) {
	if _, waits := s.resume(); waits {
		return false, s.sendEncrypted()
	}
	return true, errors.Join(s.err, s.sendEncrypted())
}

// sendEncrypted sends the rest of the encrypted bytes.
func (s *secure) sendEncrypted() error {
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN {
		return os.NewSyscallError("send", errno)
	}
	return nil
}

// notify reports that bytes have arrived, or that none will.
func (s *secure) notify(gone bool) { s.isDrained, s.peerClosed = false, s.peerClosed || gone }

// encryptAndSend encrypts and sends b part by part, and returns the number of encrypted bytes of b: at most
// one part waits for the socket.
func (s *secure) encryptAndSend(b []byte) (n int, errno syscall.Errno) {
	for {
		k, errno := s.net.send(s.l, s.rest)
		if s.rest = s.rest[k:]; errno != 0 || n == len(b) {
			return n, errno
		}
		piece := b[n:min(n+maxRecord, len(b))]
		if _, err := s.conn.Write(piece); err != nil {
			return n, syscall.ECONNABORTED
		}
		n += len(piece)
	}
}

// Read returns the received bytes.
func (s *secure) Read(b []byte) (int, error) {
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
func (s *secure) Write(b []byte) (int, error) {
	waits := len(s.rest) > 0
	if !waits {
		s.rest = s.buf[:0]
	}
	s.rest = append(s.rest, b...)
	s.buf = s.rest
	if waits { // it is sent after the waiting bytes
		return len(b), nil
	}
	n, errno := s.net.send(s.l, s.rest)
	if s.rest = s.rest[n:]; errno != 0 && errno != syscall.EAGAIN && errno != syscall.EPIPE {
		return len(b), os.NewSyscallError("send", errno)
	}
	return len(b), nil
}

// close aborts an unfinished handshake.
func (s *secure) close() { s.stop() }

// The rest of a net.Conn, for crypto/tls.
func (s *secure) Close() error                     { return nil }
func (s *secure) LocalAddr() net.Addr              { return nil }
func (s *secure) RemoteAddr() net.Addr             { return nil }
func (s *secure) SetDeadline(time.Time) error      { return nil }
func (s *secure) SetReadDeadline(time.Time) error  { return nil }
func (s *secure) SetWriteDeadline(time.Time) error { return nil }
