package random_timed

import (
	"math/rand"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	numbers := rand.New(rand.NewSource(1)).Perm(1000)
	for i := 0; i < b.N; i++ {
		n := numbers[i%len(numbers)]
		square = n * n
	}
}

func BenchmarkSource(b *testing.B) {
	for i := 0; i < b.N; i++ {
		_ = rand.Uint32()
	}
}
