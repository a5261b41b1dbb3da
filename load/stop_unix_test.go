//go:build unix

package load

import (
	"context"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// A real server, stopped for a part of a second while 5,000 requests are due
// every second: all are sent and answered. How near the p99 is to theory
// depends on the machine's leisure, so it is only said.
func TestStop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	whole, stop := time.Second, 300*time.Millisecond
	if os.Getenv("TARE_SOAK") != "" {
		whole, stop = 8*time.Second, 500*time.Millisecond
	}
	addr, process := elsewhere(t, HTTP1)
	s := get(t, addr, Auto, HTTP1, 50)
	defer s.Close()
	var stopped time.Duration
	done := make(chan struct{})
	const rest = 300 * time.Millisecond // a machine's pause at the end is not the engine's fault
	leg := Leg{Profile: until{Constant{PerSecond: 5000}, 200*time.Millisecond + whole}, Lead: 1000, Duration: whole + rest, Mark: func(begin bool) {
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
	asked := int64(5000 * whole.Seconds())
	if r.Late > 0 && r.Wait > r.Wall/10 {
		t.Skipf("this machine let the load generator wait for %v of %v", r.Wait, r.Wall)
	}
	assert.Equal(t, "sent", r.Sent, asked)
	assert.Equal(t, "late", r.Late, 0)
	assert.Equal(t, "lost", r.Sent-r.Requests, 0)
	want := theory(5000, whole, stopped, time.Duration(r.Service.Quantile(0.5)), 0.99)
	got := time.Duration(r.Latency.Quantile(0.99))
	t.Logf("stopped for %v: p99 %v, theory %v (%+.1f %%); p50 %v, max %v, send lag p50 %v", stopped, got, want, 100*(float64(got)/float64(want)-1),
		time.Duration(r.Latency.Quantile(0.5)), time.Duration(r.Latency.Max()), time.Duration(r.SendLag.Quantile(0.5)))
}

// until is a profile cut off at a time.
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
