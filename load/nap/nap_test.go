package nap_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/load/nap"
)

// TestSleep checks that no wait ends before its time, and that waits of zero or less end
// immediately.
func TestSleep(t *testing.T) {
	timer := nap.New()
	defer timer.Close()
	for _, d := range []time.Duration{1, time.Microsecond, 50 * time.Microsecond, time.Millisecond, 20 * time.Millisecond} {
		for range 5 {
			start := time.Now()
			timer.Sleep(d)
			if took := time.Since(start); took < d {
				t.Errorf("a wait of %v took %v", d, took)
			}
		}
	}
	start := time.Now()
	timer.Sleep(0)
	timer.Sleep(-time.Hour)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("two waits of nothing took %v", took)
	}
}

// TestSleepAlone checks many concurrent waits, each with its own timer, before and after the timer
// is closed.
func TestSleepAlone(t *testing.T) {
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			timer := nap.New()
			d := time.Duration(i) * 100 * time.Microsecond
			for _, open := range []bool{true, false} {
				start := time.Now()
				timer.Sleep(d)
				if took := time.Since(start); took < d {
					t.Errorf("a wait of %v took %v (open: %v)", d, took, open)
				}
				timer.Close()
			}
		})
	}
	all.Wait()
}

// TestSleepAllocates checks that a wait does not allocate.
func TestSleepAllocates(t *testing.T) {
	timer := nap.New()
	defer timer.Close()
	timer.Sleep(1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1000 {
		timer.Sleep(1)
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 500 {
		t.Errorf("%d objects for 1000 waits", n)
	}
}

func BenchmarkSleep(b *testing.B) {
	timer := nap.New()
	defer timer.Close()
	const d = 200 * time.Microsecond
	var late time.Duration
	for b.Loop() {
		start := time.Now()
		timer.Sleep(d)
		late += time.Since(start) - d
	}
	b.ReportMetric(float64(late)/float64(b.N), "late-ns/op")
}
