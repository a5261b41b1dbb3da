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

var sum int

// circle has no name of a function that makes something, but is called before a loop.
func circle(n int) []point {
	points := make([]point, 0, n)
	for i := range n {
		points = append(points, point{"c", i, n - i})
	}
	return points
}

func BenchmarkSumPoints(b *testing.B) {
	points := circle(100)
	for b.Loop() {
		sum = SumPoints(points)
	}
}

func BenchmarkSumCircle(b *testing.B) {
	for b.Loop() {
		sum = SumPoints(circle(100)) // want `circle\(100\) makes the same input again`
	}
}

func scene(width int) *Picture {
	p := &Picture{Width: width, Points: make([]byte, width*width)}
	for i := range p.Points {
		p.Points[i] = byte(i * i)
	}
	return p
}

func BenchmarkDarkest(b *testing.B) {
	p := scene(100)
	for b.Loop() {
		sum += int(Darkest(p))
	}
}

func BenchmarkDarkestOfScene(b *testing.B) {
	for b.Loop() {
		sum += int(Darkest(scene(100))) // want `scene\(100\) makes the same input again`
	}
}

func BenchmarkInvert(b *testing.B) {
	for b.Loop() {
		sum += int(Invert(scene(100))) // each iteration needs a picture of its own
	}
}

func BenchmarkLongestRow(b *testing.B) {
	for _, width := range []int{10, 100} {
		b.Run("x", func(b *testing.B) {
			for b.Loop() {
				p := Checker(width) // want `Checker\(width\) makes the same input again`
				sum += p.LongestRow()
			}
		})
	}
}

func BenchmarkMirror(b *testing.B) {
	for b.Loop() {
		p := Checker(100) // each iteration needs a picture of its own
		p.Mirror()
	}
}

func BenchmarkCheckerAndLongestRow(b *testing.B) {
	for b.Loop() {
		p := Checker(100) // the benchmark is about both
		sum += p.LongestRow()
	}
}

// checkered has no name of a function that makes something, and the benchmark has that of another one.
func checkered(width int) *Picture {
	p := &Picture{Width: width, Points: make([]byte, width*width)}
	for i := range p.Points {
		p.Points[i] = byte(i % 2)
	}
	return p
}

func BenchmarkLongestRowOfWide(b *testing.B) {
	for b.Loop() {
		p := checkered(1000) // want `checkered\(1000\) makes the same input again`
		sum += p.LongestRow()
	}
}

// wideText has no name of a function that makes something.
func wideText(n int) string {
	text := make([]byte, 0, n)
	for i := range n {
		text = append(text, byte('a'+i%26))
	}
	return string(text)
}

func BenchmarkCountVowels(b *testing.B) {
	for b.Loop() {
		sum += CountVowels([]byte(wideText(1000))) // want `wideText\(1000\) makes the same input again`
	}
}
