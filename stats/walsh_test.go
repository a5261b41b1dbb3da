package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// normals returns n standard normal draws from a fixed seed.
func normals(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func transformValues(x []float64, scale, shift float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = scale*v + shift
	}
	return out
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
	} {
		if got := Median(c.x); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(HodgesLehmann(nil)) {
		t.Error("the location of nothing is a number")
	}
}

func TestHodgesLehmannSmall(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{1, 2}, 1.5},
		{[]float64{0, 1, 5}, 1.75},       // averages 0 .5 1 | 2.5 3 5
		{[]float64{1, 2, 3, 1000}, 2.75}, // 1 1.5 2 2 2.5 | 3 500.5 501 501.5 1000
	} {
		if got := HodgesLehmann(c.x); got != c.want {
			t.Errorf("HodgesLehmann(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestLocationLaws(t *testing.T) {
	for seed := range uint64(50) {
		x := normals(1+int(seed), seed)
		before := slices.Clone(x)
		for name, f := range map[string]func([]float64) float64{"Median": Median, "HodgesLehmann": HodgesLehmann} {
			at := f(x)
			if got, want := f(transformValues(x, 3, 0.7)), 3*at+0.7; !isNear(got, want) {
				t.Errorf("%s of 3x + 0.7 = %v, want %v", name, got, want)
			}
			if got := f(transformValues(x, -1, 0)); !isNear(got, -at) {
				t.Errorf("%s of −x = %v, want %v", name, got, -at)
			}
			shuffled := slices.Clone(x)
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(x), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if got := f(shuffled); !isNear(got, at) {
				t.Errorf("%s depends on the order: %v, %v", name, got, at)
			}
			if at < slices.Min(x) || at > slices.Max(x) {
				t.Errorf("%s = %v lies outside the data", name, at)
			}
		}
		if !slices.Equal(x, before) {
			t.Fatal("the input was changed")
		}
	}
}
