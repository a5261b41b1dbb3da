package load

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

// Handshakes are counted and timed: one for each connection, or one for each request. With Resume
// all of them resume, except the first of each thread.
func TestHandshakes(t *testing.T) {
	const ops, conns = 24, 3
	for _, old := range []bool{false, true} {
		for mode, c := range map[Handshake]struct{ shaken, resumed some }{
			KeepAlive: {exactly(conns), exactly(0)},
			Full:      {some{ops, ops + 2*conns}, exactly(0)},
			Resume:    {some{ops, ops + 2*conns}, some{ops - 2*conns, ops + 2*conns}},
		} {
			eachWay(t, []way{{Epoll, true, HTTP1}, {Portable, true, HTTP1}}, func(t *testing.T, w way) {
				if !w.tls {
					return
				}
				s := serve(t, w, loadtest.Plain, loadtest.Options{})
				defer s.Close()
				config := s.Client().Clone()
				if old {
					config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
				}
				o := Options{Target: Target{Addr: s.Addr(), TLS: config}, Engine: w.engine, Protocol: w.protocol, Connections: conns, Handshake: mode, Requests: []Request{{Method: "GET"}}}
				session, err := Open(o)
				assert.NoError(t, "open", err)
				defer session.Close()
				r, err := session.Run(context.Background(), Leg{Ops: ops})
				assert.NoError(t, "run", err)
				adds(t, session.s, Leg{Ops: ops}, r, false)
				assert.Equal(t, "first error", r.FirstError, "")
				assert.Equal(t, "requests", r.Requests, ops)
				assert.Equal(t, "handshakes", r.Handshake.Count(), r.Opened)
				c.shaken.check(t, "handshakes", r.Handshake.Count())
				c.resumed.check(t, "resumed", r.Resumed)
				if r.Handshake.Min() <= 0 || r.Handshake.Max() > r.Connect.Max() {
					t.Errorf("handshakes of %d to %d ns, connects up to %d ns", r.Handshake.Min(), r.Handshake.Max(), r.Connect.Max())
				}
			})
		}
	}
}

// A handshake that cannot succeed is an error of class connect, and takes no longer than the
// timeout.
func TestHandshakesFail(t *testing.T) {
	for name, c := range map[string]struct {
		treat func(net.Conn)
		says  string
	}{
		"garbage":       {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, "tls: "},
		"hangs up":      {func(net.Conn) {}, "EOF"},
		"never answers": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "timed out"},
		"an alert":      {func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) }, "handshake failure"},
		"half a record": {func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 3, 0, 100, 2, 0}); _, _ = io.Copy(io.Discard, c) }, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			assert.NoError(t, "listen", err)
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						_, _ = conn.Read(make([]byte, 4096))
						c.treat(conn)
					}()
				}
			}()
			eachWay(t, []way{{Epoll, true, HTTP1}}, func(t *testing.T, w way) {
				if !w.tls || w.engine == Portable || w.protocol != HTTP1 {
					return
				}
				s, err := Open(Options{Target: Target{Addr: l.Addr().String(), TLS: &tls.Config{InsecureSkipVerify: true}}, Engine: w.engine, Timeout: 200 * time.Millisecond, Connections: 2, Requests: []Request{{Method: "GET"}}})
				assert.NoError(t, "open", err)
				defer s.Close()
				began := time.Now()
				r, err := s.Run(context.Background(), Leg{Ops: 2})
				assert.ErrorContains(t, "run", err, "no connection to")
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
				assert.Equal(t, "opened", r.Opened, 0)
				assert.Equal(t, r.FirstError+" has "+c.says, strings.Contains(r.FirstError, c.says), true)
				some{1, -1}.check(t, "class connect", r.Errors[ErrConnect])
			})
		})
	}
}

// Large bodies are sent and received over TLS in many records.
func TestLargeBodiesOverTLS(t *testing.T) {
	eachWay(t, []way{{Epoll, true, HTTP1}}, func(t *testing.T, w way) {
		if w.protocol != HTTP1 {
			t.Skip("the test server does not wait for windows: TestHTTP2OfTheStandardLibrary has large bodies")
		}
		body := make([]byte, 3<<20)
		s := serve(t, w, loadtest.Plain, loadtest.Options{Body: body})
		r, err := drive(t, w, s, Options{Connections: 2, Requests: []Request{{Method: "POST", Body: body}}}, Leg{Ops: 6})
		assert.NoError(t, "run", err)
		assert.Equal(t, "first error", r.FirstError, "")
		assert.Equal(t, "body out", r.BodyOut, int64(6*len(body)))
		assert.Equal(t, "body in", r.BodyIn, int64(6*len(body)))
		assert.Equal(t, "opened", r.Opened, 2)
	})
}

func TestHandshakeOptions(t *testing.T) {
	one := []Request{{Method: "GET"}}
	for want, o := range map[string]Options{
		`handshake "x"`:     {Handshake: "x"},
		"none in plain":     {Handshake: Full},
		"is for each reque": {Handshake: Resume, PerConn: 2, Target: Target{TLS: &tls.Config{}}},
	} {
		o.Target.Addr, o.Requests = "127.0.0.1:1", one
		_, err := Open(o)
		assert.ErrorContains(t, "open", err, want)
	}
}
