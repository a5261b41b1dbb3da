package random_timed

import (
	"math/rand"
	"testing"
)

var square int

func BenchmarkBad(b *testing.B) {
	for i := 0; i < b.N; i++ {
		n := rand.Intn(1000) // want `rand.Intn is timed`
		square = n * n
	}
}
