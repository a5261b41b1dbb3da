package input_of_n

import (
	"slices"
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	numbers := make([]int, b.N)
	for i := 0; i < b.N; i++ {
		if slices.Max(numbers) != 0 { // want `numbers, which has b.N elements`
			b.Fatal("wrong")
		}
	}
}

func BenchmarkRepeat(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if strings.Count(strings.Repeat("a", i), "a") != i { // want `as large as the iteration's number`
			b.Fatal("wrong")
		}
	}
}
