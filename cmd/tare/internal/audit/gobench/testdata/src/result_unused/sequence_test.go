package result_unused

import (
	"iter"
	"testing"
)

func doubled(all []int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, x := range all {
			if !yield(2 * x) {
				return
			}
		}
	}
}

var lastSequence iter.Seq[int]

func BenchmarkDoubled(b *testing.B) {
	all := make([]int, 1000)
	for b.Loop() {
		lastSequence = doubled(all) // want `doubled returns a sequence that nothing ranges over`
	}
}

func BenchmarkDoubledSum(b *testing.B) {
	all := make([]int, 1000)
	sum := 0
	for b.Loop() {
		each := doubled(all)
		for x := range each {
			sum += x
		}
	}
	lastSum = sum
}

var lastSum int
