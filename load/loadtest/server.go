// Package loadtest provides a server that misbehaves in named ways, for tests of clients. It speaks
// HTTP/1.1, HTTP/2 or gRPC, only on the loopback interface. Close waits for all goroutines.
package loadtest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options vary a behaviour. The zero value works.
type Options struct {
	TLS   bool
	HTTP2 bool          // with prior knowledge in plain text, or negotiated by TLS
	GRPC  bool          // over HTTP/2; the message of a response is Body
	Body  []byte        // body of responses; nil means "Hello, world!\n"
	After int           // number of requests on a connection, for behaviours that count them; 0 means 3
	Pause time.Duration // of slow behaviours; 0 means 1ms
	Code  int           // status of behaviour Status; 0 means 404
}

// Server is a running server.
type Server struct {
	behaviour Behaviour
	options   Options
	listener  net.Listener
	client    *tls.Config // configuration of clients; nil in plain text
	done      chan struct{}
	once      sync.Once
	wg        sync.WaitGroup

	requests, bodyBytes, accepted atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Start starts a server with the behaviour.
func Start(b Behaviour, o Options) (*Server, error) {
	if o.Body == nil {
		o.Body = []byte("Hello, world!\n")
	}
	if o.After == 0 {
		o.After = 3
	}
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	if o.Code == 0 {
		o.Code = http.StatusNotFound
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.HTTP2 = o.HTTP2 || o.GRPC
	s := &Server{behaviour: b, options: o, listener: l, done: make(chan struct{}), conns: map[net.Conn]bool{}}
	if o.TLS {
		server, client, err := newCertificate()
		if err != nil {
			l.Close()
			return nil, err
		}
		s.client = client
		if o.HTTP2 {
			server.NextProtos = []string{"h2"}
		}
		s.listener = tls.NewListener(l, server)
	}
	if b == Refuse {
		l.Close()
		return s, nil
	}
	s.wg.Go(s.acceptConns)
	return s, nil
}

// Addr returns host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Client returns the configuration of a client that trusts the server, or nil without TLS.
func (s *Server) Client() *tls.Config { return s.client }

// Requests returns the number of completely received requests.
func (s *Server) Requests() int64 { return s.requests.Load() }

// BodyBytes returns the number of received bytes of request bodies.
func (s *Server) BodyBytes() int64 { return s.bodyBytes.Load() }

// Accepted returns the number of accepted connections.
func (s *Server) Accepted() int64 { return s.accepted.Load() }

// Open returns the number of open connections.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Drop closes every connection from the server's side.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close closes the listener and all connections, and waits for the goroutines.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.done)
		s.listener.Close()
		s.Drop()
		s.wg.Wait()
	})
}

func (s *Server) acceptConns() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.accepted.Add(1)
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.wg.Go(func() {
			s.serveConn(c)
			c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
		select {
		case <-s.done: // accepted while the server was closing
			c.Close()
		default:
		}
	}
}

func (s *Server) serveConn(c net.Conn) {
	if s.behaviour == HangUp {
		return
	}
	if s.options.HTTP2 {
		s.serveHTTP2(c)
		return
	}
	r := bufio.NewReader(c)
	for number := 1; ; number++ {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		n, err := io.Copy(io.Discard, request.Body)
		if err != nil {
			return
		}
		s.bodyBytes.Add(n)
		s.requests.Add(1)
		out := &response{server: s, conn: c, number: number, isHead: request.Method == http.MethodHead}
		if !out.respond() || out.err != nil {
			return
		}
	}
}

type response struct {
	server *Server
	conn   net.Conn
	number int // number of the request on its connection, from 1
	isHead bool
	err    error // of the first failed write
}

func (r *response) writeText(text string) {
	if r.err == nil {
		_, r.err = io.WriteString(r.conn, text)
	}
}

// sleepFor waits for d. It returns false if the server is closing.
func (r *response) sleepFor(d time.Duration) bool {
	select {
	case <-r.server.done:
		return false
	case <-time.After(d):
		return true
	}
}

func (r *response) bodyText() string {
	if r.isHead {
		return ""
	}
	return string(r.server.options.Body)
}

// plainResponse returns a valid response with additional fields, each of which ends in CR LF.
func (r *response) plainResponse(status int, fields string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), fields, len(r.server.options.Body), r.bodyText())
}
