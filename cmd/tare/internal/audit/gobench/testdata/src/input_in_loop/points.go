package input_in_loop

type point struct {
	Label string
	X, Y  int
}

// AppendPoints only reads points.
func AppendPoints(dst []byte, points []point) []byte {
	for i := range points {
		p := &points[i]
		dst = append(dst, p.Label...)
		dst = append(dst, byte(p.X), byte(p.Y))
	}
	return dst
}

// MovePoints changes points.
func MovePoints(points []point) int {
	for i := range points {
		points[i].X++
	}
	return len(points)
}

// SumPoints only reads points.
func SumPoints(points []point) (sum int) {
	for _, p := range points {
		sum += p.X * p.Y
	}
	return sum
}
