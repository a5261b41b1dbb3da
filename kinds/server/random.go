package server

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarebench/tare/contender/fixture"
)

// Shuffle permutes list at random (Fisher and Yates).
func Shuffle[T any](r *fixture.Random, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := int(r.Next() % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}

// Shares splits a total by weight, each share rounded so that they add up: the
// largest remainders are rounded up.
func Shares(total int, weights []float64) []int {
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

// Zipf returns weights of n things of which the k-th occurs in proportion to 1/k^s.
func Zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -s)
	}
	return weights
}
