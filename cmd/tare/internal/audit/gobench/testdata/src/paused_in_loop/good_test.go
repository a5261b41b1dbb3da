package paused_in_loop

import (
	"slices"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	numbers := []int{3, 1, 2}
	data := make([]int, len(numbers))
	for i := 0; i < b.N; i++ {
		copy(data, numbers)
		slices.Sort(data)
	}
}
