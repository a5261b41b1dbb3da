package main

import "math/rand/v2"

// sampler draws the signed-rank statistic at every look of one study whose
// rounds are symmetric about zero.
//
// Subtle: it never computes a rank. Going through all rounds from the smallest
// magnitude to the largest, the rank of a round at a look equals the number of
// rounds met so far that the look includes. Those counts, and the rank sums,
// are stored for three looks at a time in 21-bit lanes of a word.
type sampler struct {
	src     rand.Source
	arrival []uint16 // rounds in order of magnitude, by when they happen
	include [][words]uint64
	w       []int
}

const (
	laneBits = 21 // a rank sum is at most 2000·2001/2 < 2^21
	lanes    = 3
	words    = 5
	lane     = 1<<laneBits - 1
)

func newSampler(looks []int, src rand.Source) *sampler {
	last := looks[len(looks)-1]
	s := &sampler{src: src, w: make([]int, len(looks))}
	for round := range last {
		var in [words]uint64
		for l, n := range looks {
			if round < n {
				in[l/lanes] |= 1 << (l % lanes * laneBits)
			}
		}
		s.arrival = append(s.arrival, uint16(round))
		s.include = append(s.include, in)
	}
	return s
}

// nextStatistics returns the statistic per look; the slice is reused.
func (s *sampler) nextStatistics() []int {
	var rank, sum [words]uint64
	for i := range s.arrival {
		// One step of Fisher and Yates' shuffle; the high half of the product
		// is uniform but for one part in 2^32/2000.
		r := s.src.Uint64()
		left := len(s.arrival) - i
		j := i + int((r>>32)*uint64(left)>>32)
		s.arrival[i], s.arrival[j] = s.arrival[j], s.arrival[i]
		coin := r & 1
		in := &s.include[s.arrival[i]]
		for k := range words {
			rank[k] += in[k]
			// The mask selects the lanes of the looks that include this round.
			sum[k] += rank[k] & (in[k] * lane) & -coin
		}
	}
	for l := range s.w {
		s.w[l] = int(sum[l/lanes] >> (l % lanes * laneBits) & lane)
	}
	return s.w
}
