package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// standard returns net/http's server, with HTTP/1.1 and with HTTP/2 in plain text.
func standard(h http.Handler) *http.Server {
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

// serveStandard starts net/http's server with handler h and returns its address.
func serveStandard(t testing.TB, h http.Handler) (addr string) {
	t.Helper()
	return listening(t, standard(h))
}

func listening(t testing.TB, s *http.Server) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "listen", err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-over
	})
	return l.Addr().String()
}

// greet answers every request with "hello", a gRPC request with a gRPC message.
func greet(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.Header.Get("Content-Type") == "application/grpc" {
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = io.WriteString(w, "\x00\x00\x00\x00\x05hello")
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		return
	}
	_, _ = io.WriteString(w, "hello")
}

// many returns a different kind of response for each path, to cover those that net/http's server
// can send.
func many(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	size, _ := strconv.Atoi(r.URL.Query().Get("size"))
	switch r.URL.Path {
	case "/sum":
		_, _ = fmt.Fprintf(w, "%s %s %x", r.Method, r.Host, sha256.Sum256(b))
	case "/big":
		_, _ = w.Write(bytes.Repeat([]byte("b"), size))
	case "/trailers":
		w.Header().Set("Trailer", "Digest")
		_, _ = io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("Digest", "none")
	case "/hints":
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "hinted")
	case "/fields": // every byte that a field may hold, and so every Huffman code of one
		for c := 0x20; c < 0x100; c++ {
			if c != 0x7f {
				w.Header().Add("X-Every", "a"+strings.Repeat(string([]byte{byte(c)}), 3)+"z")
			}
		}
		w.Header().Set("X-Long", strings.Repeat("long ", 10000))
	case "/sums":
		_, _ = fmt.Fprintf(w, "%x", sha256.Sum256([]byte(r.Header.Get("X-Large"))))
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/abort":
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	default:
		http.NotFound(w, r)
	}
}

// Every engine reads each kind of response that net/http's server sends, in plain text and over
// TLS, and the server reads the engine's requests.
func TestHTTP2OfTheStandardLibrary(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 120_000) // more than any window
	secure := httptest.NewUnstartedServer(http.HandlerFunc(many))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	plain := serveStandard(t, http.HandlerFunc(many))
	requests := []Request{
		{Method: "GET", Path: "/sum", Status: 200}, {Method: "POST", Path: "/sum", Body: []byte("little"), Status: 200}, {Method: "PUT", Path: "/sum", Body: body, Status: 200},
		{Method: "GET", Path: "/big?size=2500000", Status: 200}, {Method: "HEAD", Path: "/big?size=50", Status: 200}, {Method: "GET", Path: "/trailers", Status: 200},
		{Method: "GET", Path: "/hints", Status: 200}, {Method: "GET", Path: "/fields", Status: 200}, {Method: "GET", Path: "/none", Status: 204}, {Method: "GET", Path: "/lost", Status: 404},
	}
	for _, target := range []Target{{Addr: plain}, {Addr: secure.Listener.Addr().String(), TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}} {
		want := func(i int) string {
			switch r := requests[i]; {
			case strings.HasPrefix(r.Path, "/sum"):
				return fmt.Sprintf("%s %s %x", r.Method, target.Addr, sha256.Sum256(r.Body))
			case r.Method == "GET" && strings.HasPrefix(r.Path, "/big"):
				return strings.Repeat("b", 2_500_000)
			}
			return map[string]string{"/trailers": "body", "/hints": "hinted", "/lost": "404 page not found\n"}[requests[i].Path]
		}
		for _, engine := range []Engine{Epoll, Portable} {
			if _, err := opened(t, engine); err != nil {
				t.Logf("without engine %s: %v", engine, err)
				continue
			}
			s, err := Open(Options{Target: target, Engine: engine, Protocol: H2C, Connections: 3, Requests: requests, Sample: 1, Verify: func(i, _ int, body []byte) error {
				if string(body) != want(i) {
					return fmt.Errorf("%s, request %d: %d bytes that begin with %.40q", engine, i, len(body), body)
				}
				return nil
			}})
			assert.NoError(t, "open", err)
			defer s.Close()
			for range 2 {
				leg := Leg{Ops: 30}
				r, err := s.Run(context.Background(), leg)
				assert.NoError(t, "run", err)
				adds(t, s.s, leg, r, false)
				assert.Equal(t, "first error", r.FirstError, "")
				assert.Equal(t, "reconnects", r.Reconnects, 0)
			}
		}
	}
}

// A header table that is too small for the fields sent, on the client's or on the server's side,
// causes no error and no reconnect.
func TestHTTP2TablesOverflow(t *testing.T) {
	var requests []Request
	for i := range 12 {
		requests = append(requests, Request{Method: "POST", Path: fmt.Sprint("/sums?", i%5), Status: 200, Body: []byte("x"), Header: [][2]string{{"X-Large", strings.Repeat(fmt.Sprint(i), 40<<i%2000)}, {"X-Small", fmt.Sprint(i % 3)}}})
	}
	for _, size := range []int{0, 1, 100, 4096} { // 0: as net/http has it
		server := standard(http.HandlerFunc(many))
		server.HTTP2 = &http.HTTP2Config{MaxDecoderHeaderTableSize: size, MaxEncoderHeaderTableSize: size}
		s, err := Open(Options{Target: Target{Addr: listening(t, server)}, Protocol: H2C, Connections: 2, Requests: requests, Sample: 1, Verify: func(i, _ int, body []byte) error {
			if want := fmt.Sprintf("%x", sha256.Sum256([]byte(requests[i].Header[0][1]))); string(body) != want {
				return fmt.Errorf("request %d: %.80q, want %q", i, body, want)
			}
			return nil
		}})
		assert.NoError(t, "open", err)
		r, err := s.Run(context.Background(), Leg{Ops: 200})
		s.Close()
		assert.NoError(t, "run", err)
		assert.Equal(t, "first error", r.FirstError, "")
		assert.Equal(t, "reconnects", r.Reconnects, 0)
	}
}

// If the server resets a stream, the request of this stream is lost, but the connection is used
// again.
func TestHTTP2StreamReset(t *testing.T) {
	s, err := Open(Options{Target: Target{Addr: serveStandard(t, http.HandlerFunc(many))}, Protocol: H2C, Connections: 2, Requests: []Request{{Method: "GET", Path: "/abort"}, {Method: "GET", Path: "/sum"}}})
	assert.NoError(t, "open", err)
	defer s.Close()
	leg := Leg{Ops: 40}
	r, err := s.Run(context.Background(), leg)
	assert.NoError(t, "run", err)
	adds(t, s.s, leg, r, false)
	some{19, 21}.check(t, "class reset", r.Errors[ErrReset])
	assert.Equal(t, "other classes", len(r.Errors), 1)
	assert.Equal(t, "opened", r.Opened, 2)
	assert.Equal(t, "first error", r.FirstError, "reset: the server reset the stream: INTERNAL_ERROR")
}

// Connections to a server that has shut down are replaced in the next phase, without an error.
func TestHTTP2GoAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "listen", err)
	defer l.Close()
	s, err := Open(Options{Target: Target{Addr: l.Addr().String()}, Protocol: H2C, Connections: 2, Requests: []Request{{Method: "GET", Path: "/sum"}}})
	assert.NoError(t, "open", err)
	defer s.Close()
	for leg := range 2 {
		server, over := standard(http.HandlerFunc(many)), make(chan error)
		go func() { over <- server.Serve(keptOpen{l}) }()
		r, err := s.Run(context.Background(), Leg{Ops: 50})
		assert.NoError(t, "run", err)
		assert.Equal(t, "errors", fmt.Sprint(r.Errors), "map[]")
		assert.Equal(t, "reconnects", r.Reconnects, int64(2*leg))
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		_ = server.Shutdown(ctx)
		cancel()
		_ = server.Close()
		assert.Equal(t, "server", errors.Is(<-over, http.ErrServerClosed), true)
		assert.NoError(t, "listener", l.(*net.TCPListener).SetDeadline(time.Time{}))
	}
}

// keptOpen is a listener that stays open when the server that uses it is closed.
type keptOpen struct{ net.Listener }

func (k keptOpen) Close() error { return k.Listener.(*net.TCPListener).SetDeadline(time.Unix(1, 0)) }

// A server that speaks only HTTP/1.1 over TLS cannot be connected to.
func TestNoHTTP2OverTLS(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	target := Target{Addr: secure.Listener.Addr().String(), TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}
	s, err := Open(Options{Target: target, Protocol: GRPC, Connections: 1, Timeout: 200 * time.Millisecond, Requests: []Request{{Method: "POST"}}})
	assert.NoError(t, "open", err)
	defer s.Close()
	r, err := s.Run(context.Background(), Leg{Ops: 1})
	if err == nil || r.Opened != 0 || r.Errors[ErrConnect] == 0 {
		t.Errorf("%v: %d opened, %v", err, r.Opened, r.Errors)
	}
}

// A server in plain text that speaks only HTTP/1.1 is recognised by the first bytes it sends.
func TestNoHTTP2InPlainText(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	s, err := Open(Options{Target: Target{Addr: plain.Listener.Addr().String()}, Protocol: H2C, Connections: 1, Requests: []Request{{Method: "POST", Body: []byte("x")}}})
	assert.NoError(t, "open", err)
	defer s.Close()
	r, err := s.Run(context.Background(), Leg{Ops: 5})
	assert.NoError(t, "run", err)
	assert.Equal(t, "requests", r.Requests, 0)
	assert.Equal(t, "lost", r.Errors[ErrFraming]+r.Errors[ErrReset]-r.Unasked, 5)
}
