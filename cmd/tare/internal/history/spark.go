package history

import (
	"math"
	"strings"
)

// Sparkline draws a series with one character per run, the oldest first. The height shows the logarithm
// of the ratio. The scale spans all intervals, so that differences within them look small. If the
// series has a zero count, the height shows the count. A missing point, nil, is a space. A void point,
// whose measurement does not count, is an x.
func Sparkline(points []*Point, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.-~=+*#")
	}
	const minRange = 1e-12 // a smaller range is only rounding errors
	bottom, top := math.Inf(1), math.Inf(-1)
	drawCounts := HasZeroCount(points)
	for _, p := range points {
		if p == nil || p.Void {
			continue
		}
		low, high := math.Log(p.Ratio), math.Log(p.Ratio)
		switch {
		case drawCounts:
			low, high = p.Count.Value, p.Count.Value
		case p.Bounded():
			low, high = min(low, math.Log(p.Low)), max(high, math.Log(p.High))
		}
		bottom, top = min(bottom, low), max(top, high)
	}
	var b strings.Builder
	for _, p := range points {
		switch {
		case p == nil:
			b.WriteByte(' ')
		case p.Void:
			b.WriteByte('x')
		case top-bottom < minRange: // the value never changed
			b.WriteRune(levels[len(levels)/2-1])
		default:
			x := math.Log(p.Ratio)
			if drawCounts {
				x = p.Count.Value
			}
			height := (x - bottom) / (top - bottom) * float64(len(levels))
			b.WriteRune(levels[min(max(int(height), 0), len(levels)-1)])
		}
	}
	return b.String()
}

// HasZeroCount reports whether all points of a series have counts and one of the counts is zero. Such a
// series has no ratios to draw.
func HasZeroCount(points []*Point) bool {
	zero := false
	for _, p := range points {
		if p == nil || p.Void {
			continue
		}
		if p.Count == nil {
			return false
		}
		zero = zero || p.Count.hasZero()
	}
	return zero
}
