package stats

import (
	"fmt"
	"testing"
)

func BenchmarkInterval(b *testing.B) {
	for _, n := range []int{16, 60, 180} {
		x := normals(n, 1)
		b.Run(fmt.Sprintf("rounds=%d", n), func(b *testing.B) {
			for b.Loop() {
				Interval(x, 0.012)
			}
		})
	}
}

func BenchmarkBlockEffect(b *testing.B) {
	x, y := makePoints(normals(64, 1)...), makePoints(normals(64, 2)...)
	for i := range x {
		x[i].NS += 1000
		y[i].NS += 1000
	}
	for b.Loop() {
		BlockEffect(x, y, 2)
	}
}
