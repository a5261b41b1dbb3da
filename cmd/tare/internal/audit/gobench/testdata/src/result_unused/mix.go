package result_unused

// spread mixes the bits of x.
func spread(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// grey weighs three channels.
func grey(r, g, b uint8) uint8 {
	return uint8((299*uint32(r) + 587*uint32(g) + 114*uint32(b)) / 1000)
}

// share divides. Without its result only the check for 0 remains.
func share(x, of uint32) uint32 { return x / of }

// block is a part of a line.
type block struct {
	rails, signals uint64
	isUp           bool
}

// meets has more statements than grey.
func meets(p, q *block) bool {
	if p.rails&q.rails != 0 {
		return true
	}
	return p.isUp != q.isUp && (p.signals&q.rails|q.signals&p.rails) != 0
}
