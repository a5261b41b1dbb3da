package goroutine_unawaited

import (
	"sync"
	"sync/atomic"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	var n atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < b.N; i++ {
		all.Go(func() { n.Add(1) })
	}
	all.Wait()
}
