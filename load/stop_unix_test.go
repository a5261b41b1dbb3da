//go:build unix

package load

import (
	"context"
	"crypto/tls"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// A real server is stopped for a part of a second while 5,000 requests per second are due: all of
// them are sent and answered. The distance of the p99 from theory depends on the load of the
// machine, so it is only logged.
func TestStop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	for name, c := range map[string]struct {
		server  Protocol // as elsewhere has it
		o       Options
		secured bool
	}{
		"plain":    {server: HTTP1},
		"TLS":      {server: servingTLS, secured: true},
		"h2c":      {server: H2C, o: Options{Protocol: H2C}},
		"h2":       {server: servingTLS, o: Options{Protocol: H2C}, secured: true},
		"gRPC":     {server: H2C, o: Options{Protocol: GRPC}},
		"portable": {server: HTTP1, o: Options{Engine: Portable}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := opened(t, c.o.Engine); err != nil {
				t.Skip(err)
			}
			addr, process := elsewhere(t, c.server)
			c.o.Target, c.o.Connections, c.o.Requests = Target{Addr: addr}, 50, []Request{{Method: "POST", Path: "/", Body: []byte("number 0000000000")}}
			if c.secured {
				c.o.Target.TLS = &tls.Config{InsecureSkipVerify: true}
			}
			stopFor(t, c.o, process)
		})
	}
}

// stopFor stops a server for a while under load.
func stopFor(t *testing.T, o Options, process *os.Process) {
	t.Helper()
	whole, stop := time.Second, 300*time.Millisecond
	if os.Getenv("TARE_SOAK") != "" {
		whole, stop = 8*time.Second, 500*time.Millisecond
	}
	rate := 5000.0
	if o.Protocol != HTTP1 || o.Target.TLS != nil { // whose server takes its time
		rate = 1000
	}
	s, err := Open(o)
	assert.NoError(t, "open", err)
	defer s.Close()
	var stopped time.Duration
	done := make(chan struct{})
	const rest = 300 * time.Millisecond // a machine's pause at the end is not the engine's fault
	leg := Leg{Profile: until{Constant{PerSecond: rate}, 200*time.Millisecond + whole}, Lead: int64(rate / 5), Duration: whole + rest, Mark: func(begin bool) {
		if !begin {
			return
		}
		go func() {
			defer close(done)
			time.Sleep(whole / 4)
			_ = process.Signal(syscall.SIGSTOP)
			from := time.Now()
			time.Sleep(stop)
			_ = process.Signal(syscall.SIGCONT)
			stopped = time.Since(from)
		}()
	}}
	r, err := s.Run(context.Background(), leg)
	<-done
	assert.NoError(t, "run", err)
	asked := int64(rate * whole.Seconds())
	if r.Late > 0 && r.Wait > r.Wall/10 {
		t.Skipf("this machine let the load generator wait for %v of %v", r.Wait, r.Wall)
	}
	assert.Equal(t, "sent", r.Sent, asked)
	assert.Equal(t, "late", r.Late, 0)
	assert.Equal(t, "lost", r.Sent-r.Requests, 0)
	want := theory(rate, whole, stopped, time.Duration(r.Service.Quantile(0.5)), 0.99)
	got := time.Duration(r.Latency.Quantile(0.99))
	t.Logf("stopped for %v: p99 %v, theory %v (%+.1f %%); p50 %v, max %v, send lag p50 %v", stopped, got, want, 100*(float64(got)/float64(want)-1),
		time.Duration(r.Latency.Quantile(0.5)), time.Duration(r.Latency.Max()), time.Duration(r.SendLag.Quantile(0.5)))
}

// until is a profile that ends at a time.
type until struct {
	Profile
	end time.Duration
}

func (u until) Times(seed uint64) func() time.Duration {
	next := u.Profile.Times(seed)
	return func() time.Duration {
		if t := next(); t < u.end {
			return t
		}
		return math.MaxInt64
	}
}
