package setup_timed

import "testing"

var top float64

func BenchmarkHighest(b *testing.B) {
	line := Heights(2_000_000)[1000:3000] // want `Heights before the loop is timed`
	for i := 0; i < b.N; i++ {
		for _, h := range line {
			top = max(top, h)
		}
	}
}

func BenchmarkHighestOfFew(b *testing.B) {
	line := Heights(2000)
	for i := 0; i < b.N; i++ {
		for _, h := range line {
			top = max(top, h)
		}
	}
}
