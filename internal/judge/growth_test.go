package judge

import (
	"math"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// TestGrowth: an exponent of 0.6 is neither proportional nor constant, and is
// what it is.
func TestGrowth(t *testing.T) {
	claim := tare.Claim{ID: "g", Kind: tare.ClaimGrowth, Contender: "lean", Metric: "time", Workloads: []string{"small", "middle", "large"}, Statement: "s"}
	for _, c := range []struct {
		value  float64
		rounds int
		want   tare.Outcome
		why    string // in it
	}{
		{0.6, 18, tare.Holds, "time grows as bytes^0."},
		{0.65, 18, tare.Holds, ", 95 %, 18 rounds)"},
		{1, 18, tare.Refuted, ", and was published as bytes^1"},
		{0, 18, tare.Refuted, ", and was published as bytes^0"},
		{0.6, 4, tare.ClaimOpen, "no interval after 4 rounds"},
	} {
		d := grown(1, c.rounds, 0.6)
		claim.Value = c.value
		d.Study.Claims = []tare.Claim{claim}
		r := claimed(d)
		if r.Outcome != c.want || !strings.Contains(r.Why, c.why) || r.Published != c.value || r.Measured < 0.5 || r.Measured > 0.7 {
			t.Errorf("as size^%v after %d rounds: %+v", c.value, c.rounds, r)
		}
	}
	d := grown(1, 18, 0.6)
	claim.Workloads = []string{"large", "small", "middle"}
	d.Study.Claims = []tare.Claim{claim}
	if r := claimed(d); r.Outcome != tare.NotMeasured || !strings.HasPrefix(r.Why, "no exponent is fitted over large, small, middle") {
		t.Errorf("in another order: %+v", r)
	}
	r := Claims(d, nil, nil, []tare.Finding{{Check: "x", Severity: tare.Void, Contender: "lean", Workload: "small", Message: "m"}}, nil)[0]
	if r.Outcome != tare.NotMeasured || r.Why != "small: void by x: m" {
		t.Errorf("void: %+v", r)
	}
}

// A fixed cost for each call makes the line through logarithms flat, and leaves time
// in proportion to size.
func TestGrowthBeyondAFixedCost(t *testing.T) {
	f := fake{workloads: []string{"a", "b", "c", "d", "e"}, cost: map[string]float64{"lean": 1000}, rounds: 18, slices: 2, roundSD: 0.05, sliceSD: 0.02}
	sizes := map[string]float64{"a": 2, "b": 16, "c": 128, "d": 1024, "e": 8192}
	for _, c := range []struct {
		name  string
		took  func(size float64) float64 // times 1 µs
		value float64
		want  tare.Outcome
	}{
		{"linear", func(n float64) float64 { return 1 + n/200 }, 1, tare.Holds},
		{"linear, no cost", func(n float64) float64 { return n / 2 }, 1, tare.Holds},
		{"a root", func(n float64) float64 { return 1 + math.Sqrt(n) }, 1, tare.Refuted},
		{"a square", func(n float64) float64 { return 1 + n*n/1e4 }, 1, tare.Refuted},
		{"a square, as published", func(n float64) float64 { return 1 + n*n/1e4 }, 2, tare.Holds},
	} {
		d := f.data(seeded(7))
		for i := range d.Study.Workloads {
			w := &d.Study.Workloads[i]
			w.Fixture, w.Op, w.Pool, w.Bytes = "blobs", "copy", 1, int64(sizes[w.ID])
		}
		for i := range d.Slices {
			s := &d.Slices[i]
			s.WallNS = int64(float64(s.WallNS) * c.took(sizes[s.Workload]))
		}
		d.Study.Claims = []tare.Claim{{ID: "g", Kind: tare.ClaimGrowth, Contender: "lean", Metric: "time", Workloads: f.workloads, Value: c.value, Statement: "s"}}
		r := claimed(d)
		if r.Outcome != c.want || !strings.HasPrefix(r.Why, "beyond a fixed cost, ") {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// An exponent that could be anything confirms nothing: with noise of a factor
// of e between rounds every published value stays open.
func TestGrowthInNoise(t *testing.T) {
	d := grown(3, 18, 0.6)
	random := seeded(4)
	scale := map[[2]any]float64{}
	for i := range d.Slices {
		s := &d.Slices[i]
		k := [2]any{s.Round, s.Workload}
		if scale[k] == 0 {
			scale[k] = math.Exp(3 * random.NormFloat64())
		}
		if s.Contender == "lean" {
			s.WallNS = int64(float64(s.WallNS) * scale[k])
		}
	}
	for _, value := range []float64{0.3, 0.5, 0.7} {
		d.Study.Claims = []tare.Claim{{ID: "g", Kind: tare.ClaimGrowth, Contender: "lean", Metric: "time", Workloads: []string{"small", "middle", "large"}, Statement: "s", Value: value}}
		if r := claimed(d); r.Outcome != tare.ClaimOpen {
			t.Errorf("as size^%v: %+v", value, r)
		}
	}
}
