package input_of_n

import (
	"slices"
	"strconv"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			numbers := make([]int, n)
			for i := 0; i < b.N; i++ {
				if slices.Max(numbers) != 0 {
					b.Fatal("wrong")
				}
			}
		})
	}
}
