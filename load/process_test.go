package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// serving is the environment variable that makes this process a server.
const serving = "TARE_LOAD_TEST_SERVES"

// servingTLS is its value for a server of net/http over TLS.
const servingTLS = "tls"

// TestServes is the server for tests that need one in another process. It runs until its standard
// input ends.
func TestServes(t *testing.T) {
	if os.Getenv(serving) == "" {
		t.Skip("a server for other tests")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "listen", err)
	fmt.Fprintf(os.Stdout, "\nlistening on %s\n", l.Addr())
	go func() {
		switch os.Getenv(serving) {
		case string(H2C):
			_ = standard(http.HandlerFunc(greet)).Serve(l)
		case servingTLS:
			s := httptest.NewUnstartedServer(http.HandlerFunc(greet))
			s.Listener.Close()
			s.Listener, s.EnableHTTP2 = l, true
			s.StartTLS()
			return
		}
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go respond(c)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	l.Close()
}

// elsewhere starts the server in another process, which ends with the test. It speaks HTTP/1.1, or
// HTTP/2 by net/http.
func elsewhere(t testing.TB, p Protocol) (addr string, process *os.Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServes$")
	if p == HTTP1 {
		p = "http1"
	}
	cmd.Env = append(os.Environ(), serving+"="+string(p))
	in, err := cmd.StdinPipe()
	assert.NoError(t, "stdin", err)
	out, err := cmd.StdoutPipe()
	assert.NoError(t, "stdout", err)
	assert.NoError(t, "start", cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			return addr, cmd.Process
		}
	}
	t.Fatal("the server did not come up")
	return "", nil
}

func get(t testing.TB, addr string, e Engine, p Protocol, connections int) *Session {
	t.Helper()
	r := Request{Method: "GET", Path: "/"}
	if p != HTTP1 {
		r = Request{Method: "POST", Path: "/", Body: []byte("number 0000000000"), Fill: []Fill{{Body: true, At: 7, Width: 10, Counter: "n", Step: true}}}
	}
	s, err := Open(Options{Target: Target{Addr: addr}, Requests: []Request{r}, Engine: e, Protocol: p, Connections: connections})
	assert.NoError(t, "open", err)
	return s
}

// everyProtocol returns the ways of engines in plain text.
func everyProtocol(engines []Engine) (out []way) {
	for _, e := range engines {
		for _, p := range []Protocol{HTTP1, H2C, GRPC} {
			out = append(out, way{engine: e, protocol: p})
		}
	}
	return out
}

// In steady state a request allocates nothing: the allocations of a phase do not depend on its
// length. The portable engine checks connections that were idle for long, which costs one
// allocation.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	plain, _ := elsewhere(t, HTTP1)
	standard, _ := elsewhere(t, H2C)
	for _, w := range everyProtocol(append(loops(t), Portable)) {
		addr := plain
		if w.protocol != HTTP1 {
			addr = standard
		}
		for name, leg := range map[string]Leg{
			"closed": {Lead: 2000, Ops: 10000},
			"open":   {Lead: 2000, Duration: 300e6, Profile: Constant{PerSecond: 20000}},
		} {
			if testing.Short() && name == "open" && w.protocol != HTTP1 {
				continue
			}
			t.Run(w.String()+" "+name, func(t *testing.T) {
				if w.protocol != HTTP1 { // whose server takes its time
					leg.Ops = min(leg.Ops, 5000)
				}
				s := get(t, addr, w.engine, w.protocol, 20)
				defer s.Close()
				steady(t, s, leg)
			})
		}
	}
}

// Over TLS a request allocates only what crypto/tls does each time it looks for a record. The
// portable engine reads on a goroutine of crypto/tls.
func TestSteadyStateOverTLS(t *testing.T) {
	if raced {
		t.Skip("crypto/tls allocates more under the race detector")
	}
	const perLook = 1 // crypto/tls makes a reader for it
	addr, _ := elsewhere(t, servingTLS)
	for _, c := range []struct {
		p     Protocol
		looks float64 // for the records that hold an answer, and one that finds no other
	}{{HTTP1, 1 + 1}, {H2C, 3 + 1}} {
		for _, engine := range loops(t) {
			t.Run(string(engine)+" "+string(c.p), func(t *testing.T) {
				s, err := Open(Options{
					Engine:   engine,
					Target:   Target{Addr: addr, TLS: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // a test's own server
					Requests: []Request{{Method: "GET", Path: "/"}}, Protocol: c.p, Connections: 20,
				})
				assert.NoError(t, "open", err)
				defer s.Close()
				allocates(t, s, Leg{Lead: 500, Ops: 3000}, perLook*c.looks+0.1)
			})
		}
	}
}

// steady runs a phase and requires that its requests allocate nothing.
func steady(t *testing.T, s *Session, leg Leg) {
	t.Helper()
	most := 0.05 // a leg on a busy machine takes long, and allocates for itself as it goes
	if s.engine.name() == Portable {
		most = 0.1
	}
	allocates(t, s, leg, most)
}

// allocates runs a phase and requires fewer than most allocations per request.
func allocates(t *testing.T, s *Session, leg Leg, most float64) {
	t.Helper()
	var before, after runtime.MemStats
	leg.Mark = func(begin bool) {
		if begin {
			runtime.ReadMemStats(&before)
		} else {
			runtime.ReadMemStats(&after)
		}
	}
	r, err := s.Run(context.Background(), leg)
	assert.NoError(t, "run", err)
	assert.Equal(t, "first error", r.FirstError, "")
	if r.Requests < 2000 {
		t.Skipf("only %d requests on this machine today", r.Requests)
	}
	if per := float64(after.Mallocs-before.Mallocs) / float64(r.Requests); per >= most {
		t.Errorf("%s: %.4f allocations a request", s.engine.name(), per)
	}
}

func BenchmarkHTTP2(b *testing.B) {
	addr, _ := elsewhere(b, H2C)
	for _, w := range everyProtocol([]Engine{Epoll, Portable}) {
		if w.protocol == HTTP1 { // BenchmarkClosedLoop
			continue
		}
		b.Run(w.String(), func(b *testing.B) {
			s := get(b, addr, w.engine, w.protocol, 50)
			defer s.Close()
			b.ReportAllocs()
			r, err := s.Run(context.Background(), Leg{Lead: 500, Ops: int64(b.N)})
			assert.NoError(b, "run", err)
			b.ReportMetric(float64(r.CPU)/float64(r.Requests), "cpu-ns/op")
		})
	}
}

func BenchmarkClosedLoop(b *testing.B) {
	addr, _ := elsewhere(b, HTTP1)
	for _, e := range []Engine{Epoll, Portable} {
		b.Run(string(e), func(b *testing.B) {
			s, err := Open(Options{Target: Target{Addr: addr}, Requests: []Request{{Method: "GET", Path: "/"}}, Engine: e, Connections: 50})
			if err != nil {
				b.Skip(err)
			}
			defer s.Close()
			b.ReportAllocs()
			r, err := s.Run(context.Background(), Leg{Lead: 500, Ops: int64(b.N), Mark: func(begin bool) {
				if begin {
					b.ResetTimer()
				} else {
					b.StopTimer()
				}
			}})
			assert.NoError(b, "run", err)
			b.ReportMetric(float64(r.CPU)/float64(r.Requests), "cpu-ns/op")
		})
	}
}
