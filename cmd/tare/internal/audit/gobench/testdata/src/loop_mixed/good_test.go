package loop_mixed

import (
	"strconv"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	bytes, i := 0, 0
	for b.Loop() {
		text := texts[i%len(texts)]
		if _, err := strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
		bytes += len(text)
		i++
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
}
