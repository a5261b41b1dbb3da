package bytes_of_n

import (
	"crypto/sha256"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	data := make([]byte, 4096)
	b.SetBytes(int64(len(data)))
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(data)
	}
}
