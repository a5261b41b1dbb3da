package trial

import (
	"io"
	"net"
	"os"
	"runtime"
	"time"
)

// link is the wire's transport: pipes, or a loopback socket where descriptors
// cannot be inherited.
type link interface {
	io.Reader
	io.Writer
	name() string      // for the contender, in TARE_WIRE
	files() []*os.File // to be inherited, from descriptor 3
	started()          // the contender has its ends
	interrupt()        // unblocks reading and writing, now and for good
	hangUp()           // end of file for the contender
	deserted()         // the contender has ended: nobody will connect any more
	close()
}

func newLink() (link, error) {
	if runtime.GOOS == "windows" {
		return newSocket()
	}
	return newPipes()
}

// pastDeadline returns a deadline that has gone by.
func pastDeadline() time.Time { return time.Unix(1, 0) }

// pipes are two pipes, requests out and replies in. Ours are read through the
// runtime's poller, which is what lets interrupt work.
type pipes struct {
	replies, requests           *os.File
	childRequests, childReplies *os.File
}

func newPipes() (*pipes, error) {
	childRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	replies, childReplies, err := os.Pipe()
	if err != nil {
		_ = childRequests.Close()
		_ = requests.Close()
		return nil, err
	}
	return &pipes{replies, requests, childRequests, childReplies}, nil
}

func (p *pipes) Read(b []byte) (int, error)  { return p.replies.Read(b) }
func (p *pipes) Write(b []byte) (int, error) { return p.requests.Write(b) }
func (p *pipes) name() string                { return "3,4" }
func (p *pipes) files() []*os.File           { return []*os.File{p.childRequests, p.childReplies} }

func (p *pipes) started() {
	_ = p.childRequests.Close()
	_ = p.childReplies.Close()
}

func (p *pipes) interrupt() {
	_ = p.replies.SetReadDeadline(pastDeadline())
	_ = p.requests.SetWriteDeadline(pastDeadline())
}

func (p *pipes) deserted() {} // the kernel says end of file

func (p *pipes) hangUp() { _ = p.requests.Close() }

func (p *pipes) close() {
	p.started()
	p.hangUp()
	_ = p.replies.Close()
}

// socket is a loopback connection that the contender makes. It is accepted
// when the first request is written.
type socket struct {
	listener *net.TCPListener
	accepted chan struct{} // closed once conn or err is set
	conn     *net.TCPConn
	err      error
}

func newSocket() (*socket, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &socket{listener: l, accepted: make(chan struct{})}
	go func() {
		defer close(s.accepted)
		defer l.Close()
		s.conn, s.err = l.AcceptTCP()
	}()
	return s, nil
}

func (s *socket) Read(b []byte) (int, error) {
	if <-s.accepted; s.err != nil {
		return 0, s.err
	}
	return s.conn.Read(b)
}

func (s *socket) Write(b []byte) (int, error) {
	if <-s.accepted; s.err != nil {
		return 0, s.err
	}
	return s.conn.Write(b)
}

func (s *socket) name() string      { return "tcp:" + s.listener.Addr().String() }
func (s *socket) files() []*os.File { return nil }
func (s *socket) started()          {}
func (s *socket) deserted()         { _ = s.listener.Close() }

func (s *socket) interrupt() {
	_ = s.listener.Close()
	if <-s.accepted; s.err == nil {
		_ = s.conn.SetDeadline(pastDeadline())
	}
}

func (s *socket) hangUp() {
	_ = s.listener.Close()
	if <-s.accepted; s.err == nil {
		_ = s.conn.CloseWrite()
	}
}

func (s *socket) close() {
	_ = s.listener.Close()
	if <-s.accepted; s.err == nil {
		_ = s.conn.Close()
	}
}
