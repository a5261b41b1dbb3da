package map_order

import "testing"

var lastPrice int

func BenchmarkAnyPrice(b *testing.B) {
	all := map[string]int{"a": 1, "b": 2}
	for b.Loop() {
		for _, price := range all { // want `takes the first value of all`
			lastPrice = price
			break
		}
	}
}
