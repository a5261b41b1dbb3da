package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// random is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014), as the fixtures use it: pools are the same
// on every machine, for ever.
type random struct{ state uint64 }

// newRandom seeds with the first eight bytes of seed's SHA-256.
func newRandom(seed string) *random {
	sum := sha256.Sum256([]byte(seed))
	return &random{binary.BigEndian.Uint64(sum[:])}
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// shuffle puts list into an order of its own (Fisher and Yates).
func shuffle[T any](r *random, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// shares splits a total by weight, each share rounded so that they add up: the
// largest remainders are rounded up.
func shares(total int, weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	parts, order := make([]int, len(weights)), make([]int, len(weights))
	rest := make([]float64, len(weights))
	left := total
	for i, w := range weights {
		exact := float64(total) * w / sum
		parts[i] = int(math.Floor(exact + 1e-9)) // 350 × 2 % is 7
		rest[i], order[i] = exact-float64(parts[i]), i
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:left] {
		parts[i]++
	}
	return parts
}

// zipf are weights of n things of which the k-th is met in proportion to 1/k^s.
func zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -s)
	}
	return weights
}
