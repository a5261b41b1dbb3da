package parallel_n

import (
	"sync/atomic"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) { // want `does not call pb.Next`
		for i := 0; i < b.N; i++ {
			n.Add(1)
		}
	})
}
