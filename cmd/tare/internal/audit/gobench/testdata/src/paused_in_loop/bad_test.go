package paused_in_loop

import (
	"slices"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	numbers := []int{3, 1, 2}
	data := make([]int, len(numbers))
	for i := 0; i < b.N; i++ {
		b.StopTimer() // want `runs in each iteration`
		copy(data, numbers)
		b.StartTimer()
		slices.Sort(data)
	}
}
