package parallel_latency

import (
	"sync"
	"testing"
	"time"
)

var mu sync.Mutex

func locked(pb *testing.PB) {
	for pb.Next() { // want `not a latency`
		mu.Lock()
		mu.Unlock()
	}
}

func BenchmarkLockLatency(b *testing.B) { b.RunParallel(locked) }

func BenchmarkUnit(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() { // want `not a latency`
			mu.Lock()
			mu.Unlock()
		}
	})
	b.ReportMetric(float64(b.Elapsed())/float64(b.N), "wait-ns/call")
}

// BenchmarkDoc shows how long a caller waits for the lock.
func BenchmarkDoc(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() { // want `not a latency`
			mu.Lock()
			mu.Unlock()
		}
	})
}

// BenchmarkRate counts calls in a second. Its ns/op is not how long a call takes.
func BenchmarkRate(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			mu.Unlock()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkEach measures how long each call takes.
func BenchmarkEach(b *testing.B) {
	timed := func(op func()) time.Duration {
		start := time.Now()
		op()
		return time.Since(start)
	}
	b.RunParallel(func(pb *testing.PB) {
		var total time.Duration
		for pb.Next() {
			total += timed(func() { mu.Lock(); mu.Unlock() })
		}
		_ = total
	})
}
