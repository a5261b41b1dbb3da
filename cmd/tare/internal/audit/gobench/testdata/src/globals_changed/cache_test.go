package globals_changed

import (
	"sync"
	"testing"
)

// sizes is empty until it is needed.
var sizes sync.Map

func sizeOf(n int) int {
	if size, known := sizes.Load(n); known {
		return size.(int)
	}
	sizes.Store(n, n*8)
	return n * 8
}

func TestSizeOf(t *testing.T) {
	sizes = sync.Map{} // as empty as at the beginning
	if sizeOf(3) != 24 {
		t.Fatal("3 numbers have another size")
	}
}

var knownSize int

func BenchmarkSizeOf(b *testing.B) {
	for i := 0; i < b.N; i++ {
		knownSize = sizeOf(i % 8)
	}
}
