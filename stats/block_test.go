package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func makePoints(cost ...float64) []Point {
	p := make([]Point, len(cost))
	for i, c := range cost {
		p[i] = Point{Ops: 10, NS: 10 * c}
	}
	return p
}

func TestBlockEffect(t *testing.T) {
	a, b := makePoints(2, 4, 2, 4, 8, 8), makePoints(1, 2, 1, 2, 2, 2)
	ln2, ln4 := math.Log(2), math.Log(4)
	for _, c := range []struct {
		block int
		want  float64
	}{
		{1, (ln2 + ln4) / 2}, // ln 2 four times, ln 4 twice: averages 10 × ln 2, 8 × between, 3 × ln 4
		{2, ln2*3/4 + ln4/4}, // ln 2, ln 2, ln 4: averages 3 × ln 2, 2 × between, ln 4
		{3, HodgesLehmann([]float64{math.Log(8.0 / 4), math.Log(20.0 / 6)})},
		{4, math.Log(2.8)}, // two left over join the only block: 28 over 10
		{6, math.Log(2.8)},
		{100, math.Log(2.8)},
		{0, (ln2 + ln4) / 2}, // as 1
	} {
		if got := BlockEffect(a, b, c.block); !isNear(got, c.want) {
			t.Errorf("blocks of %d: %v, want %v", c.block, got, c.want)
		}
	}
}

func TestBlockEffectLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 0))
	for range 100 {
		n := 1 + r.IntN(64)
		a, b := make([]Point, n), make([]Point, n)
		for i := range a {
			a[i] = Point{1 + r.Int64N(100), 1 + 1e6*r.Float64()}
			b[i] = Point{1 + r.Int64N(100), 1 + 1e6*r.Float64()}
		}
		block := 1 + r.IntN(n)
		e := BlockEffect(a, b, block)
		if got := BlockEffect(b, a, block); !isNear(got, -e) {
			t.Errorf("the reverse of %v is %v", e, got)
		}
		dear := make([]Point, n)
		for i, p := range a {
			dear[i] = Point{p.Ops, 3 * p.NS}
		}
		if got := BlockEffect(dear, b, block); !isNear(got, e+math.Log(3)) {
			t.Errorf("three times the cost moves %v to %v", e, got)
		}
		if got := BlockEffect(a, a, block); got != 0 {
			t.Errorf("against itself: %v", got)
		}
		if got, want := BlockEffect(a, b, n), SumEffect(a, b); !isNear(got, want) {
			t.Errorf("one block gives %v, the sums %v", got, want)
		}
	}
}

// One slice that was descheduled moves the sums but hardly the blocks.
func TestBlockEffectIsRobust(t *testing.T) {
	a, b := makePoints(make([]float64, 16)...), makePoints(make([]float64, 16)...)
	for i := range a {
		a[i].NS, b[i].NS = 20+float64(i%3), 10+float64(i%2)
	}
	calm, sums := BlockEffect(a, b, 2), SumEffect(a, b)
	a[5].NS *= 50
	if got := BlockEffect(a, b, 2); math.Abs(got-calm) > 0.1 {
		t.Errorf("blocks moved from %v to %v", calm, got)
	}
	if got := SumEffect(a, b); got-sums < 1 {
		t.Errorf("sums moved from %v only to %v", sums, got)
	}
}

func TestBlockEffectWithoutWork(t *testing.T) {
	good := makePoints(1, 1, 1, 1)
	for name, bad := range map[string][]Point{
		"no slices":     nil,
		"no operations": {{0, 5}, {0, 5}, {1, 5}, {1, 5}},
		"no cost":       {{5, 0}, {5, 0}, {5, 1}, {5, 1}},
		"negative cost": {{5, -3}, {5, 1}, {5, 1}, {5, 1}},
	} {
		if got := BlockEffect(bad, good, 2); !math.IsNaN(got) {
			t.Errorf("%s: %v", name, got)
		}
		if got := BlockEffect(good, bad, 2); !math.IsNaN(got) {
			t.Errorf("%s below the line: %v", name, got)
		}
	}
	if got := BlockEffect(makePoints(2, 2, 2), makePoints(1, 1), 1); !isNear(got, math.Ln2) {
		t.Errorf("unpaired slice not ignored: %v", got)
	}
}
