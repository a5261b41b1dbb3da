package map_order

import "testing"

func BenchmarkGood(b *testing.B) {
	prices := map[string]int{"a": 1, "bb": 2, "ccc": 3}
	names := []string{"a", "bb", "ccc"}
	i := 0
	for b.Loop() {
		sink = prices[names[i%len(names)]]
		i++
	}
}
