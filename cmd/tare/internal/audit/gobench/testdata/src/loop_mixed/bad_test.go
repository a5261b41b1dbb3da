package loop_mixed

import (
	"strconv"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	texts := make([]string, b.N) // want `b.N is used in a benchmark with b.Loop`
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	i := 0
	for b.Loop() {
		if _, err := strconv.Atoi(texts[i%len(texts)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
