package result_unused

import "testing"

var sink uint

func BenchmarkGood(b *testing.B) {
	var n uint
	for i := 0; i < b.N; i++ {
		n += half(uint(i))
	}
	sink = n
}

func BenchmarkKept(b *testing.B) {
	x := uint(7)
	for b.Loop() {
		half(x)
	}
}
