package map_order

import "testing"

var sink int

func BenchmarkBad(b *testing.B) {
	prices := map[string]int{"a": 1, "bb": 2, "ccc": 3}
	for b.Loop() {
		for name, price := range prices { // want `takes the first key of prices`
			sink = len(name) * price
			break
		}
	}
}
