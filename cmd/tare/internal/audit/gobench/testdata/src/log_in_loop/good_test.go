package log_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	for b.Loop() {
		if n := strings.Count("cheese", "e"); n != 3 {
			b.Fatalf("%d", n)
		}
	}
}
