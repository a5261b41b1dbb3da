package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tarebench/tare/stats"
)

func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const within, between = 0.04, 0.01
	var blocks [][]float64
	for range 4000 {
		shift := math.Sqrt(between) * rng.NormFloat64()
		var x []float64
		for range 3 + rng.IntN(4) {
			x = append(x, shift+math.Sqrt(within)*rng.NormFloat64())
		}
		blocks = append(blocks, x)
	}
	w, b, ok := stats.Components(blocks)
	if !ok || math.Abs(w-within) > 0.002 || math.Abs(b-between) > 0.002 {
		t.Errorf("components %.4f, %.4f, %v of rounds made with %.4f, %.4f", w, b, ok, within, between)
	}
	if _, b, _ := stats.Components([][]float64{{-1, 1}, {1, -1}}); b != 0 {
		t.Errorf("between = %g of rounds with equal means, want 0", b)
	}
	if _, _, ok := stats.Components([][]float64{{1, 2}, {3}}); ok {
		t.Error("one round with two blocks has no variance between rounds")
	}
}
