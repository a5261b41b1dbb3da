package random_input

import (
	"math/rand"
	"slices"
	"testing"
	"time"
)

func BenchmarkBad(b *testing.B) {
	r := rand.New(rand.NewSource(time.Now().UnixNano())) // want `seeded by the clock`
	numbers := r.Perm(1000)
	for b.Loop() {
		if len(slices.Sorted(slices.Values(numbers))) != 1000 {
			b.Fatal("wrong")
		}
	}
}
