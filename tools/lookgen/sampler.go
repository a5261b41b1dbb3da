package main

import "math/rand/v2"

// sampler simulates studies whose rounds are symmetric about zero, and computes the
// signed-rank statistic at every look of a study: an interim analysis after some rounds.
//
// It does not sort. It visits the rounds in a random order, which stands for the
// order of magnitudes from the smallest to the largest. The rank of a round at a
// look is then the number of rounds visited so far that belong to the look. These
// counts and the rank sums of three looks are in one word, in lanes of 21 bits.
type sampler struct {
	src        rand.Source
	order      []uint16        // rounds in the order of their magnitudes
	membership [][words]uint64 // by round: 1 in the lane of each look that the round belongs to
	w          []int           // buffer of nextStatistics
}

const (
	laneBits = 21 // a rank sum is at most 2000·2001/2 < 2^21
	lanes    = 3  // per word
	words    = 5  // enough for 15 looks
	laneMask = 1<<laneBits - 1
)

// newSampler returns a sampler for the looks, with random numbers from src.
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
		s.order = append(s.order, uint16(round))
		s.membership = append(s.membership, in)
	}
	return s
}

// nextStatistics draws a study and returns the statistic per look, in a slice that the next call overwrites.
func (s *sampler) nextStatistics() []int {
	var rank, sum [words]uint64
	for i := range s.order {
		// One step of Fisher and Yates' shuffle. The high half of the product is
		// uniform up to a relative error of 2000/2^32.
		r := s.src.Uint64()
		left := len(s.order) - i
		j := i + int((r>>32)*uint64(left)>>32)
		s.order[i], s.order[j] = s.order[j], s.order[i]
		coin := r & 1
		in := &s.membership[s.order[i]]
		for k := range words {
			rank[k] += in[k]
			// in[k]*laneMask has all bits of the lanes of looks that include this round; -coin has all
			// bits or none.
			sum[k] += rank[k] & (in[k] * laneMask) & -coin
		}
	}
	for l := range s.w {
		s.w[l] = int(sum[l/lanes] >> (l % lanes * laneBits) & laneMask)
	}
	return s.w
}
