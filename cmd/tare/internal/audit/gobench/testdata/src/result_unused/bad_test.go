package result_unused

import (
	"math/bits"
	"testing"
)

func half(x uint) uint { return uint(bits.OnesCount(x)) >> 1 }

func BenchmarkBad(b *testing.B) {
	for i := 0; i < b.N; i++ {
		half(uint(i)) // want `nothing uses half`
	}
}

func BenchmarkLocal(b *testing.B) {
	var n uint
	for i := 0; i < b.N; i++ {
		n = half(uint(i)) // want `nothing uses half`
	}
	_ = n
}
