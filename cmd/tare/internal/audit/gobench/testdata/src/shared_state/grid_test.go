package shared_state

import (
	"strconv"
	"testing"
)

func BenchmarkGrid(b *testing.B) {
	loaded, tried, passed := &grid{cells: map[int][]int{}}, &grid{cells: map[int][]int{}}, &grid{cells: map[int][]int{}}
	for _, n := range []int{10, 100} {
		points := make([]int, n)
		b.Run("load-"+strconv.Itoa(n), func(b *testing.B) {
			loaded.Load(points) // want `loaded gets entries in the set-up of each case`
			for b.Loop() {
				loaded.Near(3)
			}
		})
		b.Run("try-"+strconv.Itoa(n), func(b *testing.B) {
			if err := tried.TryLoad(points); err != nil { // want `tried gets entries in the set-up of each case`
				b.Fatal(err)
			}
			for b.Loop() {
				tried.Near(3)
			}
		})
		b.Run("pass-"+strconv.Itoa(n), func(b *testing.B) {
			loadInto(passed, points) // want `passed gets entries in the set-up of each case`
			for b.Loop() {
				passed.Near(3)
			}
		})
	}
}

// Each case has a grid of its own, or adds nothing that is there.
func BenchmarkGridAnew(b *testing.B) {
	ensured := &grid{cells: map[int][]int{}}
	for _, n := range []int{10, 100} {
		points := make([]int, n)
		b.Run("own-"+strconv.Itoa(n), func(b *testing.B) {
			g := &grid{cells: map[int][]int{}}
			g.Load(points)
			for b.Loop() {
				g.Near(3)
			}
		})
		b.Run("ensure-"+strconv.Itoa(n), func(b *testing.B) {
			ensured.Ensure(3)
			for b.Loop() {
				ensured.Near(3)
			}
		})
	}
}
