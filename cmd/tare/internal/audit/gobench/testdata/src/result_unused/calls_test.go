package result_unused

import "testing"

func drop(int) {}

func discard[T any](v T) { _ = v }

func square(x int) int { return x * x }

//go:noinline
func keep(int) {}

func mixed(x int) int {
	x ^= x >> 3
	x *= 31
	return x
}

func BenchmarkConsumers(b *testing.B) {
	forget := func(x int) {}
	for i := 0; i < b.N; i++ {
		drop(square(i))   // want `nothing uses square.i.`
		discard(mixed(i)) // want `nothing uses mixed.i.`
		forget(i * 3)     // want `nothing uses i . 3`
		keep(square(i))
	}
}

func BenchmarkSum(b *testing.B) {
	sum := 0
	for i := 0; i < b.N; i++ {
		sum += square(i) // want `nothing uses square.i.`
	}
	_ = sum
}

func BenchmarkHash(b *testing.B) {
	words := []int{1, 2, 3}
	for i := 0; i < b.N; i++ {
		h := 1
		for _, w := range words {
			h = mixed(h ^ w)
		}
		drop(h) // want `nothing uses mixed.h . w.`
	}
}

func BenchmarkClosure(b *testing.B) {
	run := func(x int) { _ = square(x) } // want `nothing uses square.x.`
	for b.Loop() {
		run(3)
	}
}

var total int

func BenchmarkUsed(b *testing.B) {
	sum := 0
	for i := 0; i < b.N; i++ {
		sum += square(i)
	}
	total = sum
}

func BenchmarkLoop(b *testing.B) {
	for b.Loop() {
		drop(square(3))
	}
}
