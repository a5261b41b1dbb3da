package trial

import (
	"io"
	"net"
	"os"
	"runtime"
	"time"
)

// link transports requests to a measured program, called contender, and its replies. It uses pipes, or
// a loopback socket on systems where a process cannot inherit them.
type link interface {
	io.Reader
	io.Writer
	address() string            // value of TARE_WIRE, by which the contender finds the link
	inheritedFiles() []*os.File // files that the contender inherits, from descriptor 3
	closeChildEnds()            // closes this process's copies of them, once the contender is started
	unblock()                   // makes current and later reads and writes fail
	closeRequests()             // sends the contender the end of file
	stopAccepting()             // ends the wait for a connection, once the contender has ended
	close()
}

func newLink() (link, error) {
	if runtime.GOOS == "windows" {
		return newSocket()
	}
	return newPipes()
}

// pastDeadline returns a deadline that makes reads and writes fail.
func pastDeadline() time.Time { return time.Unix(1, 0) }

// pipes are two pipes, for requests and for replies. The Go runtime polls our ends, so that they can
// have deadlines.
type pipes struct {
	replies, requests           *os.File // our ends
	childRequests, childReplies *os.File // the contender's ends
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
	return &pipes{replies: replies, requests: requests, childRequests: childRequests, childReplies: childReplies}, nil
}

func (p *pipes) Read(b []byte) (int, error)  { return p.replies.Read(b) }
func (p *pipes) Write(b []byte) (int, error) { return p.requests.Write(b) }
func (p *pipes) address() string             { return "3,4" } // the descriptors of inheritedFiles
func (p *pipes) inheritedFiles() []*os.File  { return []*os.File{p.childRequests, p.childReplies} }

func (p *pipes) closeChildEnds() {
	_ = p.childRequests.Close()
	_ = p.childReplies.Close()
}

func (p *pipes) unblock() {
	_ = p.replies.SetReadDeadline(pastDeadline())
	_ = p.requests.SetWriteDeadline(pastDeadline())
}

func (p *pipes) stopAccepting() {} // the kernel reports end of file

func (p *pipes) closeRequests() { _ = p.requests.Close() }

func (p *pipes) close() {
	p.closeChildEnds()
	p.closeRequests()
	_ = p.replies.Close()
}

// socket is a loopback connection that the contender opens. Reads and writes wait for it.
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

// connection waits until the contender has connected.
func (s *socket) connection() (*net.TCPConn, error) {
	<-s.accepted
	return s.conn, s.err
}

func (s *socket) Read(b []byte) (int, error) {
	conn, err := s.connection()
	if err != nil {
		return 0, err
	}
	return conn.Read(b)
}

func (s *socket) Write(b []byte) (int, error) {
	conn, err := s.connection()
	if err != nil {
		return 0, err
	}
	return conn.Write(b)
}

func (s *socket) address() string            { return "tcp:" + s.listener.Addr().String() }
func (s *socket) inheritedFiles() []*os.File { return nil }
func (s *socket) closeChildEnds()            {}
func (s *socket) stopAccepting()             { _ = s.listener.Close() }

func (s *socket) unblock() {
	s.stopAccepting()
	if conn, err := s.connection(); err == nil {
		_ = conn.SetDeadline(pastDeadline())
	}
}

func (s *socket) closeRequests() {
	s.stopAccepting()
	if conn, err := s.connection(); err == nil {
		_ = conn.CloseWrite()
	}
}

func (s *socket) close() {
	s.stopAccepting()
	if conn, err := s.connection(); err == nil {
		_ = conn.Close()
	}
}
