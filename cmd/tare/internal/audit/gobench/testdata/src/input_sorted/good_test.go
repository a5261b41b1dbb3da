package input_sorted

import (
	"sort"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	numbers := []int{5, 2, 4, 1, 3}
	data := make([]int, len(numbers))
	for i := 0; i < b.N; i++ {
		copy(data, numbers)
		sort.Ints(data)
	}
}
