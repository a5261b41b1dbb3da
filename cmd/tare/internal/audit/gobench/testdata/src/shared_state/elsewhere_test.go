package shared_state

import (
	"testing"

	"elsewhere"
)

// The source of a sub-benchmark of another package is not read.
func BenchmarkElsewhere(b *testing.B) {
	users := map[string]int{}
	for _, name := range []string{"a", "b"} {
		b.Run(name, elsewhere.Bench)
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			users["a"]++
		}
	})
}
