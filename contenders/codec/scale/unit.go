package main

// scale is where units leave their work, so that none of it can be dropped.
type scale struct {
	state uint64
	kept  [16][]byte
	next  int
}

// step is one of a chain of dependent steps (Marsaglia's xorshift).
func step(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// spin is a unit of pure arithmetic.
func (s *scale) spin() {
	x := s.state | 1
	for range 350 {
		x = step(x)
	}
	s.state = x
}

// alloc is a unit of allocation: three small objects, filled byte by byte, and
// kept until sixteen later ones have come.
func (s *scale) alloc() {
	x := s.state | 1
	for k := range 3 {
		object := make([]byte, 64+32*k)
		for i := range object {
			x = step(x)
			object[i] = byte(x)
		}
		s.kept[s.next] = object
		s.next = (s.next + 1) % len(s.kept)
	}
	s.state = x
}
