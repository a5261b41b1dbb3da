package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEquivalent(t *testing.T) {
	m := math.Log1p(0.03)
	for _, c := range []struct {
		lo, hi float64
		want   bool
	}{{-0.01, 0.02, true}, {-m, m, true}, {-0.01, 0.03, false}, {-0.03, 0, false}, {0.5, 0.6, false}, {math.Inf(-1), math.Inf(1), false}} {
		if got := Equivalent(c.lo, c.hi, 0.03); got != c.want {
			t.Errorf("Equivalent(%v, %v) = %v", c.lo, c.hi, got)
		}
	}
}

// normalSample returns n values at the quantiles of a normal distribution, with estimate
// at and standard deviation about sd: a sample without chance.
func normalSample(n int, at, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = at + sd*normalQuantile(1-(float64(i)+0.5)/float64(n))
	}
	return x
}

func TestRoundsNeeded(t *testing.T) {
	level := LookLevel(0.05, 7)
	for _, c := range []struct {
		name   string
		x      []float64
		limits []float64
		want   int
		ok     bool
	}{
		{"clear already", normalSample(20, -0.5, 0.05), []float64{0}, 20, true},
		{"on the limit", normalSample(20, 0, 0.05), []float64{0}, 500, false},
		{"hopeless", normalSample(20, 0.001, 0.1), []float64{0}, 500, false},
		{"no spread, too few", []float64{0.3, 0.3, 0.3, 0.3}, []float64{0}, 8, true},
		{"no data", nil, []float64{0}, 500, false},
		{"one round", []float64{1}, []float64{0}, 500, false},
	} {
		n, ok := RoundsNeeded(c.x, level, 500, c.limits...)
		if n != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, n, ok, c.want, c.ok)
		}
	}
}

func TestRoundsNeededLaws(t *testing.T) {
	level := LookLevel(0.05, 7)
	last := 0
	for _, distance := range []float64{0.06, 0.05, 0.03, 0.02, 0.01} {
		n, ok := RoundsNeeded(normalSample(12, distance, 0.1), level, 5000, 0)
		if !ok || n < last || n <= 12 {
			t.Errorf("distance %v: %d rounds (%v), %d for more", distance, n, ok, last)
		}
		last = n
	}
	// Either side of a margin: the nearer one decides.
	near, _ := RoundsNeeded(normalSample(12, 0.02, 0.1), level, 5000, -0.05, 0.05)
	same, _ := RoundsNeeded(normalSample(12, 0.02, 0.1), level, 5000, 0.05)
	if near != same {
		t.Errorf("two limits need %d rounds, the nearer alone %d", near, same)
	}
	// Half the distance, four times the rounds.
	a, _ := RoundsNeeded(normalSample(40, 0.04, 0.2), level, 100000, 0)
	b, _ := RoundsNeeded(normalSample(40, 0.02, 0.2), level, 100000, 0)
	if r := float64(b) / float64(a); math.Abs(r-4) > 0.1 {
		t.Errorf("half the distance takes %d rounds instead of %d", b, a)
	}
}

// A study of as many rounds as forecast clears the limit about four times in
// five.
func TestRoundsNeededPower(t *testing.T) {
	level := LookLevel(0.05, 7)
	const distance, sd, studies = 0.04, 0.09, 1500
	n, ok := RoundsNeeded(normalSample(18, distance, sd), level, 500, 0)
	if !ok {
		t.Fatal("no forecast")
	}
	r := rand.New(rand.NewPCG(8, 0))
	null := SignedRankNull(n)
	cleared := 0
	for range studies {
		x := make([]float64, n)
		for i := range x {
			x[i] = distance + sd*r.NormFloat64()
		}
		if 2*null[signedRank(x)] <= level {
			cleared++
		}
	}
	t.Logf("forecast %d rounds; %d of %d studies of that length are clear", n, cleared, studies)
	if share := float64(cleared) / studies; share < 0.72 || share > 0.90 {
		t.Errorf("%.3f of studies are clear after %d rounds, want about 0.8", share, n)
	}
}

// Effects of the size that Detectable names are found in 80 % of simulated
// studies; those as large as the half width in half of them.
func TestDetectable(t *testing.T) {
	const rounds, level = 40, 0.05
	studies := chooseCount(1000, 4000)
	random := rand.New(rand.NewPCG(1, 2))
	widths := make([]float64, studies)
	draws := make([][]float64, studies)
	for i := range draws {
		draws[i] = make([]float64, rounds)
		for j := range draws[i] {
			draws[i][j] = random.NormFloat64()
		}
		widths[i], _ = HalfWidth(draws[i], level)
	}
	half := Median(widths)
	for effect, want := range map[float64]float64{half: 0.5, Detectable(half, level): 0.8} {
		found := 0
		for _, x := range draws {
			if HodgesLehmann(x)+effect > half {
				found++
			}
		}
		if got := float64(found) / float64(studies); math.Abs(got-want) > 0.03 {
			t.Errorf("an effect of %v is found in %v, want %v", effect, got, want)
		}
	}
}
