package parallel_latency

import (
	"sync"
	"testing"
)

func BenchmarkThroughput(b *testing.B) {
	var users sync.Map
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			users.Store("a", 1)
		}
	})
}
