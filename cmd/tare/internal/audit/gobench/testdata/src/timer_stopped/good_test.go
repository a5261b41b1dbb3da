package timer_stopped

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	b.StopTimer()
	text := strings.Repeat("a,", 100)
	b.StartTimer()
	for i := 0; i < b.N; i++ {
		if len(strings.Split(text, ",")) != 101 {
			b.Fatal("wrong")
		}
	}
}
