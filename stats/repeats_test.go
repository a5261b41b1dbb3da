package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of tables of rows whose sides do not differ, the interval excludes 1 in about one row of
// a hundred at 1 %, and in fewer where rows vary as much as the others; scaling changes
// nothing.
func TestRepeatsCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 4000
	for _, tt := range []struct {
		name string
		sd   func() float64 // of a row
		most float64
	}{
		{"one spread", func() float64 { return 0.001 }, 0.013},
		{"a tenth of the rows varies ten times as much", func() float64 {
			if rng.IntN(10) == 0 {
				return 0.01
			}
			return 0.001
		}, 0.015},
		{"less than is assumed at least", func() float64 { return 0.00001 }, 0},
	} {
		table := make([]Repeats, rows)
		for i := range table {
			sd := tt.sd()
			side := func() []float64 {
				return []float64{1e4 * math.Exp(sd*rng.NormFloat64()), 1e4 * math.Exp(sd*rng.NormFloat64())}
			}
			table[i] = Repeats{side(), side()}
		}
		usual, wrong := RepeatVariance(table), 0
		for _, r := range table {
			ratio, low, high := r.Compare(usual, 0, 0.01)
			if low > 1 || high < 1 {
				wrong++
			}
			if low >= ratio || ratio >= high {
				t.Fatalf("%s: %g is not in %g to %g", tt.name, ratio, low, high)
			}
		}
		if share := float64(wrong) / rows; share > tt.most {
			t.Errorf("%s: %.4f of the rows differ, at most %g should", tt.name, share, tt.most)
		}
	}
	usual := UsualVariance{Variance: 1e-6, Free: 4}
	a, b := Repeats{[]float64{100, 101}, []float64{110, 111}}, Repeats{[]float64{1e5, 1.01e5}, []float64{1.1e5, 1.11e5}}
	ra, la, ha := a.Compare(usual, 0, 0.01)
	rb, lb, hb := b.Compare(usual, 0, 0.01)
	if math.Abs(ra-rb)+math.Abs(la-lb)+math.Abs(ha-hb) > 1e-12 {
		t.Errorf("scaled: %g (%g to %g) and %g (%g to %g)", ra, la, ha, rb, lb, hb)
	}
	shared := Repeats{[]float64{100, 130, 80}, []float64{110, 143, 88}} // pairs vary together
	if ratio, low, high := shared.Compare(usual, 0, 0.01); math.Abs(ratio-1.1) > 1e-12 || high-low > 0.01 {
		t.Errorf("pairs that vary together: %g (%g to %g)", ratio, low, high)
	}
	short := Repeats{[]float64{100, 130, 80}, []float64{110, 143}} // the last value has no partner
	if ratio, _, _ := short.Compare(usual, 0, 0.01); math.Abs(ratio-1.1) > 1e-12 {
		t.Errorf("a value without a partner: %g", ratio)
	}
	if _, low, high := (Repeats{[]float64{36, 36}, []float64{36.5, 36.5}}).Compare(UsualVariance{}, 1, 0.01); low > 1 || high < 1 {
		t.Errorf("half an instruction of 36 differs: %g to %g", low, high)
	}
}

// Also in tables of few rows the interval excludes 1 in about one row of a hundred: a row by itself
// has no usual variance but its own.
func TestRepeatsOfFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rows := range []int{1, 2, 5} {
		const tables, most = 1500, 0.018
		wrong, all := 0, 0
		for range tables {
			table := make([]Repeats, rows)
			for i := range table {
				side := func() []float64 {
					return []float64{1e4 * math.Exp(0.01*rng.NormFloat64()), 1e4 * math.Exp(0.01*rng.NormFloat64())}
				}
				table[i] = Repeats{side(), side()}
			}
			usual := RepeatVariance(table)
			for _, r := range table {
				if _, low, high := r.Compare(usual, 0, 0.01); low > 1 || high < 1 {
					wrong++
				}
				all++
			}
		}
		share := float64(wrong) / float64(all)
		t.Logf("%d rows: %.4f", rows, share)
		if share > most {
			t.Errorf("tables of %d rows: %.4f of the rows differ, at most %g should", rows, share, most)
		}
	}
	once := Repeats{[]float64{1e4}, []float64{1e4}}
	if _, low, high := once.Compare(RepeatVariance([]Repeats{once}), 0, 0.01); low >= 1 || high <= 1 || high > 1.01 {
		t.Errorf("nothing was repeated: %g to %g", low, high)
	}
}

func TestRepeatsExact(t *testing.T) {
	for _, tt := range []struct {
		base, head []float64
		ok         bool
	}{
		{[]float64{36.03, 35.9}, []float64{37.1, 37}, true},
		{[]float64{36, 36}, []float64{36.54, 36.5}, false}, // moved by where data lies
		{[]float64{9785, 9791}, []float64{13345, 13345}, false},
		{[]float64{0.1, 0.1}, []float64{5, 5}, false},
		{[]float64{36}, []float64{37}, false}, // two fifths of all counts are as close to an integer by luck
		{[]float64{36, 36}, []float64{37}, false},
	} {
		base, head, ok := Repeats{tt.base, tt.head}.Exact()
		if ok != tt.ok || ok && (base != 36 || head != 37) {
			t.Errorf("%v, %v: %g and %g, exact %v", tt.base, tt.head, base, head, ok)
		}
	}
	if base, head, ok := (Repeats{[]float64{36.03}, []float64{35.9}}).Exact(); !ok || base != 36 || head != 36 {
		t.Errorf("one count of each side, the same integer: %g and %g, exact %v", base, head, ok)
	}
}
