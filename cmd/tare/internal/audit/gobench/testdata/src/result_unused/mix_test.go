package result_unused

import "testing"

func BenchmarkSpread(b *testing.B) {
	for i := 0; i < b.N; i++ {
		spread(uint32(i)) // want `nothing uses spread`
	}
}

func BenchmarkGrey(b *testing.B) {
	row := make([]uint8, 256)
	for i := 0; i < b.N; i++ {
		grey(row[i%256], 2, 3) // want `nothing uses grey`
	}
}

func BenchmarkShare(b *testing.B) {
	for i := 0; i < b.N; i++ {
		share(uint32(i), uint32(b.N)) // want `nothing uses share`
	}
}

func BenchmarkMeets(b *testing.B) {
	line := make([]*block, 16)
	for i := range line {
		line[i] = &block{rails: 1 << i}
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		p, q := line[i%16], line[i*7%16]
		meets(p, q) // want `nothing uses meets`
	}
}
