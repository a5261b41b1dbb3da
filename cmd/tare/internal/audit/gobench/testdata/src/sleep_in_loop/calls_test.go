package sleep_in_loop

import (
	"sync/atomic"
	"testing"
	"time"
)

var done atomic.Bool

func settle() {
	time.Sleep(time.Microsecond) // want `p.step, which the loop calls, sleeps for time.Microsecond`
}

func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; { // want `spins until`
	}
}

type poller struct {
	ticks *time.Ticker
	step  func()
}

func (p *poller) wait() {
	for range p.ticks.C { // want `waits for p.ticks.C`
		if done.Load() {
			return
		}
	}
}

func (p *poller) poll(quit chan bool) {
	for !done.Load() {
		select {
		case <-p.ticks.C: // want `waits for p.ticks.C`
		case <-quit:
			return
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	pause := time.Sleep
	p := &poller{ticks: time.NewTicker(time.Millisecond), step: settle}
	for i := 0; i < b.N; i++ {
		p.step()
		p.wait()
		p.poll(nil)
		spin(time.Microsecond)
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
