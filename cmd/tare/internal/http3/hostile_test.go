package http3

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/h3"
)

// serveQUIC starts a server of QUIC on loopback, which ends with the test, and hands it
// each of its connections.
func serveQUIC(t *testing.T, config *quic.Config, handle func(c *quic.Conn)) (addr string) {
	t.Helper()
	l, err := quic.ListenAddr("127.0.0.1:0", tlsConfig(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go acceptAll(l, handle)
	return l.Addr().String()
}

// tlsConfig returns the configuration of a server of HTTP/3, with the certificate of package httptest.
func tlsConfig() *tls.Config {
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	return &tls.Config{Certificates: secure.TLS.Certificates, NextProtos: []string{"h3"}}
}

// acceptAll passes each connection to handle until the listener is closed.
func acceptAll(l *quic.Listener, handle func(c *quic.Conn)) {
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		go handle(c)
	}
}

// answerAll reads each request of a connection, and writes text and the end.
func answerAll(c *quic.Conn, text string) {
	for {
		s, err := c.AcceptStream(context.Background())
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(io.Discard, s)
			_, _ = io.WriteString(s, text)
			_ = s.Close()
		}()
	}
}

// writeForever writes text until the stream is cancelled or its connection ends.
func writeForever(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// openUni opens a unidirectional stream with text.
func openUni(c *quic.Conn, text string) *quic.SendStream {
	s, err := c.OpenUniStreamSync(c.Context())
	if err == nil {
		_, _ = io.WriteString(s, text)
	}
	return s
}

const settingsText = "\x00\x04\x00" // a control stream with SETTINGS without a setting

// An answer without fields but its status, 200, and without a body.
var fineAnswer = string(h3.AppendFrame(nil, h3.Headers, h3.AppendField(h3.AppendSectionPrefix(nil), ":status", "200")))

// Each hostile server costs bounded memory and time, and its requests have a class.
func TestHostileServers(t *testing.T) {
	interim := string(h3.AppendFrame(nil, h3.Headers, h3.AppendField(h3.AppendSectionPrefix(nil), ":status", "103")))
	forever := func(text string) func(c *quic.Conn) {
		return func(c *quic.Conn) {
			for {
				s, err := c.AcceptStream(context.Background())
				if err != nil {
					return
				}
				go writeForever(s, text)
			}
		}
	}
	beside := func(flood func(c *quic.Conn)) func(c *quic.Conn) {
		return func(c *quic.Conn) {
			go flood(c)
			for { // requests stay without an answer
				if _, err := c.AcceptStream(context.Background()); err != nil {
					return
				}
			}
		}
	}
	for name, hostile := range map[string]struct {
		handle func(c *quic.Conn)
		config quic.Config
		body   int
		class  load.Class // "" if all requests are answered
		says   string
	}{
		"a head without an end":   {handle: forever("\x01\xe0\x00\x00\x00\x00\x00\x00\x00"), class: load.ErrFraming, says: "the head of the answer is too long"},
		"interim heads for ever":  {handle: forever(interim), class: load.ErrFraming, says: "the head of the answer is too long"},
		"unknown frames for ever": {handle: forever("\x21\x40\x64" + strings.Repeat("x", 100)), class: load.ErrTimeout},
		"a body for ever":         {handle: forever(fineAnswer + "\x00\xe0\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("x", 1000)), class: load.ErrTimeout},
		"an answer that is cut":   {handle: func(c *quic.Conn) { answerAll(c, fineAnswer+"\x00\x05abc") }, class: load.ErrFraming, says: "ends within a frame"},
		"a window of no bytes":    {handle: beside(func(*quic.Conn) {}), config: quic.Config{InitialStreamReceiveWindow: 1, MaxStreamReceiveWindow: 1}, class: load.ErrTimeout},
		"a window for no body":    {handle: beside(func(*quic.Conn) {}), config: quic.Config{InitialStreamReceiveWindow: 100, MaxStreamReceiveWindow: 100}, body: 100_000, class: load.ErrTimeout},
		"one stream at a time":    {handle: func(c *quic.Conn) { answerAll(c, fineAnswer) }, config: quic.Config{MaxIncomingStreams: 1}},
		"no streams":              {handle: beside(func(*quic.Conn) {}), config: quic.Config{MaxIncomingStreams: -1}, class: load.ErrTimeout},
		"settings for ever":       {handle: beside(func(c *quic.Conn) { writeForever(openUni(c, "\x00"), "\x04\x00") }), class: load.ErrFraming, says: "may not come on the control stream"},
		"long settings":           {handle: beside(func(c *quic.Conn) { openUni(c, "\x00\x04\xe0\x00\x00\x00\x00\x00\x00\x00") }), class: load.ErrFraming, says: "SETTINGS that are too long"},
		"frames for ever":         {handle: beside(func(c *quic.Conn) { writeForever(openUni(c, settingsText), "\x21\x03abc") }), class: load.ErrFraming, says: "too many bytes"},
		"streams for ever": {handle: beside(func(c *quic.Conn) {
			for {
				s := openUni(c, "\x21")
				if s == nil {
					return
				}
				_ = s.Close()
			}
		}), class: load.ErrFraming, says: "too many unidirectional streams"},
		"a control stream that ends": {handle: beside(func(c *quic.Conn) { _ = openUni(c, settingsText).Close() }), class: load.ErrFraming, says: "closed a control"},
		"a dynamic table":            {handle: beside(func(c *quic.Conn) { openUni(c, "\x02\x3f\xe1\x1f") }), class: load.ErrFraming, says: "dynamic table"},
		"a push":                     {handle: beside(func(c *quic.Conn) { openUni(c, "\x01\x00") }), class: load.ErrFraming, says: "a push"},
		"GOAWAY of all":              {handle: beside(func(c *quic.Conn) { openUni(c, settingsText+"\x07\x01\x00") }), class: load.ErrReset, says: "the server sent GOAWAY"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serveQUIC(t, &hostile.config, hostile.handle)
			o := options(addr)
			o.Connections, o.Streams = 1, 2
			o.Requests[0].Body = make([]byte, hostile.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			runLeg := run
			if hostile.class == load.ErrTimeout {
				runLeg = runShort
			}
			r, _, err := runLeg(t, o, load.Leg{Ops: 4})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatalf("%v: %v", err, r)
			}
			if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 100<<20 {
				t.Errorf("%d bytes more on the heap", grown)
			}
			if hostile.class == "" {
				if r.Requests != 4 || len(r.Errors) != 0 {
					t.Errorf("%d answered, %v: %s", r.Requests, r.Errors, r.FirstError)
				}
				return
			}
			if lost := r.Errors[hostile.class]; r.Requests != 0 || lost < 4 || len(r.Errors) != 1 || !strings.Contains(r.FirstError, hostile.says) {
				t.Errorf("%d answered, %v: %s", r.Requests, r.Errors, r.FirstError)
			}
		})
	}
}

// Requests that a server turns away after it has sent GOAWAY are sent again on another
// connection, those before are answered.
func TestGoAwayKeepsEarlierRequests(t *testing.T) {
	addr := serveQUIC(t, nil, func(c *quic.Conn) {
		control := openUni(c, settingsText)
		for n := 0; ; n++ {
			s, err := c.AcceptStream(context.Background())
			if err != nil {
				return
			}
			if n == 3 { // of stream 12
				_, _ = io.WriteString(control, "\x07\x01\x0c")
			}
			if n >= 3 {
				continue
			}
			_, _ = io.WriteString(s, fineAnswer)
			_ = s.Close()
		}
	})
	o := options(addr)
	o.Connections, o.Streams = 2, 3
	r, _, err := run(t, o, load.Leg{Ops: 60})
	if err != nil || r.Requests != 60 || len(r.Errors) != 0 || r.Resent == 0 || r.Opened < 10 {
		t.Errorf("%v: %d answered, %d sent again, %d connections, %v: %s", err, r.Requests, r.Resent, r.Opened, r.Errors, r.FirstError)
	}
}

// Connections have their streams, and count once.
func TestStreams(t *testing.T) {
	addr := serveQUIC(t, nil, func(c *quic.Conn) { answerAll(c, fineAnswer) })
	o := options(addr)
	o.Streams = 10
	s, err := load.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for leg := range 2 {
		r, err := s.Run(t.Context(), load.Leg{Ops: 300})
		if err != nil || r.Requests != 300 || len(r.Errors) != 0 || r.Streams != 10 || r.Concurrency < 1 {
			t.Errorf("%v: %d answered, %v, %d streams, concurrency %v", err, r.Requests, r.Errors, r.Streams, r.Concurrency)
		}
		if want := []int64{3, 0}[leg]; r.Opened != want || r.Handshake.Count() != want || r.Connect.Count() != want {
			t.Errorf("leg %d: %d connections, %d handshakes", leg, r.Opened, r.Handshake.Count())
		}
	}
	o.Handshake = load.Full
	if _, err := load.Open(o); err == nil || !strings.Contains(err.Error(), "of HTTP/3") {
		t.Errorf("a handshake for each request on ten streams: %v", err)
	}
	o.Handshake = load.KeepAlive
	o.Connections = maxShared + 2 // of several sockets
	r, _, err := run(t, o, load.Leg{Ops: 1000})
	if err != nil || r.Requests != 1000 || r.Opened != int64(o.Connections) || len(r.Errors) != 0 {
		t.Errorf("%v: %d answered, %d connections, %s", err, r.Requests, r.Opened, fmt.Sprint(r.Errors))
	}
}

// Connections to a server that is gone without a word are given up after a request has timed out, and those to a server
// that does not know them any more (stateless reset) immediately. Those of all slots are opened again.
func TestServerIsReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		key     *quic.StatelessResetKey
		timeout time.Duration
		class   load.Class
		says    string
	}{
		"without a word":  {nil, time.Second, load.ErrTimeout, "no complete answer in time"},
		"stateless reset": {&quic.StatelessResetKey{1, 2, 3}, load.DefaultTimeout, load.ErrReset, "stateless reset"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
			stop := listenAt(t, addr, c.key)
			o := options(addr.String())
			o.Connections, o.Streams, o.Timeout = 2, 2, c.timeout
			s, err := load.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if r, err := s.Run(t.Context(), load.Leg{Ops: 10}); err != nil || r.Requests != 10 {
				t.Fatalf("%v: %d answered, %v", err, r.Requests, r.Errors)
			}
			stop()
			stop = listenAt(t, addr, c.key)
			defer stop()
			r, err := s.Run(t.Context(), load.Leg{Ops: 100})
			// Each of the four slots loses the request that it had sent to the old server. The
			// connection that is opened again first may have answered all others before the
			// second one is.
			lost := r.Errors[c.class]
			if err != nil || lost < 1 || lost > 4 || r.Requests != 100-lost || len(r.Errors) != 1 || r.Opened < 1 || r.Opened > 2 || !strings.Contains(r.FirstError, c.says) {
				t.Errorf("%v: %d answered, %v, %d connections: %s", err, r.Requests, r.Errors, r.Opened, r.FirstError)
			}
		})
	}
}

// listenAt starts a server of QUIC at addr, of which it sets the port if it is 0. The server ends with its socket, so
// that it closes no connection politely.
func listenAt(t *testing.T, addr *net.UDPAddr, key *quic.StatelessResetKey) (stop func()) {
	t.Helper()
	socket, err := net.ListenUDP("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	addr.Port = socket.LocalAddr().(*net.UDPAddr).Port
	server := &quic.Transport{Conn: socket, StatelessResetKey: key}
	l, err := server.Listen(tlsConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	go acceptAll(l, func(c *quic.Conn) { answerAll(c, fineAnswer) })
	return func() {
		socket.Close()
		server.Close()
	}
}
