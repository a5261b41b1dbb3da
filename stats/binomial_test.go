package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBinomialCDF(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, p := range []float64{0.5, 0.03, 0.9} {
			sum := 0.0
			for k := range n + 1 {
				choose := 1.0
				for i := range k {
					choose = choose * float64(n-i) / float64(i+1)
				}
				sum += choose * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				if got := binomialCDF(k, n, p); math.Abs(got-sum) > 1e-12 {
					t.Errorf("P(Bin(%d, %g) ≤ %d) = %v, want %v", n, p, k, got, sum)
				}
			}
		}
	}
}

// Positions of the limits as printed in tables of the sign test.
func TestOrderIntervalPositions(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha float64
		k     int // from either end, counted from 1; 0: none
	}{{5, 0.05, 0}, {6, 0.05, 1}, {8, 0.05, 1}, {9, 0.05, 2}, {10, 0.05, 2}, {12, 0.05, 3}, {20, 0.05, 6}, {30, 0.05, 10}, {100, 0.05, 40}, {7, 0.01, 0}, {8, 0.01, 1}, {20, 0.01, 4}, {6, 1.0 / 32, 1}} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64(c.n - i)
		}
		lo, hi, ok := OrderInterval(x, c.alpha)
		if c.k == 0 {
			if ok || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
				t.Errorf("%d values at %g gave %v … %v, %v", c.n, c.alpha, lo, hi, ok)
			}
			continue
		}
		if !ok || lo != float64(c.k) || hi != float64(c.n+1-c.k) {
			t.Errorf("%d values at %g gave %v … %v, want the %d-th from either end", c.n, c.alpha, lo, hi, c.k)
		}
	}
}

// The interval for a median makes no assumption about shape: its coverage on a
// very skewed distribution is what the binomial says.
func TestOrderIntervalCoverage(t *testing.T) {
	const studies, n = 4000, 15
	r := rand.New(rand.NewPCG(3, 0))
	missed := 0
	for range studies {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Exp(2 * r.NormFloat64()) // median 1
		}
		if lo, hi, _ := OrderInterval(x, 0.05); lo > 1 || hi < 1 {
			missed++
		}
	}
	want := 2 * binomialCDF(3, n, 0.5) // 0.0352
	if got := float64(missed) / studies; math.Abs(got-want) > 4*math.Sqrt(want/studies) {
		t.Errorf("missed %.4f of studies, want %.4f", got, want)
	}
}

func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{0, 10, 0, 0.3084971},
		{10, 10, 0.6915029, 1},
		{10, 100, 0.0490047, 0.1762226},
		{1, 2, 0.0125791, 0.9874209},
		{0, 0, 0, 1},
	} {
		lo, hi := ClopperPearson(c.k, c.n, 0.05)
		if math.Abs(lo-c.lo) > 1e-6 || math.Abs(hi-c.hi) > 1e-6 {
			t.Errorf("ClopperPearson(%d, %d) = %.7f … %.7f, want %.7f … %.7f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
	for n := 1; n <= 60; n += 7 {
		for k := range n + 1 {
			lo, hi := ClopperPearson(k, n, 0.01)
			if at := float64(k) / float64(n); lo > at || hi < at {
				t.Errorf("%d of %d: %v … %v does not hold the share", k, n, lo, hi)
			}
			if l, h := ClopperPearson(n-k, n, 0.01); !isNear(l, 1-hi) || !isNear(h, 1-lo) {
				t.Errorf("%d of %d is not the mirror of %d", k, n, n-k)
			}
			if k > 0 && math.Abs(1-binomialCDF(k-1, n, lo)-0.005) > 1e-9 {
				t.Errorf("%d of %d: tail at the lower limit is %v", k, n, 1-binomialCDF(k-1, n, lo))
			}
			if k < n && math.Abs(binomialCDF(k, n, hi)-0.005) > 1e-9 {
				t.Errorf("%d of %d: tail at the upper limit is %v", k, n, binomialCDF(k, n, hi))
			}
		}
	}
}
