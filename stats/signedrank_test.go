package stats

import (
	"math"
	"math/bits"
	"testing"
)

func TestSignedRankNullAgainstBruteForce(t *testing.T) {
	for n := 1; n <= 12; n++ {
		count := make([]int, n*(n+1)/2+1)
		for signs := range 1 << n {
			w := 0
			for s := uint(signs); s != 0; s &= s - 1 {
				w += bits.TrailingZeros(s) + 1
			}
			count[w]++
		}
		below := 0
		for w, c := range count {
			below += c
			if got, want := SignedRankCDF(n, w), float64(below)/float64(int(1)<<n); got != want {
				t.Errorf("P(W ≤ %d) for %d rounds = %v, want %v", w, n, got, want)
			}
		}
		if SignedRankCDF(n, -1) != 0 || SignedRankCDF(n, len(count)) != 1 {
			t.Errorf("the distribution for %d rounds does not run from 0 to 1", n)
		}
	}
}

func TestSignedRankNullLarge(t *testing.T) {
	for _, n := range []int{60, 180, 300} {
		null := SignedRankNull(n)
		if null[0] != math.Ldexp(1, -n) {
			t.Errorf("P(W = 0) for %d rounds = %g", n, null[0])
		}
		// Symmetric about n(n+1)/4, variance n(n+1)(2n+1)/24.
		m, sum, square := n*(n+1)/2, 0.0, 0.0
		for w := range null {
			p := null[w]
			if w > 0 {
				p -= null[w-1]
			}
			d := float64(w) - float64(m)/2
			sum += p * d
			square += p * d * d
		}
		want := float64(n*(n+1)*(2*n+1)) / 24
		if math.Abs(sum) > 1e-6 || math.Abs(square/want-1) > 1e-9 {
			t.Errorf("%d rounds: mean off by %g, variance %g, want %g", n, sum, square, want)
		}
	}
}

// Two-sided critical values as printed in the usual tables.
func TestCriticalValues(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha float64
		want  int
	}{
		{5, 0.05, -1}, {6, 0.05, 0}, {7, 0.05, 2}, {8, 0.05, 3}, {9, 0.05, 5}, {10, 0.05, 8},
		{12, 0.05, 13}, {15, 0.05, 25}, {20, 0.05, 52}, {25, 0.05, 89}, {30, 0.05, 137},
		{7, 0.01, -1}, {8, 0.01, 0}, {9, 0.01, 1}, {10, 0.01, 3}, {12, 0.01, 7},
		{15, 0.01, 15}, {20, 0.01, 37}, {25, 0.01, 68}, {30, 0.01, 109},
	} {
		if got := criticalRank(c.n, c.alpha); got != c.want {
			t.Errorf("critical value for %d rounds at %g = %d, want %d", c.n, c.alpha, got, c.want)
		}
	}
}

// Beyond the exact table probabilities are those of the normal distribution:
// never too small where they matter, and hardly too large.
func TestManyRounds(t *testing.T) {
	for _, n := range []int{MaxRounds + 1, 270, 400} {
		exact := SignedRankNull(n)
		for _, alpha := range []float64{0.05, 0.01, 0.001, 0.0001} {
			k, want := criticalRank(n, alpha), criticalOf(exact, alpha)
			if k > want || float64(want-k) > 0.006*float64(want) {
				t.Errorf("critical value for %d rounds at %g = %d, exactly %d", n, alpha, k, want)
			}
			if p := 2 * SignedRankCDF(n, k); p > alpha || 2*SignedRankCDF(n, k+1) <= alpha {
				t.Errorf("%d rounds: P at the critical value of %g is %g", n, alpha, p)
			}
		}
	}
}

// The depression scores of Hollander and Wolfe, table 3.1 (after less before),
// with the answers of the book: p = 0.039, estimate −0.46, and (−0.786, −0.010)
// at 1 − 0.0390625.
func TestPublishedExample(t *testing.T) {
	x := []float64{-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010}
	if got := SignedRankP(x); got != 0.0390625 {
		t.Errorf("p = %v, want 0.0390625", got)
	}
	if got := HodgesLehmann(x); math.Abs(got+0.46) > 1e-12 {
		t.Errorf("estimate = %v, want −0.46", got)
	}
	lo, hi, ok := Interval(x, 0.05)
	if !ok || math.Abs(lo+0.786) > 1e-12 || math.Abs(hi+0.010) > 1e-12 {
		t.Errorf("interval = %v … %v, want −0.786 … −0.010", lo, hi)
	}
}

func TestSignedRankPLaws(t *testing.T) {
	for seed := range uint64(60) {
		x := transformValues(normals(1+int(seed)%20, seed), 1, 0.4)
		p := SignedRankP(x)
		if p <= 0 || p > 1 {
			t.Fatalf("p = %v", p)
		}
		if got := SignedRankP(transformValues(x, -1, 0)); got != p {
			t.Errorf("p changes with the sign: %v, %v", got, p)
		}
		if got := SignedRankP(transformValues(x, 1e-3, 0)); got != p {
			t.Errorf("p changes with the unit: %v, %v", got, p)
		}
		// The textbook statistic: the sum of the ranks of the positive values.
		plus := 0
		for i := range x {
			rank := 0
			for j := range x {
				if math.Abs(x[j]) <= math.Abs(x[i]) {
					rank++
				}
			}
			if x[i] > 0 {
				plus += rank
			}
		}
		n := len(x)
		if got, want := signedRank(x), min(plus, n*(n+1)/2-plus); got != want {
			t.Errorf("statistic = %d, by ranks %d", got, want)
		}
	}
}

// Ties and zeros: p is at least what any way of breaking them gives, and the
// dual interval contains zero exactly where p says so.
func TestTiesAreConservative(t *testing.T) {
	for _, x := range [][]float64{
		{0, 0, 0, 0, 0, 0},
		{0, 1, 1, 1, 1, 1, 1, 1},
		{-1, 1, 1, 1, 1, 1, 1, 1, 1},
		{-2, 2, -1, 1, 3, 3, 3, 4, 0, 5},
	} {
		p := SignedRankP(x)
		for seed := range uint64(100) {
			broken := normals(len(x), seed)
			for i := range broken {
				broken[i] = x[i] + 1e-9*broken[i]
			}
			if q := SignedRankP(broken); q > p {
				t.Errorf("%v: p = %v, with ties broken %v", x, p, q)
			}
		}
	}
	if p := SignedRankP([]float64{0, 0, 0, 0, 0, 0, 0, 0}); p != 1 {
		t.Errorf("no difference at all has p = %v", p)
	}
	// Every round says the same, as allocation counts do: as sure as can be.
	if p := SignedRankP([]float64{2, 2, 2, 2, 2, 2, 2, 2}); p != math.Ldexp(1, -7) {
		t.Errorf("eight equal differences have p = %v, want 2^−7", p)
	}
	if p := SignedRankP(nil); p != 1 {
		t.Errorf("no rounds have p = %v", p)
	}
}

func TestIntervalIsDualToP(t *testing.T) {
	for seed := range uint64(300) {
		x := transformValues(normals(2+int(seed)%30, seed), 1, 0.5)
		if seed%3 == 0 { // coarse, so that ties and zeros occur
			for i := range x {
				x[i] = math.Round(2*x[i]) / 2
			}
		}
		for _, alpha := range []float64{0.3, 0.05, 0.0121669699, 0.001} {
			lo, hi, ok := Interval(x, alpha)
			if ok != (len(x) >= MinRounds(alpha)) {
				t.Fatalf("%d rounds at %g: ok = %v", len(x), alpha, ok)
			}
			if rejects, excludes := SignedRankP(x) <= alpha, lo > 0 || hi < 0; rejects != excludes {
				t.Errorf("%v at %g: p = %v, interval %v … %v", x, alpha, SignedRankP(x), lo, hi)
			}
		}
	}
}

func TestIntervalLaws(t *testing.T) {
	for seed := range uint64(100) {
		x := normals(8+int(seed)%40, seed)
		lo, hi, ok := Interval(x, 0.05)
		if hl := HodgesLehmann(x); !ok || lo > hl || hl > hi {
			t.Errorf("%v … %v (%v) does not hold the estimate %v", lo, hi, ok, hl)
		}
		if l, h, _ := Interval(transformValues(x, 2, 5), 0.05); !isNear(l, 2*lo+5) || !isNear(h, 2*hi+5) {
			t.Errorf("interval of 2x + 5 = %v … %v, of x %v … %v", l, h, lo, hi)
		}
		if l, h, _ := Interval(transformValues(x, -1, 0), 0.05); !isNear(l, -hi) || !isNear(h, -lo) {
			t.Errorf("interval of −x = %v … %v, of x %v … %v", l, h, lo, hi)
		}
		if l, h, _ := Interval(x, 0.01); l > lo || h < hi {
			t.Errorf("the 99 %% interval %v … %v is inside the 95 %% one %v … %v", l, h, lo, hi)
		}
	}
	if lo, hi, ok := Interval(normals(5, 1), 0.05); ok || !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("five rounds at 5 %% gave %v … %v, %v", lo, hi, ok)
	}
	if lo, hi, ok := Interval([]float64{3, 3, 3, 3, 3, 3}, 0.05); !ok || lo != 3 || hi != 3 {
		t.Errorf("six equal rounds gave %v … %v, %v", lo, hi, ok)
	}
}

func TestMinRounds(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		want  int
	}{{1, 1}, {0.5, 2}, {0.05, 6}, {0.01, 8}, {0.001, 11}, {1.0 / 128, 8}, {0.00488, 9}, {0, 0}, {-1, 0}} {
		if got := MinRounds(c.alpha); got != c.want {
			t.Errorf("MinRounds(%g) = %d, want %d", c.alpha, got, c.want)
		}
	}
}
