package reset_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	text := strings.Repeat("a,", 100)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if len(strings.Split(text, ",")) != 101 {
			b.Fatal("wrong")
		}
	}
}
