package history

import (
	"math"
	"strings"
)

// Spark draws what a series did, a character for each run, the oldest first:
// Unicode blocks, or characters of ASCII where they would not be shown. The
// height is the logarithm of the ratio, from the lowest low to the highest
// high of all intervals in the series, so that what stays within the intervals
// does not look like much. A run without the pair is a space, one in which it
// was void an x.
func Spark(points []*Point, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.-~=+*#")
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if p == nil || p.Void {
			continue
		}
		low, high := p.Ratio, p.Ratio
		if p.Bounded() {
			low, high = min(low, p.Low), max(high, p.High)
		}
		least, most = min(least, math.Log(low)), max(most, math.Log(high))
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
			at := (math.Log(p.Ratio) - least) / (most - least) * float64(len(levels))
			b.WriteRune(levels[min(max(int(at), 0), len(levels)-1)])
		}
	}
	return b.String()
}
