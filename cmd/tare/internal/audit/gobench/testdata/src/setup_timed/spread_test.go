package setup_timed

import (
	"sort"
	"testing"
)

type register struct{ entries map[int]int }

func newRegister() *register { return &register{entries: map[int]int{}} }

func (r *register) addAll(squares ...int) {
	for i, x := range squares {
		r.entries[x] = i
	}
}

func (r *register) find(x int) int { return r.entries[x] }

func firstSquares(n int) []int { return squaresOf(2 * n)[:n] }

func BenchmarkRegister(b *testing.B) {
	squares := squaresOf(150_000)
	b.ResetTimer()
	for _, x := range []int{4, 9} {
		b.Run("", func(b *testing.B) {
			r := newRegister()
			r.addAll(squares...) // want `r.addAll before the loop is timed: nothing resets the timer after it`
			for i := 0; i < b.N; i++ {
				lastSquare = r.find(x)
			}
		})
	}
}

// sortEach sorts copies of short lists.
func sortEach(all []int) {
	for i := range all {
		few := []int{all[i], 3, 1}
		sort.Ints(few)
	}
}

func BenchmarkSorted(b *testing.B) {
	squares := firstSquares(20_000)
	b.ResetTimer()
	b.Run("", func(b *testing.B) {
		sortEach(squares[:15_000]) // want `sortEach before the loop is timed: nothing resets the timer after it`
		for i := 0; i < b.N; i++ {
			lastSquare = squares[i%len(squares)]
		}
	})
}

// A few entries take no time that matters.
func BenchmarkFew(b *testing.B) {
	r := newRegister()
	r.addAll(squaresOf(300)...)
	r.addAll(1, 4, 9)
	sortEach(squaresOf(200))
	for i := 0; i < b.N; i++ {
		lastSquare = r.find(4)
	}
}

func BenchmarkReset(b *testing.B) {
	r := newRegister()
	r.addAll(squaresOf(150_000)...)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		lastSquare = r.find(4)
	}
}
