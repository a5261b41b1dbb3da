package loop_mixed

import (
	"strconv"
	"testing"
)

// parseAll is a benchmark of its own.
func parseAll(b *testing.B, text string) {
	for i := 0; i < b.N; i++ {
		if _, err := strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.Run("short", func(b *testing.B) {
		for b.Loop() {
			parseAll(b, "12") // want `parseAll uses b.N in a loop over b.Loop`
		}
	})
	b.Run("long", func(b *testing.B) { parseAll(b, "1234567") })
}
