package load

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

func TestLegsShareConnections(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{Connections: 7, Threads: 3})
		defer session.Close()
		for i := range 3 {
			var marks []bool
			leg := Leg{Lead: 30, Ops: 100, Mark: func(begin bool) { marks = append(marks, begin) }}
			before := s.Requests()
			r, err := session.Run(context.Background(), leg)
			assert.NoError(t, "run", err)
			adds(t, session.s, leg, r, err != nil)
			assert.Equal(t, "requests", r.Requests, 100)
			assert.Slices(t, "marks", marks, []bool{true, false})
			// Where several send, the lead-in may end a few requests late.
			some{130, 130 + 6}.check(t, "requests at the server", s.Requests()-before)
			opened := int64(7)
			if i > 0 {
				opened = 0
			}
			assert.Equal(t, "opened", r.Opened, opened)
			assert.Equal(t, "reconnects", r.Reconnects, 0)
			if r.Wall <= 0 || r.CPU <= 0 || r.Concurrency <= 0 {
				t.Errorf("wall %v, CPU %v, concurrency %v", r.Wall, r.CPU, r.Concurrency)
			}
		}
		totals := session.Totals()
		assert.Equal(t, "sent in all", totals.Sent, s.Requests())
		assert.Equal(t, "opened in all", totals.Opened, s.Accepted())
		assert.Equal(t, "read in all", totals.BodyIn, 14*s.Requests())
	})
}

// Exactly Leg.Ops outcomes are measured, however the threads that count them take turns at the end of the lead-in.
func TestOutcomesBesideTheLead(t *testing.T) {
	const threads, rounds = 8, 2000
	leg := Leg{Lead: 30, Ops: 100}
	for range rounds {
		r := newRun(&settings{}, noEngine{}, leg)
		r.started.Store(1)
		var measured atomic.Int64
		var wg sync.WaitGroup
		for range threads {
			wg.Go(func() {
				for !r.isOver() {
					if r.countOutcome(1, false) {
						measured.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if measured.Load() != leg.Ops {
			t.Fatalf("%d outcomes are measured, want %d", measured.Load(), leg.Ops)
		}
	}
}

// A phase sends exactly Leg.Ops requests, even if several connections could send one more while the
// last ones are in flight.
func TestOpsAreTheMost(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		for _, leg := range []Leg{{Ops: 100}, {Ops: 3}, {Ops: 100, Think: time.Millisecond}} {
			s := serve(t, w, loadtest.Plain, loadtest.Options{})
			r, err := drive(t, w, s, Options{Connections: 20, Threads: 3}, leg)
			assert.NoError(t, "run", err)
			assert.Equal(t, "requests", r.Requests, leg.Ops)
			assert.Equal(t, "requests at the server", s.Requests(), leg.Ops)
		}
	})
}

func TestServerClosesBetweenLegs(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{})
		defer session.Close()
		_, err := session.Run(context.Background(), Leg{Ops: 20})
		assert.NoError(t, "first leg", err)
		s.Drop()
		time.Sleep(50 * time.Millisecond) // for the news to arrive
		r, err := session.Run(context.Background(), Leg{Ops: 20})
		assert.NoError(t, "second leg", err)
		assert.Equal(t, "reconnects", r.Reconnects, 4)
		assert.Equal(t, "errors", len(r.Errors), 0)
	})
}

func TestDuration(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		var ticks atomic.Int64
		var last Tick
		leg := Leg{LeadTime: 50 * time.Millisecond, Duration: 1100 * time.Millisecond, Tick: func(tick Tick) { ticks.Add(1); last = tick }}
		r, err := drive(t, w, serve(t, w, loadtest.Slow, loadtest.Options{Pause: 5 * time.Millisecond}), Options{}, leg)
		assert.NoError(t, "run", err)
		assert.Equal(t, "wall", r.Wall, leg.Duration)
		assert.Equal(t, "seconds", len(r.Timeline), 1)
		assert.Equal(t, "ticks", ticks.Load(), 1)
		sec := r.Timeline[0]
		if sec.Requests == 0 || sec.Requests > r.Requests || sec.At != 0 || sec.P50 < 5*time.Millisecond || sec.P99 < sec.P50 {
			t.Errorf("%+v of %d requests", sec, r.Requests)
		}
		so := last.SoFar
		if so.Wall != time.Second || so.Requests < sec.Requests || so.Requests > r.Requests || so.Latency.Count() != so.Requests || len(so.Timeline) != 1 || so.CPU < 0 {
			t.Errorf("after a second there were %d requests in %v, at the end %d", so.Requests, so.Wall, r.Requests)
		}
		var binned int64
		for _, b := range sec.Bins {
			binned += b.Count
		}
		assert.Equal(t, "latencies of the second", binned, sec.Requests)
		// Little's law holds by two accounts that know nothing of each other.
		little := r.Service.Mean() / 1e9 * float64(r.Requests) / r.Wall.Seconds()
		assert.Near(t, "under way", r.Concurrency, little, 1)
	})
}

func TestThink(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		leg := Leg{Duration: 200 * time.Millisecond, Think: 50 * time.Millisecond}
		r, err := drive(t, w, s, Options{}, leg)
		assert.NoError(t, "run", err)
		some{4, 4 * 5}.check(t, "requests", r.Requests) // 4 connections, one each 50 ms at most
	})
}

func TestPerConn(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		r, err := drive(t, w, s, Options{PerConn: 3}, Leg{Ops: 60})
		assert.NoError(t, "run", err)
		assert.Equal(t, "errors", len(r.Errors), 0)
		some{20, 24}.check(t, "opened", r.Opened)
		some{16, 20}.check(t, "reconnects", r.Reconnects)
	})
}

func TestBodiesAndTurns(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		requests := []Request{
			{Method: "POST", Path: "/a", Body: make([]byte, 1000)}, {Method: "GET", Path: "/b"},
			{Method: "PUT", Path: "/c", Body: make([]byte, 500_000)}, {Method: "GET", Path: "/d"},
		}
		session := openTo(t, w, s, Options{Requests: requests, Connections: 1})
		defer session.Close()
		r, err := session.Run(context.Background(), Leg{Ops: 40})
		assert.NoError(t, "run", err)
		assert.Equal(t, "body bytes", r.BodyOut, 10*501_000)
		assert.Equal(t, "body bytes at the server", s.BodyBytes(), r.BodyOut)
		assert.Equal(t, "body bytes in all", session.Totals().Body, r.BodyOut)
		if r.BytesOut <= r.BodyOut || r.BytesOut > r.BodyOut+40*200 {
			t.Errorf("%d bytes out, %d of bodies", r.BytesOut, r.BodyOut)
		}
	})
}

func TestVerifyAndAccept(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		var seen atomic.Int64
		want := strings.Repeat("x", 100_000)
		if w.protocol == GRPC { // a refusal has no message
			want = ""
		}
		o := Options{
			Connections: 1, Sample: 10, Requests: []Request{{Method: "GET"}, {Method: "GET", Path: "/2"}},
			Verify: func(request, status int, body []byte) error {
				seen.Add(1)
				if request != 0 || status != 404 || string(body) != want {
					t.Errorf("request %d, status %d, %d bytes", request, status, len(body))
				}
				return errors.New("not what was expected")
			},
			Accept: func(status int) bool { return status == 404 },
		}
		r, err := drive(t, w, serve(t, w, loadtest.Status, loadtest.Options{Body: []byte(strings.Repeat("x", 100_000))}), o, Leg{Ops: 50})
		assert.NoError(t, "run", err)
		assert.Equal(t, "verified", seen.Load(), 5)
		assert.Equal(t, "class answer", r.Errors[ErrAnswer], 5)
		assert.Equal(t, "class status", r.Errors[ErrStatus], 0)
		assert.Equal(t, "first error", r.FirstError, "answer: not what was expected")
	})
}

func TestCancel(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		for _, b := range []loadtest.Behaviour{loadtest.Plain, loadtest.Stall, loadtest.Refuse} {
			for _, leg := range []Leg{{Duration: time.Minute}, {Duration: time.Minute, Profile: Constant{PerSecond: 100}}, {Duration: time.Minute, Think: time.Minute}} {
				s := serve(t, w, b, loadtest.Options{})
				session := openTo(t, w, s, Options{Timeout: time.Minute})
				ctx, cancel := context.WithTimeout(context.Background(), 25*time.Millisecond)
				if b == loadtest.Plain {
					ctx, cancel = context.WithCancel(context.Background())
					go func() {
						for s.Requests() < 10 && leg.Think == 0 || s.Requests() < 4 { // more than are under way at a time
							time.Sleep(time.Millisecond)
						}
						if leg.Think > 0 {
							time.Sleep(20 * time.Millisecond) // for the answers to be read
						}
						cancel()
					}()
				}
				r, err := session.Run(ctx, leg)
				cancel()
				assert.ErrorIs(t, string(b), err, ctx.Err())
				if b == loadtest.Plain && leg.Think == 0 && r.Requests == 0 {
					t.Errorf("nothing is left of what was measured: %+v", r)
				}
				adds(t, session.s, leg, r, err != nil)
				if b == loadtest.Plain { // the session is as good as new
					r, err = session.Run(context.Background(), Leg{Ops: 10})
					assert.NoError(t, "next leg", err)
					assert.Equal(t, "requests", r.Requests, 10)
				}
				session.Close()
				s.Close()
			}
		}
	})
}

func TestClose(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Stall, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{Timeout: time.Minute})
		done := make(chan error)
		go func() {
			_, err := session.Run(context.Background(), Leg{Ops: 5})
			done <- err
		}()
		for s.Requests() == 0 {
			time.Sleep(time.Millisecond)
		}
		session.Close()
		assert.ErrorIs(t, "run", <-done, context.Canceled)
		session.Close()
		_, err := session.Run(context.Background(), Leg{Ops: 5})
		assert.ErrorContains(t, "run", err, "the session is closed")
	})
}

func TestRefused(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r, err := drive(t, w, serve(t, w, loadtest.Refuse, loadtest.Options{}), Options{Timeout: 120 * time.Millisecond}, Leg{Ops: 10})
		assert.ErrorContains(t, "run", err, "for 120ms: connect: ")
		assert.ErrorContains(t, "run", err, "no connection to 127.0.0.1:")
		assert.Equal(t, "sent", r.Sent, 0)
		some{4, -1}.check(t, "class connect", r.Errors[ErrConnect])
	})
}

// A handshake is a part of connecting.
func TestUntrusted(t *testing.T) {
	s := serve(t, way{Portable, true, HTTP1}, loadtest.Plain, loadtest.Options{})
	defer s.Close()
	session, err := Open(Options{Target: Target{Addr: s.Addr(), TLS: &tls.Config{}}, Requests: []Request{{Method: "GET"}}, Connections: 1, Timeout: 400 * time.Millisecond})
	assert.NoError(t, "open", err)
	defer session.Close()
	r, err := session.Run(context.Background(), Leg{Ops: 10})
	assert.ErrorContains(t, "run", err, "certificate")
	assert.Equal(t, "opened", r.Opened, 0)
	some{1, -1}.check(t, "class connect", r.Errors[ErrConnect])
}

func TestServerDies(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{Timeout: 300 * time.Millisecond})
		defer session.Close()
		var once sync.Once
		var dead sync.WaitGroup
		leg := Leg{Lead: 40, Ops: 1e9, Mark: func(bool) { once.Do(func() { dead.Go(s.Close) }) }}
		r, err := session.Run(context.Background(), leg)
		dead.Wait()
		assert.ErrorContains(t, "run", err, "no connection to")
		adds(t, session.s, leg, r, true)
		some{1, -1}.check(t, "class connect", r.Errors[ErrConnect])
	})
}

// The session waits for a server that starts to listen late.
func TestLateServer(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NoError(t, "listen", err)
		addr := l.Addr().String()
		l.Close()
		session, err := Open(Options{Target: Target{Addr: addr}, Requests: []Request{{Method: "GET"}}, Connections: 2, Engine: w.engine})
		assert.NoError(t, "open", err)
		defer session.Close()
		listening := make(chan net.Listener, 1)
		go func() {
			time.Sleep(120 * time.Millisecond)
			l, err := net.Listen("tcp", addr)
			if listening <- l; err != nil {
				session.Close() // the port was taken by somebody else
				return
			}
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					respond(c)
				}()
			}
		}()
		r, err := session.Run(context.Background(), Leg{Ops: 10})
		if l := <-listening; l == nil {
			t.Skip("the port was taken by somebody else")
		} else {
			defer l.Close()
		}
		assert.NoError(t, "run", err)
		assert.Equal(t, "requests", r.Requests, 10)
		assert.Equal(t, "opened", r.Opened, 2)
		some{2, -1}.check(t, "class connect", r.Errors[ErrConnect])
		assert.Equal(t, "reconnects", r.Reconnects, 0)
	})
}

// respond sends a response for whatever arrives on c.
func respond(c net.Conn) {
	b := make([]byte, 64<<10)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
		if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
	}
}
