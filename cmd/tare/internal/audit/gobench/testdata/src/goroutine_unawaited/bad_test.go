package goroutine_unawaited

import (
	"sync/atomic"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	var n atomic.Int64
	for i := 0; i < b.N; i++ {
		go n.Add(1) // want `nothing in the benchmark waits for it`
	}
}
