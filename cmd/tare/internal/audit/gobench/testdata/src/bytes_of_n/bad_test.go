package bytes_of_n

import (
	"crypto/sha256"
	"testing"
)

var sum [32]byte

func BenchmarkBad(b *testing.B) {
	data := make([]byte, 4096)
	b.SetBytes(int64(b.N * len(data))) // want `is not the bytes of one iteration`
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(data)
	}
}
