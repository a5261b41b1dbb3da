package input_of_n

import "testing"

type plot struct{ heights []int }

func newPlot(heights []int) *plot { return &plot{heights} }

func (p *plot) nearest(height int) (nearest int) {
	for _, h := range p.heights {
		if max(h-height, height-h) < max(nearest-height, height-nearest) {
			nearest = h
		}
	}
	return nearest
}

func survey(n int) []int {
	heights := make([]int, n)
	for i := range heights {
		heights[i] = i * i % 97
	}
	return heights
}

var nearestSink int

func BenchmarkNearest(b *testing.B) {
	heights := survey(b.N)
	p := newPlot(heights)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		nearestSink = p.nearest(heights[i]) // want `p has b.N entries before the loop`
	}
}

func BenchmarkNearestOfFew(b *testing.B) {
	heights := survey(1000)
	p := newPlot(heights)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		nearestSink = p.nearest(heights[i%1000])
	}
}

// grow adds heights until there are n.
func grow(n int) *plot {
	p := newPlot(nil)
	for len(p.heights) < n {
		p.heights = append(p.heights, len(p.heights)%97)
	}
	return p
}

func BenchmarkNearestOfGrown(b *testing.B) {
	heights := b.N + 1
	p := grow(heights)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		nearestSink = p.nearest(i) // want `p has b.N entries before the loop`
	}
}
