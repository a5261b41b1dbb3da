package result_unused

import "testing"

func BenchmarkSpread(b *testing.B) {
	for i := 0; i < b.N; i++ {
		spread(uint32(i)) // want `nothing uses spread`
	}
}
