package parallel_n

import (
	"sync/atomic"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Add(1)
		}
	})
}
