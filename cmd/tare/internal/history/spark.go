package history

import (
	"math"
	"strings"
)

// Spark draws a series, a character for each run, the oldest first: Unicode blocks, or ASCII
// characters if ascii is set. The height is the logarithm of the ratio, from the lowest low to the
// highest high of all intervals in the series, so that differences within the intervals look small;
// in a series with a zero count it is the contender's count. A run without the pair is a space, one
// in which it was void an x.
func Spark(points []*Point, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.-~=+*#")
	}
	least, most := math.Inf(1), math.Inf(-1)
	counts := HasZero(points)
	for _, p := range points {
		if p == nil || p.Void {
			continue
		}
		low, high := math.Log(p.Ratio), math.Log(p.Ratio)
		switch {
		case counts:
			low, high = p.Count.Value, p.Count.Value
		case p.Bounded():
			low, high = min(low, math.Log(p.Low)), max(high, math.Log(p.High))
		}
		least, most = min(least, low), max(most, high)
	}
	var b strings.Builder
	for _, p := range points {
		switch {
		case p == nil:
			b.WriteByte(' ')
		case p.Void:
			b.WriteByte('x')
		case most-least < 1e-12: // it never moved
			b.WriteRune(levels[len(levels)/2-1])
		default:
			x := math.Log(p.Ratio)
			if counts {
				x = p.Count.Value
			}
			at := (x - least) / (most - least) * float64(len(levels))
			b.WriteRune(levels[min(max(int(at), 0), len(levels)-1)])
		}
	}
	return b.String()
}

// HasZero reports whether all points of a series have counts and one of them is zero: such a series
// has no ratios to draw.
func HasZero(points []*Point) bool {
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
