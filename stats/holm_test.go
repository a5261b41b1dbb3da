package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.9, 0.5, 0.5}, []float64{1, 1, 1}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
	} {
		got := Holm(c.p)
		if !slices.EqualFunc(got, c.want, isNear) {
			t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}

// With one look HolmLooks is Holm's procedure.
func TestHolmLooksOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for range 500 {
		p := make([]float64, 1+r.IntN(8))
		for i := range p {
			p[i] = r.Float64() * r.Float64() * 0.1
		}
		adjusted := Holm(p)
		for i, rejected := range HolmLooks(p, 0.05, 1) {
			if rejected != (adjusted[i] <= 0.05) {
				t.Errorf("%v: rejected %v, adjusted p %v", p[i], rejected, adjusted[i])
			}
		}
	}
}

func TestHolmLooksSteps(t *testing.T) {
	const looks = 7
	first, second := LookLevel(0.05/2, looks), LookLevel(0.05, looks)
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{second, first}, []bool{true, true}},
		{[]float64{second, first * 1.01}, []bool{false, false}},
		{[]float64{first, second * 1.01}, []bool{true, false}},
	} {
		if got := HolmLooks(c.p, 0.05, looks); !slices.Equal(got, c.want) {
			t.Errorf("HolmLooks(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}
