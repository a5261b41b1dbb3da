package sleep_in_loop

import (
	"sync"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	var done sync.WaitGroup
	for i := 0; i < b.N; i++ {
		done.Add(1)
		go done.Done()
		done.Wait()
	}
}
