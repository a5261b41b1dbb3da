package input_in_loop

import (
	"fmt"
	"testing"
)

func makeGrid(n int) []point {
	points := make([]point, n)
	for i := range points {
		points[i] = point{fmt.Sprintf("p%d", i), i, i}
	}
	return points
}

func BenchmarkAppendPoints(b *testing.B) {
	var buf []byte
	for b.Loop() {
		buf = AppendPoints(buf[:0], makeGrid(50)) // want `makeGrid\(50\) makes the same input again`
	}
}

func BenchmarkMovePoints(b *testing.B) {
	for b.Loop() {
		MovePoints(makeGrid(50)) // each iteration needs points of its own
	}
}
