package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draws returns n durations between about 1 µs and 10 s from a fixed seed. Most of them are small,
// like latencies.
func draws(n int, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(1000 * math.Exp(r.Float64()*r.Float64()*math.Log(1e7)))
	}
	return x
}

func of(values ...int64) *Hist {
	h := new(Hist)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestBucketsAreNarrowAndWithoutGaps(t *testing.T) {
	if minOf(0) != 0 || maxOf(bucketCount-1) != Top || bucketOf(Top) != bucketCount-1 {
		t.Fatalf("buckets go from %d to %d, Top is in %d of %d", minOf(0), maxOf(bucketCount-1), bucketOf(Top), bucketCount)
	}
	for i := range bucketCount {
		lo, hi := minOf(i), maxOf(i)
		if bucketOf(lo) != i || bucketOf(hi) != i {
			t.Fatalf("bucket %d holds %d to %d, which are put into %d and %d", i, lo, hi, bucketOf(lo), bucketOf(hi))
		}
		if i > 0 && lo != maxOf(i-1)+1 {
			t.Fatalf("bucket %d begins at %d, the one before ends at %d", i, lo, maxOf(i-1))
		}
		if width := hi - lo + 1; lo >= 128 && float64(width) > 0.01*float64(lo) {
			t.Fatalf("bucket %d is %d wide at %d: more than 1 %%", i, width, lo)
		}
	}
}

func TestQuantilesAreWithinOnePercent(t *testing.T) {
	for seed := range uint64(20) {
		x := draws(1+int(seed)*500, seed)
		h := of(x...)
		slices.Sort(x)
		for _, q := range []float64{0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1} {
			want := x[max(0, int(math.Ceil(q*float64(len(x))))-1)]
			if got := h.Quantile(q); math.Abs(float64(got-want)) > 0.01*float64(want) {
				t.Fatalf("seed %d: quantile %v is %d, want %d within 1 %%", seed, q, got, want)
			}
		}
		if h.Min() != x[0] || h.Max() != x[len(x)-1] {
			t.Fatalf("seed %d: min %d, max %d; want %d, %d", seed, h.Min(), h.Max(), x[0], x[len(x)-1])
		}
	}
}

func TestMergeIsConcatenation(t *testing.T) {
	for seed := range uint64(20) {
		x := draws(700, seed)
		cut := int(seed) * 35
		a, b := of(x[:cut]...), of(x[cut:]...)
		a.Merge(b)
		if whole := of(x...); *a != *whole {
			t.Fatalf("seed %d, cut at %d: merged %s, want %s", seed, cut, a.Encode(), whole.Encode())
		}
		a.Merge(nil)
		a.Merge(new(Hist))
		if *a != *of(x...) {
			t.Fatal("merging nothing changed something")
		}
	}
}

func TestScale(t *testing.T) {
	x := draws(2000, 3)
	scaled := make([]int64, len(x))
	for i, v := range x {
		scaled[i] = 17 * v
	}
	a, b := of(x...), of(scaled...)
	for _, q := range []float64{0, 0.3, 0.5, 0.99, 1} {
		if got, want := float64(b.Quantile(q)), 17*float64(a.Quantile(q)); math.Abs(got-want) > 0.01*want {
			t.Errorf("quantile %v of values 17 times as large: %v, want %v", q, got, want)
		}
	}
	for _, c := range [][2]float64{{b.Mean(), 17 * a.Mean()}, {b.SD(), 17 * a.SD()}} {
		if math.Abs(c[0]-c[1]) > 1e-9*c[1] {
			t.Errorf("mean or deviation of values 17 times as large: %v, want %v", c[0], c[1])
		}
	}
}

func TestMoments(t *testing.T) {
	h := of(2, 4, 4, 4, 5, 5, 7, 9)
	if h.Mean() != 5 || math.Abs(h.SD()-math.Sqrt(32.0/7)) > 1e-12 {
		t.Errorf("mean %v, deviation %v; want 5, %v", h.Mean(), h.SD(), math.Sqrt(32.0/7))
	}
	// A common offset of half an hour does not swallow a deviation of 1 ns.
	if far := of(Top/2-1, Top/2+1); math.Abs(far.SD()-math.Sqrt2) > 1e-12 {
		t.Errorf("deviation of two values 2 ns apart, half an hour up: %v", far.SD())
	}
	if h := of(3); h.SD() != 0 || h.Mean() != 3 {
		t.Errorf("one value: mean %v, deviation %v", h.Mean(), h.SD())
	}
}

func TestEmpty(t *testing.T) {
	h := new(Hist)
	if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.SD() != 0 || h.Quantile(0.5) != 0 || h.Above(-1) != 0 {
		t.Error("an empty histogram has figures")
	}
}

func TestRangeEnds(t *testing.T) {
	h := of(-5, Top, Top+1, math.MaxInt64)
	if h.Count() != 4 || h.Over() != 2 || h.Min() != 0 || h.Max() != Top || h.Quantile(1) != Top {
		t.Errorf("count %d, over %d, min %d, max %d", h.Count(), h.Over(), h.Min(), h.Max())
	}
	if got := h.Quantile(math.NaN()); got != 0 {
		t.Errorf("quantile NaN: %d", got)
	}
}

func TestAbove(t *testing.T) {
	h := of(10, 20, 30, 1000, 1e6, 1e9)
	for x, want := range map[int64]int64{-1: 6, 0: 6, 9: 6, 10: 5, 20: 4, 29: 4, 30: 3, 2000: 2, 2e6: 1, 2e9: 0, Top: 0, math.MaxInt64: 0} {
		if got := h.Above(x); got != want {
			t.Errorf("above %d: %d, want %d", x, got, want)
		}
	}
	x := draws(3000, 9)
	h = of(x...)
	for _, limit := range x[:50] {
		least, most := int64(0), int64(0)
		for _, v := range x {
			if float64(v) > 1.01*float64(limit) {
				least++
			}
			if v > limit {
				most++
			}
		}
		if got := h.Above(limit); got < least || got > most {
			t.Fatalf("above %d: %d, want %d to %d", limit, got, least, most)
		}
	}
}

func TestReset(t *testing.T) {
	h := of(draws(500, 1)...)
	h.Record(Top + 1)
	if h.Reset(); *h != (Hist{}) {
		t.Error("something is left after Reset")
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := new(Hist)
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(v); v = v*3 + 1 }); n != 0 {
		t.Errorf("%v allocations a value", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	x := draws(1024, 5)
	h := new(Hist)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(x[i&1023])
	}
}

func BenchmarkMerge(b *testing.B) {
	h, o := new(Hist), of(draws(100000, 5)...)
	for b.Loop() {
		h.Reset()
		h.Merge(o)
	}
}

// Bins contain exactly the values of the histogram: every value is counted once, in a range that
// contains it.
func TestBins(t *testing.T) {
	var h Hist
	want := map[int64]int64{} // by lower end, of four to a doubling
	for v := int64(1); v < 3e9; v += v/37 + 1 {
		h.Record(v)
		width := int64(1)
		for width*8 <= v {
			width *= 2
		}
		want[v/width*width]++
	}
	bins := h.Bins(4)
	if len(bins) != len(want) {
		t.Errorf("%d ranges, want %d", len(bins), len(want))
	}
	var n, before int64
	for _, b := range bins {
		if b.Low < before || b.High <= b.Low || b.Count != want[b.Low] {
			t.Errorf("%+v after %d, want %d values", b, before, want[b.Low])
		}
		n, before = n+b.Count, b.High
	}
	if n != h.Count() || new(Hist).Bins(4) != nil {
		t.Errorf("%d values of %d", n, h.Count())
	}
}
