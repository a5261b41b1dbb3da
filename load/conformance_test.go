package load

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

// way is an engine with a protocol, as the conformance suite runs it.
type way struct {
	engine   Engine
	tls      bool
	protocol Protocol
}

func (w way) String() string {
	name := string(w.engine)
	if w.protocol != HTTP1 {
		name += "+" + string(w.protocol)
	}
	if w.tls {
		name += "+tls"
	}
	return name
}

// raw reports whether a test that needs HTTP/1.1 in plain text can run this way.
func (w way) raw() bool { return !w.tls && w.protocol == HTTP1 }

// ways returns all ways. Those that fewer tests use come last.
func ways() []way {
	return []way{
		{Epoll, false, HTTP1}, {Epoll, true, HTTP1}, {Portable, false, HTTP1}, {Portable, true, HTTP1}, {Portable, false, H2C}, {Epoll, false, H2C},
		{Epoll, false, GRPC}, {Portable, false, GRPC}, {Epoll, true, H2C}, {Portable, true, H2C},
	}
}

// everyWay runs a test with each available engine and each protocol. It requires that no goroutine,
// descriptor or connection is left afterwards.
func everyWay(t *testing.T, test func(t *testing.T, w way)) {
	eachWay(t, ways()[:6], test)
}

// eachWay is everyWay for the ways of list. If TARE_SOAK is set it takes all ways instead; with
// -short only some of list, in which each engine and each protocol occurs.
func eachWay(t *testing.T, list []way, test func(t *testing.T, w way)) {
	switch {
	case os.Getenv("TARE_SOAK") != "":
		list = ways()
	case testing.Short():
		few := []way{{Epoll, false, HTTP1}, {Epoll, true, HTTP1}, {Portable, false, HTTP1}, {Portable, false, H2C}, {Epoll, false, GRPC}}
		list = slices.DeleteFunc(slices.Clone(list), func(w way) bool { return !slices.Contains(few, w) })
	}
	for _, w := range list {
		t.Run(w.String(), func(t *testing.T) {
			if _, err := opened(t, w.engine); err != nil {
				t.Skip(err)
			}
			routines, files := runtime.NumGoroutine(), descriptors()
			test(t, w)
			deadline := time.Now().Add(5 * time.Second)
			for runtime.NumGoroutine() > routines || descriptors() > files {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines and %d descriptors before, %d and %d after", routines, files, runtime.NumGoroutine(), descriptors())
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// descriptors returns the number of this process's open files, or 0 if it is unknown.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// serve starts a server for one test.
func serve(t *testing.T, w way, b loadtest.Behaviour, o loadtest.Options) *loadtest.Server {
	t.Helper()
	o.TLS, o.HTTP2, o.GRPC = w.tls, w.protocol != HTTP1, w.protocol == GRPC
	s, err := loadtest.Start(b, o)
	assert.NoError(t, "server", err)
	return s
}

// drive opens a session to a server, runs one phase and closes both.
func drive(t *testing.T, w way, s *loadtest.Server, o Options, leg Leg) (*Result, error) {
	t.Helper()
	defer s.Close()
	session := openTo(t, w, s, o)
	defer session.Close()
	r, err := session.Run(context.Background(), leg)
	if r != nil {
		adds(t, session.s, leg, r, err != nil)
	}
	return r, err
}

func openTo(t *testing.T, w way, s *loadtest.Server, o Options) *Session {
	t.Helper()
	o.Target, o.Engine, o.Protocol = Target{Addr: s.Addr(), TLS: s.Client()}, w.engine, w.protocol
	if o.Requests == nil {
		o.Requests = []Request{{Method: "GET", Path: "/"}}
	}
	if o.Connections == 0 {
		o.Connections = 4
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	session, err := Open(o)
	assert.NoError(t, "open", err)
	return session
}

// adds checks the sums that must hold in every result.
func adds(t *testing.T, s *settings, leg Leg, r *Result, interrupted bool) {
	t.Helper()
	lost := r.Errors[ErrReset] + r.Errors[ErrTimeout] + r.Errors[ErrFraming] - r.Unasked
	assert.Equal(t, "sent", r.Sent, r.Requests+lost)
	whole := int64(0)
	for status, n := range r.Statuses {
		if whole += n; status < 200 {
			t.Errorf("status %d is no answer", status)
		}
	}
	assert.Equal(t, "statuses", whole, r.Requests)
	assert.Equal(t, "latencies", r.Latency.Count(), r.Requests+r.Errors[ErrTimeout])
	assert.Equal(t, "service times", r.Service.Count(), r.Requests+r.Errors[ErrTimeout])
	assert.Equal(t, "connects", r.Connect.Count(), r.Opened)
	for class, n := range r.Errors {
		if n <= 0 || r.FirstError == "" {
			t.Errorf("class %s: %d, first error %q", class, n, r.FirstError)
		}
	}
	if n := r.FirstByte.Count(); n < r.Requests || n > r.Latency.Count() || r.FirstByte.Max() > r.Service.Max() {
		t.Errorf("%d first bytes of %d answers, the last after %d ns of %d", n, r.Requests, r.FirstByte.Max(), r.Service.Max())
	}
	// What is measured by number ends a moment after the request that ended
	// it.
	if most := float64(s.Connections*s.Streams) * 1.05; r.Concurrency < 0 || r.Concurrency > most && (r.Wall > 50*time.Millisecond || leg.Duration > 0 && !interrupted) {
		t.Errorf("%v requests under way on %d connections", r.Concurrency, s.Connections)
	}
	if leg.Profile == nil {
		assert.Equal(t, "asked", r.Asked, 0)
		assert.Equal(t, "late", r.Late, 0)
		assert.Equal(t, "send lags", r.SendLag.Count(), 0)
		return
	}
	assert.Equal(t, "send lags", r.SendLag.Count(), r.Sent)
	if asked := r.Asked * r.Wall.Seconds(); !interrupted {
		assert.Near(t, "asked", asked, float64(r.Sent+r.Late), 1e-6)
	} else if given := asked - float64(r.Sent+r.Late); given < -1e-6 || given > float64(s.Connections*s.Streams)+1e-6 {
		t.Errorf("%v asked, %d sent, %d late: on %d connections no more can have been given up", asked, r.Sent, r.Late, s.Connections)
	}
	if r.Latency.Min() < r.Service.Min() {
		t.Errorf("a latency of %d ns, service takes %d", r.Latency.Min(), r.Service.Min())
	}
}

// some is an expected range: at least from and, unless to is negative, at most to.
type some struct{ from, to int64 }

func exactly(n int64) some { return some{n, n} }

func (s some) check(t *testing.T, what string, n int64) {
	t.Helper()
	if n < s.from || s.to >= 0 && n > s.to {
		t.Errorf("%s: %d, want %d to %d", what, n, s.from, s.to)
	}
}

// All engines must report the same for each behaviour of the server: 20 requests over 4 connections
// in a closed loop. A request that fails after the 20th outcome is counted, too, so up to 3 more
// may be lost.
func TestConformance(t *testing.T) {
	const ops, few, conns = 20, 4, 4
	lost, late := some{ops, ops + conns - 1}, some{few, few + conns - 1}
	for _, c := range []struct {
		behaviour loadtest.Behaviour
		server    loadtest.Options
		method    string // GET
		requests  some   // exactly(ops)
		statuses  map[int]bool
		errors    map[Class]some
		opened    some // exactly(conns)
		timeout   bool // of 100 ms, and few requests
		check     func(t *testing.T, w way, r *Result)
	}{
		{behaviour: loadtest.Plain, check: func(t *testing.T, w way, r *Result) {
			assert.Equal(t, "body", r.BodyIn, ops*14)
			if w.protocol == HTTP1 {
				assert.Equal(t, "bytes in", r.BytesIn, ops*int64(len("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n")))
			}
			assert.Equal(t, "body out", r.BodyOut, 0)
		}},
		{behaviour: loadtest.Plain, method: "HEAD", check: func(t *testing.T, w way, r *Result) { assert.Equal(t, "body", r.BodyIn, 0) }},
		{behaviour: loadtest.Chunked, method: "HEAD"},
		{behaviour: loadtest.Split, check: func(t *testing.T, w way, r *Result) {
			if first, all := r.FirstByte.Min(), r.Service.Min(); all < int64(4*time.Millisecond) || first > all {
				t.Errorf("first byte after %d ns, all of it after %d, with pauses of 4 ms", first, all)
			}
		}},
		{behaviour: loadtest.Split, server: loadtest.Options{Body: make([]byte, 300<<10)}, check: func(t *testing.T, w way, r *Result) {
			assert.Equal(t, "body", r.BodyIn, ops*300<<10)
		}},
		{behaviour: loadtest.Bytes},
		{behaviour: loadtest.Coalesced},
		{behaviour: loadtest.Chunked, check: func(t *testing.T, w way, r *Result) { assert.Equal(t, "body", r.BodyIn, ops*14) }},
		{behaviour: loadtest.Chunked, server: loadtest.Options{Body: make([]byte, 10<<10)}},
		{behaviour: loadtest.Interim},
		{behaviour: loadtest.NoContent, statuses: map[int]bool{204: true}},
		{behaviour: loadtest.NotModified, statuses: map[int]bool{304: true}},
		{behaviour: loadtest.BigHead},
		{behaviour: loadtest.UntilClose, opened: some{ops, ops + 2*conns}, check: func(t *testing.T, w way, r *Result) {
			assert.Equal(t, "body", r.BodyIn, ops*14)
			some{ops - conns, -1}.check(t, "reconnects", r.Reconnects)
		}},
		{behaviour: loadtest.Announced, server: loadtest.Options{After: 5}, opened: some{ops / 5, ops/5 + 2*conns}},
		{behaviour: loadtest.Status, statuses: map[int]bool{404: true}, errors: map[Class]some{ErrStatus: exactly(ops)}},
		{behaviour: loadtest.Status, server: loadtest.Options{Code: 301}, statuses: map[int]bool{301: true}},
		{behaviour: loadtest.Unannounced, server: loadtest.Options{After: 5}, requests: some{1, ops},
			errors: map[Class]some{ErrReset: {0, ops}}, opened: some{ops / 6, -1}},
		{behaviour: loadtest.HangUp, requests: exactly(0), errors: map[Class]some{ErrReset: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.CloseMidway, requests: exactly(0), errors: map[Class]some{ErrReset: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.Reset, requests: exactly(0), errors: map[Class]some{ErrReset: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.ResetFirst, requests: exactly(0), errors: map[Class]some{ErrReset: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.ShortLength, requests: exactly(0), errors: map[Class]some{ErrFraming: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.TwoLengths, requests: exactly(0), errors: map[Class]some{ErrFraming: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.Garbage, requests: exactly(0), errors: map[Class]some{ErrFraming: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.Twice, requests: exactly(0), errors: map[Class]some{ErrFraming: lost}, opened: some{ops, -1}},
		{behaviour: loadtest.LongLength, timeout: true, requests: exactly(0), errors: map[Class]some{ErrTimeout: late}, opened: some{few, -1}, check: tookTheTimeout},
		{behaviour: loadtest.Stall, timeout: true, requests: exactly(0), errors: map[Class]some{ErrTimeout: late}, opened: some{few, -1}, check: tookTheTimeout},
		{behaviour: loadtest.SlowBytes, server: loadtest.Options{Pause: 20 * time.Millisecond}, timeout: true, requests: exactly(0),
			errors: map[Class]some{ErrTimeout: late}, opened: some{few, -1}, check: tookTheTimeout},
	} {
		t.Run(string(c.behaviour)+c.method, func(t *testing.T) {
			eachWay(t, ways()[:9], func(t *testing.T, w way) {
				switch {
				case w.tls && c.behaviour == loadtest.HangUp:
					t.Skip("then there is no connection")
				case w.protocol != HTTP1 && c.behaviour == loadtest.UntilClose, w.protocol == GRPC && c.method == "HEAD":
					t.Skip("the protocol has no such thing")
				}
				if c.method == "" {
					c.method = "GET"
				}
				o, leg := Options{Connections: conns, Requests: []Request{{Method: c.method, Path: "/x"}}}, Leg{Ops: ops}
				if c.timeout {
					// It bounds connecting, too, which may take long on a busy
					// machine.
					o.Timeout, leg.Ops, c.errors[ErrConnect] = 100*time.Millisecond, few, some{0, -1}
				}
				r, err := drive(t, w, serve(t, w, c.behaviour, c.server), o, leg)
				madeInTime(t, err)
				if c.requests == (some{}) && c.errors[ErrReset].from+c.errors[ErrFraming].from+c.errors[ErrTimeout].from == 0 {
					c.requests = exactly(ops)
				}
				c.requests.check(t, "requests", r.Requests)
				for _, class := range Classes() {
					c.errors[class].check(t, "class "+string(class), r.Errors[class])
				}
				if c.opened == (some{}) {
					c.opened = exactly(conns)
				}
				c.opened.check(t, "opened", r.Opened)
				if c.statuses == nil {
					c.statuses = map[int]bool{200: true}
				}
				for status := range r.Statuses {
					if !c.statuses[status] {
						t.Errorf("%d of status %d", r.Statuses[status], status)
					}
				}
				assert.Equal(t, "engine", r.Engine, w.engine)
				assert.Equal(t, "connections", r.Connections, conns)
				if c.check != nil {
					c.check(t, w, r)
				}
				if t.Failed() {
					t.Logf("%s: %s", fmt.Sprint(r.Errors), r.FirstError)
				}
			})
		})
	}
}

// madeInTime skips a test with a short timeout if the machine is so busy that connections are not
// even opened within the timeout.
func madeInTime(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.HasPrefix(err.Error(), "no connection to") {
		t.Skip(err)
	}
	assert.NoError(t, "run", err)
}

// tookTheTimeout requires that every latency is at least the timeout.
func tookTheTimeout(t *testing.T, _ way, r *Result) {
	if got := r.Latency.Min(); got < int64(100*time.Millisecond) {
		t.Errorf("a timeout entered at %v", time.Duration(got))
	}
}
