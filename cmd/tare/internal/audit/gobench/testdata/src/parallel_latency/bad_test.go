package parallel_latency

import (
	"sync"
	"testing"
)

func BenchmarkLatency(b *testing.B) {
	var users sync.Map
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() { // want `is not a latency`
			users.Store("a", 1)
		}
	})
}
