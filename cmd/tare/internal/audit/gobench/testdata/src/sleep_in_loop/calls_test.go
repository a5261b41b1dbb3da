package sleep_in_loop

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var done atomic.Bool

func settle() {
	time.Sleep(time.Microsecond)
}

func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

type poller struct {
	ticks *time.Ticker
	step  func()
}

func (p *poller) wait() {
	for range p.ticks.C {
		if done.Load() {
			return
		}
	}
}

func (p *poller) poll(quit chan bool) {
	for !done.Load() {
		select {
		case <-p.ticks.C:
		case <-quit:
			return
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	pause := time.Sleep
	p := &poller{ticks: time.NewTicker(time.Millisecond), step: settle}
	for i := 0; i < b.N; i++ {
		p.step()                // want `p.step, which the loop calls, sleeps for time.Microsecond in each iteration, in calls_test.go:15`
		p.wait()                // want `waits for p.ticks.C`
		p.poll(nil)             // want `waits for p.ticks.C`
		spin(time.Microsecond)  // want `spins until`
		pause(time.Microsecond) // want `the loop sleeps for time.Microsecond`
	}
}

// What runs before the loop, or while the timer is stopped, may wait.
func BenchmarkWaitsBefore(b *testing.B) {
	idle()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		done.Store(true)
	}
}

func idle() { time.Sleep(time.Millisecond) }

func await(ctx context.Context, b *testing.B) {
	for !done.Load() {
		select {
		case <-ctx.Done():
			b.Fatal(ctx.Err())
		case <-time.After(time.Microsecond):
		}
	}
}

func awaitDone(quit chan bool) {
	select {
	case <-quit:
	case <-time.After(time.Second): // a time limit
	}
}

func BenchmarkAwait(b *testing.B) {
	for b.Loop() {
		await(b.Context(), b)                                              // want `await, which the loop calls, waits for time.After`
		require.Eventually(b, done.Load, time.Second, 10*time.Microsecond) // want `the loop sleeps for 10 \* time.Microsecond`
		awaitDone(nil)
	}
}

// A loop in a helper calls the function that sleeps.
func BenchmarkEach(b *testing.B) {
	each(b, func() {
		time.Sleep(time.Microsecond) // want `op, which the loop calls, sleeps for time.Microsecond`
	})
}

func each(b *testing.B, op func()) {
	for b.Loop() {
		op()
	}
}
