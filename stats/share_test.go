package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestShareOfAnExactPart(t *testing.T) {
	whole := []float64{10, 12, 9, 11, 10.5, 14, 8, 13}
	part := make([]float64, len(whole))
	for _, side := range []float64{1, -1} {
		for i, w := range whole {
			part[i] = 0.25 * side * w
		}
		back := make([]float64, len(whole))
		for i, w := range whole {
			back[i] = side * w
		}
		share, lo, hi, ok := Share(part, back, 0.05)
		if !ok || math.Abs(share-0.25) > 1e-12 || math.Abs(lo-0.25) > 1e-12 || math.Abs(hi-0.25) > 1e-12 {
			t.Errorf("side %v: %v (%v to %v, %v), want 0.25 throughout", side, share, lo, hi, ok)
		}
	}
}

// A whole that is 1 in every round leaves the interval for the part itself,
// and units of either do not matter.
func TestShareOfOneIsTheInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	part, ones := make([]float64, 12), make([]float64, 12)
	for i := range part {
		part[i], ones[i] = 0.3+0.1*r.NormFloat64(), 1
	}
	share, lo, hi, ok := Share(part, ones, 0.05)
	wantLo, wantHi, _ := Interval(part, 0.05)
	if !ok || share != HodgesLehmann(part) || lo != wantLo || hi != wantHi {
		t.Errorf("%v (%v to %v), want %v (%v to %v)", share, lo, hi, HodgesLehmann(part), wantLo, wantHi)
	}
	scaled := make([]float64, 12)
	for i := range part {
		scaled[i], ones[i] = -8*part[i], -8
	}
	if s, l, h, _ := Share(scaled, ones, 0.05); s != share || l != lo || h != hi {
		t.Errorf("eight times both, from the other side: %v (%v to %v), want %v (%v to %v)", s, l, h, share, lo, hi)
	}
}

func TestShareWithoutBounds(t *testing.T) {
	one := []float64{1, 1, 1, 1, 1}
	if _, _, _, ok := Share(one, one, 0.05); ok {
		t.Error("five rounds bound a share at 5 %")
	}
	if _, _, _, ok := Share(nil, nil, 0.05); ok {
		t.Error("no round bounds a share")
	}
	part := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	whole := []float64{2, 2, 2, 2, 2, 2, 2, -1}
	// One round on the wrong side is one pair with itself; at 5 % eight rounds
	// leave three out at either end.
	if _, lo, hi, ok := Share(part, whole, 0.05); !ok || lo > 0.5 || hi < 0.5 {
		t.Errorf("one round astray: %v to %v, %v", lo, hi, ok)
	}
	for i := range whole {
		whole[i] = float64(i%2)*2 - 1
	}
	if share, lo, hi, ok := Share(part, whole, 0.05); ok || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("a whole that is nothing: %v (%v to %v)", share, lo, hi)
	}
}

// The interval misses the truth as often as it may, also where the whole is
// no more than three times its own noise in a round and where rounds differ in
// scale.
func TestShareCoverage(t *testing.T) {
	for _, w := range []struct {
		name  string
		noise float64 // sd of one contender in one round; the whole is 1
		scale float64 // sd of the logarithm of a round's scale
	}{{"quiet", 0.05, 0}, {"loud", 0.33, 0}, {"rounds of other scales", 0.1, 0.5}} {
		missed, of := simulate(91, func(r *rand.Rand) bool {
			part, whole := make([]float64, 18), make([]float64, 18)
			for i := range part {
				scale := math.Exp(w.scale * r.NormFloat64())
				first, second, last := w.noise*r.NormFloat64(), 0.3+w.noise*r.NormFloat64(), 1+w.noise*r.NormFloat64()
				part[i], whole[i] = scale*(second-first), scale*(last-first)
			}
			_, lo, hi, ok := Share(part, whole, 0.05)
			return ok && (lo > 0.3 || hi < 0.3)
		})
		wantAtMost(t, w.name+": the share is missed", missed, of, 0.05)
		if w.noise < 0.3 {
			wantAtLeast(t, w.name+": the share is missed", missed, of, 0.03)
		}
	}
}
