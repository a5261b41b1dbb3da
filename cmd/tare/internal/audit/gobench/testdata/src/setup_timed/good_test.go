package setup_timed

import (
	"fmt"
	"strconv"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("%d", i)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := strconv.Atoi(texts[i%len(texts)]); err != nil {
			b.Fatal(err)
		}
	}
}
