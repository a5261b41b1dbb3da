package load

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/loadtest"
)

func TestOpenLoop(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		for _, leg := range []Leg{
			{Profile: Constant{PerSecond: 1000}, Lead: 20, Duration: 100 * time.Millisecond},
			{Profile: Constant{PerSecond: 1000}, LeadTime: 20 * time.Millisecond, Duration: 100 * time.Millisecond},
		} {
			s := serve(t, w, loadtest.Plain, loadtest.Options{})
			var marks []bool
			leg.Mark = func(begin bool) { marks = append(marks, begin) }
			r, err := drive(t, w, s, Options{Connections: 40, Threads: 2}, leg)
			assert.NoError(t, "run", err)
			assert.Slices(t, "marks", marks, []bool{true, false})
			assert.Equal(t, "wall", r.Wall, leg.Duration)
			assert.Near(t, "asked", r.Asked, 1000, 1e-9)
			assert.Equal(t, "sent and late", r.Sent+r.Late, 100)
			assert.Equal(t, "answered", r.Requests, r.Sent)
			some{1, 100}.check(t, "sent", r.Sent) // late ones only where this process was not let run
			some{r.Sent, r.Sent + 20}.check(t, "at the server", s.Requests())
		}
	})
}

// A server that can respond to 2 × 20 requests per second gets 200.
func TestOpenLoopOverload(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		s := serve(t, w, loadtest.Slow, loadtest.Options{Pause: 50 * time.Millisecond})
		leg := Leg{Profile: Constant{PerSecond: 200}, Duration: 300 * time.Millisecond}
		r, err := drive(t, w, s, Options{Connections: 2}, leg)
		assert.NoError(t, "run", err)
		some{2, 14}.check(t, "sent", r.Sent)
		assert.Equal(t, "sent and late", r.Sent+r.Late, 60)
		if r.Sent > 8 && (r.Latency.Max() < int64(100*time.Millisecond) || r.SendLag.Max() < int64(50*time.Millisecond)) {
			t.Errorf("longest latency %v, longest lag %v", time.Duration(r.Latency.Max()), time.Duration(r.SendLag.Max()))
		}
	})
}

// While the server does not respond, all connections wait, and requests wait for connections.
func TestOpenLoopStall(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		s := serve(t, w, loadtest.Stall, loadtest.Options{})
		leg := Leg{Profile: Constant{PerSecond: 100}, Duration: 300 * time.Millisecond}
		r, err := drive(t, w, s, Options{Connections: 4, Timeout: 100 * time.Millisecond}, leg)
		madeInTime(t, err)
		assert.Equal(t, "answered", r.Requests, 0)
		assert.Equal(t, "timeouts", r.Errors[ErrTimeout], r.Sent)
		assert.Equal(t, "sent and late", r.Sent+r.Late, 30)
		some{1, 17}.check(t, "sent", r.Sent)
		if got := r.Latency.Min(); got < int64(100*time.Millisecond) {
			t.Errorf("a timeout entered at %v", time.Duration(got))
		}
		if r.Latency.Max() <= r.Service.Max() {
			t.Errorf("the wait is not in the latencies: %v, service %v", time.Duration(r.Latency.Max()), time.Duration(r.Service.Max()))
		}
	})
}

// A server that stops responding in the middle of a closed loop does not seem to have got fewer
// requests.
func TestStallAtTheEnd(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Stall, loadtest.Options{})
		r, err := drive(t, w, s, Options{Connections: 3, Timeout: 150 * time.Millisecond}, Leg{Duration: 100 * time.Millisecond})
		madeInTime(t, err)
		assert.Equal(t, "wall", r.Wall, 100*time.Millisecond)
		some{1, 3}.check(t, "timeouts", r.Errors[ErrTimeout])
		assert.Equal(t, "timeouts", r.Errors[ErrTimeout], r.Sent)
	})
}

// Bytes that arrive without a request in flight are an error, but not of any request.
func TestUnasked(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NoError(t, "listen", err)
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					b := make([]byte, 1024)
					for {
						if _, err := c.Read(b); err != nil {
							return
						}
						for range 2 {
							if _, err := c.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n")); err != nil {
								return
							}
							time.Sleep(30 * time.Millisecond)
						}
					}
				}()
			}
		}()
		session, err := Open(Options{Target: Target{Addr: l.Addr().String()}, Requests: []Request{{Method: "GET"}}, Connections: 2, Engine: w.engine})
		assert.NoError(t, "open", err)
		defer session.Close()
		leg := Leg{Duration: 250 * time.Millisecond, Think: 100 * time.Millisecond}
		r, err := session.Run(context.Background(), leg)
		assert.NoError(t, "run", err)
		adds(t, session.s, leg, r, err != nil)
		some{2, -1}.check(t, "unasked", r.Unasked)
		assert.Equal(t, "class framing", r.Errors[ErrFraming], r.Unasked)
		assert.Equal(t, "requests", r.Requests, r.Sent)
	})
}

func TestNames(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		_, port, err := net.SplitHostPort(s.Addr())
		assert.NoError(t, "address", err)
		// A name may stand for more addresses than the server listens on.
		session, err := Open(Options{Target: Target{Addr: "localhost:" + port, TLS: s.Client()}, Requests: []Request{{Method: "GET"}}, Engine: w.engine, Protocol: w.protocol})
		assert.NoError(t, "open", err)
		defer session.Close()
		r, err := session.Run(context.Background(), Leg{Ops: 30})
		assert.NoError(t, "run", err)
		assert.Equal(t, "errors", len(r.Errors), 0)
		assert.Equal(t, "opened", r.Opened, 10)
	})
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	defer l.Close()
	go func() {
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
	everyWay(t, func(t *testing.T, w way) {
		if !w.raw() {
			t.Skip("as in plain HTTP/1.1")
		}
		session, err := Open(Options{Target: Target{Addr: l.Addr().String()}, Requests: []Request{{Method: "GET"}}, Engine: w.engine, Connections: 2})
		assert.NoError(t, "open", err)
		defer session.Close()
		r, err := session.Run(context.Background(), Leg{Ops: 30})
		assert.NoError(t, "run", err)
		assert.Equal(t, "requests", r.Requests, 30)
	})
}

func TestOptionsRefused(t *testing.T) {
	get := []Request{{Method: "GET"}}
	good := Target{Addr: "127.0.0.1:1"}
	for want, o := range map[string]Options{
		`target address "x" is not host:port`:  {Target: Target{Addr: "x"}, Requests: get},
		`target address "x:" is not host:port`: {Target: Target{Addr: "x:"}, Requests: get},
		`target host "a b" cannot be sent`:     {Target: Target{Addr: "x:1", Host: "a b"}, Requests: get},
		`target address "127.0.0.1:nonsense"`:  {Target: Target{Addr: "127.0.0.1:nonsense"}, Requests: get},
		"no requests":                          {Target: good},
		"request 0: method":                    {Target: good, Requests: []Request{{}}},
		"-1 connections":                       {Target: good, Requests: get, Connections: -1},
		"10001 connections: 1 to 10000":        {Target: good, Requests: get, Connections: 10001},
		"timeout -1s":                          {Target: good, Requests: get, Timeout: -time.Second},
		"-1 requests on one connection":        {Target: good, Requests: get, PerConn: -1},
		"-1 threads":                           {Target: good, Requests: get, Threads: -1},
		"one answer in -1":                     {Target: good, Requests: get, Sample: -1},
		`engine "steam"`:                       {Target: good, Requests: get, Engine: "steam"},
		"no processor -1":                      {Target: good, Requests: get, CPUs: []int{-1}},
	} {
		_, err := Open(o)
		assert.ErrorContains(t, want, err, want)
	}
	if _, err := Open(Options{Target: good, Requests: get, Engine: Epoll, CPUs: []int{maxCPU - 1}}); err == nil {
		t.Error("a processor that cannot be there was taken")
	}
}

func TestLegsRefused(t *testing.T) {
	session, err := Open(Options{Target: Target{Addr: "127.0.0.1:1"}, Requests: []Request{{Method: "GET"}}})
	assert.NoError(t, "open", err)
	defer session.Close()
	open := Constant{PerSecond: 1}
	for want, leg := range map[string]Leg{
		"neither a number of requests nor a duration": {},
		"an open loop takes a duration":               {Profile: open},
		"not a number of requests":                    {Profile: open, Ops: 1, Duration: 1},
		"an open loop has no think time":              {Profile: open, Think: 1, Duration: 1},
		"-1 requests for 0s":                          {Ops: -1},
		"0 requests for -1ns":                         {Duration: -1},
		"at most 1h":                                  {Duration: MaxDuration + 1},
		"lead-in of -1 requests":                      {Ops: 1, Lead: -1},
		"lead-in of 0 requests and -1ns":              {Ops: 1, LeadTime: -1},
		"think time -1ns":                             {Ops: 1, Think: -1},
	} {
		_, err := session.Run(context.Background(), leg)
		assert.ErrorContains(t, want, err, want)
	}
}

// Waiting threads leave a processor for the rest of the program.
func TestRoomBesideTheThreads(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if w.engine == Portable {
			t.Skip("the other engine has no threads of its own")
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		r, err := drive(t, w, s, Options{Threads: 2}, Leg{Ops: 100})
		assert.NoError(t, "run", err)
		assert.Equal(t, "requests", r.Requests, 100)
		assert.Equal(t, "GOMAXPROCS", runtime.GOMAXPROCS(0), 3)
	})
}

func TestPinned(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if w.engine == Portable {
			t.Skip("the other engine ties nothing")
		}
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		r, err := drive(t, w, s, Options{CPUs: []int{0}}, Leg{Ops: 100})
		assert.NoError(t, "run", err)
		assert.Equal(t, "threads", r.Threads, 1)
		assert.Equal(t, "requests", r.Requests, 100)
	})
}
