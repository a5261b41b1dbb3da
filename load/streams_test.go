package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
	"github.com/tarebench/tare/load/loadtest"
)

// crowd is a handler that counts the requests in flight.
type crowd struct{ now, most atomic.Int64 }

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	_, _ = io.Copy(io.Discard, r.Body)
	time.Sleep(2 * time.Millisecond)
	_, _ = io.WriteString(w, strings.Repeat("x", 20_000))
}

// Streams of a connection are used concurrently, with bodies and responses interleaved, up to the
// number that the server allows.
func TestStreams(t *testing.T) {
	for _, engine := range loops(t) {
		t.Run(string(engine), func(t *testing.T) { streams(t, engine) })
	}
}

func streams(t *testing.T, engine Engine) {
	for _, c := range []struct {
		streams, allowed int
		most             some
	}{{16, 250, some{9, 32}}, {16, 4, some{5, 8}}, {3, 1, some{2, 2}}} {
		t.Run(fmt.Sprintf("%d of %d", c.streams, c.allowed), func(t *testing.T) {
			h := &crowd{}
			server := standard(h)
			server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: c.allowed}
			o := Options{
				Target: Target{Addr: listening(t, server)}, Engine: engine, Protocol: H2C, Connections: 2, Streams: c.streams, Threads: 1,
				Requests: []Request{{Method: "GET"}, {Method: "POST", Body: make([]byte, 30_000)}},
				Sample:   1, Verify: func(_, _ int, body []byte) error {
					if len(body) != 20_000 {
						return fmt.Errorf("%d bytes", len(body))
					}
					return nil
				},
			}
			for _, leg := range []Leg{{Ops: 400}, {Duration: 300 * time.Millisecond, Profile: Constant{PerSecond: 500}}} {
				s, err := Open(o)
				assert.NoError(t, "open", err)
				for range 2 { // connections are kept between legs
					r, err := s.Run(context.Background(), leg)
					assert.NoError(t, "run", err)
					adds(t, s.s, leg, r, false)
					assert.Equal(t, "first error", r.FirstError, "")
					assert.Equal(t, "streams", r.Streams, c.streams)
				}
				assert.Equal(t, "opened", s.Totals().Opened, 2)
				s.Close()
			}
			c.most.check(t, "at a time", h.most.Load())
		})
	}
}

// loops returns the available engines of threads; with -short only the first.
func loops(t *testing.T) (out []Engine) {
	t.Helper()
	for _, kind := range []Engine{Epoll} {
		if _, err := opened(t, kind); err != nil {
			t.Logf("without engine %s: %v", kind, err)
			continue
		}
		if out = append(out, kind); testing.Short() {
			break
		}
	}
	if len(out) == 0 {
		t.Skip("there are no engines of threads here")
	}
	return out
}

// opened reports whether an engine is available.
func opened(t *testing.T, kind Engine) (bool, error) {
	t.Helper()
	s, err := newSettings(Options{Target: Target{Addr: "127.0.0.1:1"}, Requests: []Request{{Method: "GET"}}, Engine: kind})
	assert.NoError(t, "options", err)
	e, err := newEngine(s)
	if err != nil {
		return false, err
	}
	e.close()
	return true, nil
}

func TestStreamsOverTLS(t *testing.T) {
	for _, engine := range loops(t) {
		for _, p := range []Protocol{H2C, GRPC} {
			w := way{engine, true, p}
			s := serve(t, w, loadtest.Plain, loadtest.Options{})
			r, err := drive(t, w, s, Options{Connections: 3, Streams: 5}, Leg{Ops: 300})
			assert.NoError(t, w.String(), err)
			assert.Equal(t, "first error", r.FirstError, "")
			assert.Equal(t, "requests", r.Requests, 300)
			assert.Equal(t, "opened", r.Opened, 3)
			assert.Equal(t, "handshakes", r.Handshake.Count(), 3)
		}
	}
}

// An error of one stream affects only that stream; an error of the connection affects all of its
// streams.
func TestHostileStreams(t *testing.T) {
	for _, engine := range loops(t) {
		t.Run(string(engine), func(t *testing.T) { hostileStreams(t, engine) })
	}
}

func hostileStreams(t *testing.T, engine Engine) {
	answer := func(p *peer, stream uint32) string {
		p.stream = stream
		return p.fine()
	}
	for name, c := range map[string]struct {
		treat func(p *peer, stream uint32, n int) // each request, the nth of its connection
		leg   Leg
		want  map[Class]some
		good  some
	}{
		"every third is reset": {func(p *peer, stream uint32, n int) {
			if n%3 == 0 {
				p.say(string(h2.AppendReset(nil, stream, h2.Cancel)))
				return
			}
			p.say(answer(p, stream))
		}, Leg{Ops: 90}, map[Class]some{ErrReset: {20, 40}}, some{50, 70}},
		"every third is never answered": {func(p *peer, stream uint32, n int) {
			if n%3 != 0 {
				p.say(answer(p, stream))
			}
		}, Leg{Ops: 30}, map[Class]some{ErrTimeout: {2, 38}}, some{2, 29}},
		"every third is garbled": {func(p *peer, stream uint32, n int) {
			if n%3 == 0 {
				p.say(rawFrame(h2.Data, 0, stream, "before its head"))
				return
			}
			p.say(answer(p, stream))
		}, Leg{Ops: 60}, map[Class]some{ErrFraming: {2, 60}}, some{2, 59}},
		"never anything": {func(*peer, uint32, int) {}, Leg{Ops: 16}, map[Class]some{ErrTimeout: {16, 24}}, exactly(0)},
		"goes away at once": {func(p *peer, stream uint32, n int) {
			if n == 1 {
				p.say(string(h2.AppendGoAway(nil, stream, h2.NoError)), answer(p, stream))
			}
		}, Leg{Ops: 40}, nil, exactly(40)},
		"garbage for all": {func(p *peer, stream uint32, n int) {
			p.say("HTTP/1.1 400 Bad Request\r\n\r\n" + strings.Repeat("\xff", 100))
		}, Leg{Ops: 40}, map[Class]some{ErrFraming: {1, 48}, ErrReset: {0, 48}}, exactly(0)},
		"pings without end": {func(p *peer, _ uint32, _ int) {
			go func() { _, _ = io.Copy(io.Discard, p.r) }()
			for pings := strings.Repeat(rawFrame(h2.Ping, 0, 0, "12345678"), 500); ; {
				if _, err := io.WriteString(p, pings); err != nil {
					return
				}
			}
		}, Leg{Ops: 8}, map[Class]some{ErrFraming: {0, 16}, ErrTimeout: {0, 16}, ErrReset: {0, 16}}, exactly(0)},
	} {
		t.Run(name, func(t *testing.T) {
			addr := hostile(t, func(p *peer) {
				p.say(says())
				for n := 1; p.asked(); n++ {
					c.treat(p, p.stream, n)
				}
			})
			timeout := time.Minute
			if _, late := c.want[ErrTimeout]; late {
				timeout = 300 * time.Millisecond
			}
			s, err := Open(Options{Target: Target{Addr: addr}, Engine: engine, Protocol: H2C, Connections: 2, Streams: 4, Timeout: timeout, Requests: []Request{{Method: "GET"}}})
			assert.NoError(t, "open", err)
			defer s.Close()
			r, err := s.Run(context.Background(), c.leg)
			madeInTime(t, err)
			adds(t, s.s, c.leg, r, false)
			c.good.check(t, "requests", r.Requests)
			for class, n := range r.Errors {
				if _, known := c.want[class]; !known && class != ErrConnect && class != ErrTimeout {
					t.Errorf("class %s: %d (%s)", class, n, r.FirstError)
				}
			}
			for class, want := range c.want {
				want.check(t, "class "+string(class), r.Errors[class])
			}
		})
	}
}

// A server with endless responses does not keep a thread from its other connections, or a phase
// from its end.
func TestEndlessAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers without an end")
	}
	for _, engine := range loops(t) {
		t.Run(string(engine), func(t *testing.T) { endlessAnswers(t, engine) })
	}
}

func endlessAnswers(t *testing.T, engine Engine) {
	for _, p := range []Protocol{HTTP1, H2C} {
		var n atomic.Int64
		addr := listening(t, standard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%2 == 0 {
				return
			}
			for b := make([]byte, 64<<10); ; {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		})))
		s, err := Open(Options{Target: Target{Addr: addr}, Engine: engine, Protocol: p, Connections: 4, Threads: 1, Timeout: 300 * time.Millisecond, Requests: []Request{{Method: "GET"}}})
		assert.NoError(t, "open", err)
		r, err := s.Run(context.Background(), Leg{Duration: 700 * time.Millisecond})
		s.Close()
		assert.NoError(t, "run", err)
		some{1, -1}.check(t, string(p)+": timeouts", r.Errors[ErrTimeout])
		some{1, -1}.check(t, string(p)+": answers", r.Requests)
	}
}

func TestStreamOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"HTTP/1.1 has one":        {Streams: 2},
		"engine portable has one": {Streams: 2, Protocol: H2C, Engine: Portable},
		"1 to 1000":               {Streams: 1001, Protocol: H2C},
		"at most 100000":          {Streams: 1000, Protocol: H2C, Connections: 101, Target: Target{TLS: &tls.Config{}}},
	} {
		o.Target.Addr, o.Requests = "127.0.0.1:1", []Request{{Method: "GET"}}
		_, err := Open(o)
		assert.ErrorContains(t, "open", err, want)
	}
}
