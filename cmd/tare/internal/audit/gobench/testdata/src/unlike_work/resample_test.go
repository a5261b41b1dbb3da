package unlike_work

import "testing"

func BenchmarkResample(b *testing.B) {
	samples := make([]float64, 1000)
	b.Run("linear", func(b *testing.B) {
		for b.Loop() {
			sink = linear(samples)
		}
	})
	b.Run("filter", func(b *testing.B) {
		for b.Loop() { // want `only makes values`
			sink = newFilter(samples)
		}
	})
}

func BenchmarkResampleWhole(b *testing.B) {
	samples := make([]float64, 1000)
	b.Run("linear", func(b *testing.B) {
		for b.Loop() {
			sink = linear(samples)
		}
	})
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			sink = newFilter(samples).convert()
		}
	})
}
