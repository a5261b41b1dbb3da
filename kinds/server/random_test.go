package server

import (
	"slices"
	"testing"
)

func TestShares(t *testing.T) {
	for _, c := range []struct {
		total   int
		weights []float64
		want    []int
	}{
		{100, []float64{45, 35, 10, 5, 5}, []int{45, 35, 10, 5, 5}},
		{10, []float64{1, 1, 1}, []int{4, 3, 3}},
		{350, []float64{0.98, 0.02}, []int{343, 7}},
		{0, []float64{1, 2}, []int{0, 0}},
		{3, []float64{0.9, 0.05, 0.05}, []int{3, 0, 0}},
	} {
		if got := Shares(c.total, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("%d by %v: %v, want %v", c.total, c.weights, got, c.want)
		}
	}
}
