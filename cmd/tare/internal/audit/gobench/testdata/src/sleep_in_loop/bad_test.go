package sleep_in_loop

import (
	"sync/atomic"
	"testing"
	"time"
)

func BenchmarkBad(b *testing.B) {
	var done atomic.Int64
	for i := 0; i < b.N; i++ {
		go done.Add(1)
		time.Sleep(time.Millisecond) // want `sleeps for time.Millisecond`
	}
}
