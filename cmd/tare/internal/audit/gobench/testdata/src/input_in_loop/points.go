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

// Picture has a byte for each point.
type Picture struct {
	Width  int
	Points []byte
}

// Darkest only reads a picture.
func Darkest(p *Picture) byte {
	least := byte(255)
	row := p.Points[:p.Width]
	for _, x := range row {
		least = min(least, x)
	}
	return least
}

// Invert changes a picture.
func Invert(p *Picture) byte {
	for i := range p.Points {
		p.Points[i] ^= 255
	}
	return p.Points[0]
}

// Checker fills a picture.
func Checker(width int) *Picture {
	p := &Picture{Width: width, Points: make([]byte, width*width)}
	for i := range p.Points {
		p.Points[i] = byte(i % 2)
	}
	return p
}

// LongestRow only reads a picture.
func (p *Picture) LongestRow() (longest int) {
	for y := range p.Width {
		n := 0
		for x := range p.Width {
			n += int(p.Points[y*p.Width+x])
		}
		longest = max(longest, n)
	}
	return longest
}

// Mirror changes a picture.
func (p *Picture) Mirror() {
	for i := range p.Points {
		p.Points[i] = p.Points[len(p.Points)-1-i]
	}
}

// CountVowels only reads a text.
func CountVowels(text []byte) (n int) {
	for _, c := range text {
		if c == 'a' || c == 'e' {
			n++
		}
	}
	return n
}

// Rows only reads a picture, by another method.
func (p *Picture) Rows() int { return p.LongestRow() / p.Width }

// Label has no references.
type Label struct{ Name, Text string }

// Fold reads a label.
func Fold(dst []byte, l Label) []byte {
	for _, c := range l.Name + l.Text {
		dst = append(dst, byte(c))
	}
	return dst
}
