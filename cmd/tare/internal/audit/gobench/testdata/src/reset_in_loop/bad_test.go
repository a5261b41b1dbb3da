package reset_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	for i := 0; i < b.N; i++ {
		text := strings.Repeat("a,", 100) // want `input-in-loop`
		b.ResetTimer()                    // want `forgets the iterations before`
		if len(strings.Split(text, ",")) != 101 {
			b.Fatal("wrong")
		}
	}
}

func BenchmarkAfter(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if len(strings.Split("a,b", ",")) != 2 {
			b.Fatal("wrong")
		}
	}
	b.ResetTimer() // want `forgets all iterations`
	b.ReportAllocs()
}
