package result_unused

import "testing"

func BenchmarkLumaSum(b *testing.B) {
	var sum uint32
	for i := 0; i < b.N; i++ {
		sum += uint32(luma(uint8(i), 1, 2)) // want `nothing uses luma`
	}
	_ = sum
}

func BenchmarkLumaLast(b *testing.B) {
	last := 0
	for i := 0; i < b.N; i++ {
		last = int(luma(uint8(i), 1, 2)) // want `nothing uses luma`
	}
	_ = last
}

var lumaSink uint32

func BenchmarkLumaKept(b *testing.B) {
	var sum uint32
	for i := 0; i < b.N; i++ {
		sum += uint32(luma(uint8(i), 1, 2))
	}
	lumaSink = sum
}
