package http3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/tarebench/tare/load"
)

// connKey is where a request's context has its connection.
type connKey struct{}

// listening starts a server of HTTP/3 on loopback, which ends with the test.
func listening(t *testing.T, h http.Handler) (addr string, s *http3.Server) {
	t.Helper()
	secure := httptest.NewTLSServer(nil) // for its certificate
	certificates := secure.TLS.Certificates
	secure.Close()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s = &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: certificates}), QUICConfig: &quic.Config{}}
	s.ConnContext = func(ctx context.Context, c *quic.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(socket)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		socket.Close()
		<-done
	})
	return socket.LocalAddr().String(), s
}

const (
	shortTimeout = 500 * time.Millisecond // of a test that waits for it
	maxHandshake = 20 * time.Second       // on a busy machine
)

// runShort runs a leg with shortTimeout. It repeats that with twice the timeout while nothing is sent
// because the machine is too busy for a handshake.
func runShort(t *testing.T, o load.Options, leg load.Leg) (r *load.Result, totals load.Totals, err error) {
	t.Helper()
	for o.Timeout = shortTimeout; ; o.Timeout *= 2 {
		if r, totals, err = run(t, o, leg); err == nil || r.Sent > 0 || o.Timeout > maxHandshake {
			return r, totals, err
		}
	}
}

// options are those of a session with such a server.
func options(addr string) load.Options {
	return load.Options{
		Target: load.Target{Addr: addr, Host: "shop.example:444", TLS: &tls.Config{InsecureSkipVerify: true}}, Protocol: load.HTTP3, Carry: Carry(3),
		Connections: 3, Timeout: 5 * time.Second, Requests: []load.Request{{Method: "GET", Path: "/"}},
	}
}

// run carries one leg out.
func run(t *testing.T, o load.Options, leg load.Leg) (*load.Result, load.Totals, error) {
	t.Helper()
	s, err := load.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), leg)
	return r, s.Totals(), err
}

// What is sent is what was asked for, numbers and all, and what is answered is read
// to its end.
func TestRequests(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	addr, _ := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[fmt.Sprintf("%s %s %s %q %d %.20s", r.Method, r.Host, r.RequestURI, r.Header, r.ContentLength, body)]++
		mu.Unlock()
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 50_000))
	}))
	o := options(addr)
	o.Connections = 1
	o.Requests = []load.Request{
		{Method: "GET", Path: "/a%20b?c=%41&d=00", Header: [][2]string{{"X-Test", "yes"}, {"Host", "other.example"}}, Fill: []load.Fill{{At: 15, Width: 2, Counter: "n", Step: true}}},
		{Method: "POST", Path: "//twice", Body: []byte("number 0"), Fill: []load.Fill{{Body: true, At: 7, Width: 1, Counter: "n"}}},
		{Method: "PUT", Body: make([]byte, 300_000)},
		{Method: "HEAD", Path: "/h"},
	}
	o.Sample = 1
	o.Verify = func(request, status int, body []byte) error {
		if want := 50_000; request != 3 && len(body) != want {
			return fmt.Errorf("%d bytes", len(body))
		}
		return nil
	}
	r, all, err := run(t, o, load.Leg{Ops: 12})
	if err != nil || len(r.Errors) != 0 || r.Requests != 12 || r.Statuses[200] != 9 || r.Statuses[201] != 3 || r.Opened != 1 || r.Engine != load.Portable {
		t.Fatalf("%v, %+v", err, r)
	}
	if r.BodyIn != 9*50_000 || r.BodyOut != 3*(300_000+8) || r.BytesIn <= r.BodyIn || r.BytesOut <= r.BodyOut || all.Sent != 12 || r.Handshake.Count() != 1 {
		t.Errorf("bodies of %d and %d bytes, %d and %d bytes altogether, %d handshakes", r.BodyIn, r.BodyOut, r.BytesIn, r.BytesOut, r.Handshake.Count())
	}
	want := map[string]int{
		`PUT shop.example:444 / map["Content-Length":["300000"]] 300000 ` + strings.Repeat("\x00", 20): 3,
		`HEAD shop.example:444 /h map[] -1 `: 3,
	}
	for n := range 3 {
		want[fmt.Sprintf(`GET other.example /a%%20b?c=%%41&d=%02d map["X-Test":["yes"]] -1 `, n)] = 1
		want[fmt.Sprintf(`POST shop.example:444 //twice map["Content-Length":["8"]] 8 number %d`, n+1)] = 1
	}
	mu.Lock()
	defer mu.Unlock()
	for line, n := range want {
		if seen[line] != n {
			t.Errorf("%d times %s", seen[line], line)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("the server saw %q", seen)
	}
}

// An open loop is as it is with other protocols.
func TestOpenLoop(t *testing.T) {
	addr, _ := listening(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r, _, err := run(t, options(addr), load.Leg{Profile: load.Constant{PerSecond: 200}, Duration: 300 * time.Millisecond})
	if err != nil || len(r.Errors) != 0 || r.Sent+r.Late != 60 || r.Requests != r.Sent || r.SendLag.Count() != r.Sent {
		t.Errorf("%v, %d sent, %d late, %d answered, %v", err, r.Sent, r.Late, r.Requests, r.Errors)
	}
}

func TestHandshakes(t *testing.T) {
	addr, _ := listening(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for mode, resumes := range map[load.Handshake]bool{load.Full: false, load.Resume: true} {
		o := options(addr)
		o.Handshake, o.Connections = mode, 1
		r, _, err := run(t, o, load.Leg{Ops: 10})
		if err != nil || len(r.Errors) != 0 || r.Requests != 10 || r.Handshake.Count() < 10 || r.Handshake.Count() != r.Opened || r.Handshake.Min() <= 0 {
			t.Errorf("%s: %v, %d requests, %d handshakes, %d opened, %v", mode, err, r.Requests, r.Handshake.Count(), r.Opened, r.FirstError)
		}
		if resumes != (r.Resumed > 0) {
			t.Errorf("%s: %d resumed", mode, r.Resumed)
		}
	}
}

// Each fault is of its class, and nothing hangs.
func TestFaults(t *testing.T) {
	var n atomic.Int64
	reset := func(code http3.ErrCode) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			s := w.(http3.HTTPStreamer).HTTPStream()
			s.CancelRead(quic.StreamErrorCode(code))
			s.CancelWrite(quic.StreamErrorCode(code))
		}
	}
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		class  load.Class // of all requests; empty: all are answered
		says   string
		resent bool // some request is sent again
		luck   bool // a request may meet a connection that has just been closed, and is sent again
	}{
		"never answers": {h: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, class: load.ErrTimeout, says: "no complete answer in time"},
		"stops in the middle": {h: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, class: load.ErrTimeout, says: "no complete answer in time"},
		"resets the stream": {h: reset(http3.ErrCodeInternalError), class: load.ErrReset, says: "the server reset the stream: H3_INTERNAL_ERROR"},
		"refuses for ever":  {h: reset(http3.ErrCodeRequestRejected), class: load.ErrReset, says: "the server reset the stream: H3_REQUEST_REJECTED", resent: true},
		"refuses each third": {h: func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%3 == 0 {
				reset(http3.ErrCodeRequestRejected)(w, r)
			}
		}, resent: true},
		"closes the connection": {h: func(_ http.ResponseWriter, r *http.Request) {
			_ = r.Context().Value(connKey{}).(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeInternalError), "enough")
		}, class: load.ErrReset, luck: true},
		"has a head without an end": {h: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", load.MaxHead))
		}, class: load.ErrFraming},
		"says too little": {h: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(100))
			_, _ = io.WriteString(w, "short")
		}, class: load.ErrFraming, says: "a body shorter than its Content-Length"},
	} {
		t.Run(name, func(t *testing.T) {
			addr, _ := listening(t, c.h)
			o := options(addr)
			o.Connections, o.Timeout = 2, time.Second
			r, _, err := run(t, o, load.Leg{Ops: 6})
			if err != nil {
				t.Fatal(err)
			}
			if c.class == "" {
				if r.Requests != 6 || len(r.Errors) != 0 {
					t.Errorf("%d answered, %v: %s", r.Requests, r.Errors, r.FirstError)
				}
			} else if lost := r.Errors[c.class]; r.Requests != 0 || lost < 6 || lost > 7 || len(r.Errors) != 1 || !strings.Contains(r.FirstError, c.says) {
				t.Errorf("%d answered, %v: %s", r.Requests, r.Errors, r.FirstError)
			}
			if !c.luck && c.resent != (r.Resent > 0) {
				t.Errorf("%d were sent again", r.Resent)
			}
		})
	}
}

// What is not HTTP/3 is an error of framing, and nothing hangs.
func TestGarbage(t *testing.T) {
	secure := httptest.NewTLSServer(nil)
	certificates := secure.TLS.Certificates
	secure.Close()
	for _, text := range []string{"DATA before a head\r\n\r\n", "\x00\x03abc", "\x01\x04\xff\xff\xff\xff", "\x01\x00"} {
		l, err := quic.ListenAddr("127.0.0.1:0", http3.ConfigureTLSConfig(&tls.Config{Certificates: certificates}), nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept(context.Background())
				if err != nil {
					return
				}
				go func() {
					for {
						s, err := c.AcceptStream(context.Background())
						if err != nil {
							return
						}
						_, _ = io.WriteString(s, text)
						_ = s.Close()
					}
				}()
			}
		}()
		o := options(l.Addr().String())
		o.Connections, o.Timeout = 2, time.Second
		r, _, err := run(t, o, load.Leg{Ops: 6})
		if lost := r.Errors[load.ErrFraming] + r.Errors[load.ErrReset]; err != nil || r.Requests != 0 || lost < 6 || r.Errors[load.ErrFraming] == 0 {
			t.Errorf("%q: %v, %d answered, %v: %s", text, err, r.Requests, r.Errors, r.FirstError)
		}
		l.Close()
	}
}

// A server that goes away politely loses no request: connections are made anew.
func TestGoesAway(t *testing.T) {
	var once sync.Once
	var n atomic.Int64
	var s *http3.Server
	addr, server := listening(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 40 {
			once.Do(func() { go func() { _ = s.Shutdown(context.Background()) }() })
		}
	}))
	s = server
	o := options(addr)
	r, _, err := runShort(t, o, load.Leg{Ops: 1000})
	// Nobody listens any more: the leg ends because there is no connection.
	if err == nil || !strings.Contains(err.Error(), "no connection to") || r.Requests < 40 {
		t.Errorf("%v, %d answered, %v: %s", err, r.Requests, r.Errors, r.FirstError)
	}
	// A request that is sent again before the GOAWAY is there may be rejected again.
	if lost := r.Errors[load.ErrReset] + r.Errors[load.ErrFraming]; lost != 0 && !strings.HasSuffix(r.FirstError, "H3_REQUEST_REJECTED") {
		t.Errorf("%v: %s", r.Errors, r.FirstError)
	}
}

// Dialling a silent port, or one without a trusted certificate, fails within the timeout.
func TestNoQUICServer(t *testing.T) {
	silent, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := options(silent.LocalAddr().String())
	o.Timeout = shortTimeout
	r, _, err := run(t, o, load.Leg{Ops: 1})
	if err == nil || !strings.Contains(err.Error(), "no handshake of QUIC in time") || r.Sent != 0 || r.Errors[load.ErrConnect] == 0 {
		t.Errorf("%v, %+v", err, r)
	}
	addr, _ := listening(t, http.NotFoundHandler())
	o = options(addr)
	o.Target.TLS = &tls.Config{}
	for o.Timeout = shortTimeout; ; o.Timeout *= 2 { // a leg without a connection ends with the timeout
		if _, _, err = run(t, o, load.Leg{Ops: 1}); err != nil && strings.Contains(err.Error(), "certificate") {
			break
		}
		if o.Timeout > maxHandshake {
			t.Fatalf("nobody vouches for the server: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s, err := load.Open(options(silent.LocalAddr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx, load.Leg{Ops: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
}

// Few connections may leave much garbage, and many no more than usual.
func TestGCPercent(t *testing.T) {
	for connections, want := range map[int]int{0: 400, 1: 400, 50: 400, 100: 200, 1000: 100, 10_000: 100} {
		if got := gcPercent(connections); got != want {
			t.Errorf("%d connections: %d %%, want %d", connections, got, want)
		}
	}
}
