package setup_timed

import "testing"

var perDay = 24 * 3600

func squaresOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i * i
	}
	return all
}

var lastSquare int

func BenchmarkMonth(b *testing.B) {
	month := squaresOf(30 * perDay) // want `squaresOf before the loop is timed`
	for i := 0; i < b.N; i++ {
		lastSquare = month[i%len(month)]
	}
}

func BenchmarkGrowing(b *testing.B) {
	n := 1
	for n < 8 {
		n = n * 2 // a product of itself has no limit that is known
	}
	few := squaresOf(n)
	for i := 0; i < b.N; i++ {
		lastSquare = few[i%len(few)]
	}
}
