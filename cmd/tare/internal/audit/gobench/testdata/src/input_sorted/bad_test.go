package input_sorted

import (
	"sort"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	numbers := []int{5, 2, 4, 1, 3}
	for i := 0; i < b.N; i++ {
		sort.Ints(numbers) // want `sorted after the first`
	}
}
