package input_in_loop

import (
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	text := strings.Repeat("a", 1000)
	for b.Loop() {
		if strings.Count(text, "a") != 1000 {
			b.Fatal("wrong")
		}
	}
}
