package random_input

import (
	"math/rand"
	"slices"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	numbers := r.Perm(1000)
	for b.Loop() {
		if len(slices.Sorted(slices.Values(numbers))) != 1000 {
			b.Fatal("wrong")
		}
	}
}
