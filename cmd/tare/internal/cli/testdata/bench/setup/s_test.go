package setup

import (
	"testing"
	"time"
)

var sum int

// Set-up stands before the loop, and testing does it again for every run.
func BenchmarkSetUp(b *testing.B) {
	time.Sleep(80 * time.Millisecond)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sum += i
	}
}

// Its set-up, and what follows its loop, take longer than most budgets have rounds for.
func BenchmarkTearsDown(b *testing.B) {
	time.Sleep(2 * time.Second)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sum += i
	}
	b.StopTimer()
	time.Sleep(2 * time.Second)
}
