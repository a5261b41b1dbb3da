package timer_stopped

import (
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	b.StopTimer()
	text := strings.Repeat("a,", 100)
	b.ResetTimer()
	for i := 0; i < b.N; i++ { // want `runs while the timer is stopped`
		if len(strings.Split(text, ",")) != 101 {
			b.Fatal("wrong")
		}
	}
}
