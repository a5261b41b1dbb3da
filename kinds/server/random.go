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

// Shares splits total in proportion to weights. Shares with the largest remainders are rounded up,
// so that the sum is total.
func Shares(total int, weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	shares, order := make([]int, len(weights)), make([]int, len(weights))
	remainders := make([]float64, len(weights))
	unassigned := total
	for i, w := range weights {
		const epsilon = 1e-9 // so that 350 × 2 % is 7 in spite of rounding errors
		exact := float64(total) * w / sum
		shares[i] = int(math.Floor(exact + epsilon))
		remainders[i], order[i] = exact-float64(shares[i]), i
		unassigned -= shares[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:unassigned] {
		shares[i]++
	}
	return shares
}

// Zipf returns the weights of n items: the weight of item k, from 1, is 1/k^s.
func Zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -s)
	}
	return weights
}
