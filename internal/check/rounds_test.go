package check

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// leanEffects returns a study with effects x of lean against the baseline.
func leanEffects(x []float64) Input {
	in := soundStudy()
	in.Effects = append(in.Effects, tare.Effects{Workload: load, Metric: "time", A: "lean", B: base, Effects: x})
	return in
}

func TestAutocorrelation(t *testing.T) {
	wantNone(t, "autocorrelation", leanEffects(noisyEffects(newRandom(1), 40, -0.7, 0.05)))
	slow := make([]float64, 40) // the machine favours lean for ten rounds, then not
	for i, v := range noisyEffects(newRandom(2), 40, 0, 0.01) {
		slow[i] = v + 0.05*math.Sin(float64(i)/5)
	}
	f := runCheck(t, "autocorrelation", leanEffects(slow))
	if len(f) != 1 || f[0].Severity != tare.Warn || f[0].Contender != "lean" || f[0].Workload != load ||
		!strings.HasPrefix(f[0].Message, "the effect of a round goes along with that of the round before: correlation 0.9") {
		t.Errorf("found %+v", f)
	}
	turned := leanEffects(slow)
	turned.Effects[1].A, turned.Effects[1].B = base, "lean"
	if f := runCheck(t, "autocorrelation", turned); len(f) != 1 || f[0].Contender != "lean" {
		t.Errorf("stored the other way round: %+v", f)
	}
	up, down := leanEffects(slow), leanEffects(slow)
	up.Effects[1].Metric = "cpu"
	wantNone(t, "autocorrelation", up)
	down.Final = false
	wantNone(t, "autocorrelation", down)
	alternating := make([]float64, 40)
	for i := range alternating {
		alternating[i] = float64(i%2) + float64(i)/1000
	}
	wantNone(t, "autocorrelation", leanEffects(alternating))
	wantNone(t, "autocorrelation", leanEffects(slices.Repeat([]float64{0.1}, 40))) // the same in every round
	wantNone(t, "autocorrelation", leanEffects(slow[:9]))
}

func TestLagOne(t *testing.T) {
	// 1 … 10: nine steps of 1, spread 82.5.
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if r, _, ok := lagOne(up); !ok || math.Abs(r-(1-9/82.5/2)) > 1e-12 {
		t.Errorf("lag one of a rising sequence %v %v", r, ok)
	}
	if got := midRanks([]float64{7, 5, 7, 9}); !slices.Equal(got, []float64{2.5, 1, 2.5, 4}) {
		t.Errorf("ranks %v", got)
	}
	a, _, _ := lagOne([]float64{3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8})
	b, _, _ := lagOne([]float64{30, 10, 40, 15, 1e9, 20, 60, 50, 35, 80})
	if a != b {
		t.Errorf("%v and %v: more than the order counts", a, b)
	}
}

func TestBimodal(t *testing.T) {
	r := newRandom(3)
	wantNone(t, "bimodal", leanEffects(noisyEffects(r, 40, -0.7, 0.05)))
	two := func(n int, apart float64) []float64 {
		x := noisyEffects(r, n, -0.7, 0.004)
		for i := range x {
			if i%3 == 0 {
				x[i] += apart
			}
		}
		return x
	}
	f := runCheck(t, "bimodal", leanEffects(two(36, 0.1)))
	if len(f) != 1 || f[0].Severity != tare.Warn || f[0].Contender != "lean" || f[0].Workload != load ||
		f[0].Message != "the ratio to encoding-json has two humps: about 0.497 in 24 rounds and 0.548 in 12 rounds" {
		t.Errorf("found %+v", f)
	}
	in := leanEffects(nil)
	in.Effects[0].Effects = two(36, 0.1)
	if f := runCheck(t, "bimodal", in); len(f) != 1 || f[0].Contender != tare.ControlID {
		t.Errorf("two humps of the control: %+v", f)
	}
	wantNone(t, "bimodal", leanEffects(two(36, 0.028))) // closer than 3 %
	wantNone(t, "bimodal", leanEffects(two(11, 0.1)))
	early := leanEffects(two(36, 0.1))
	early.Final = false
	wantNone(t, "bimodal", early)
}

// What is known of the dip: its least value, its greatest, that it is the same
// for data shifted, scaled and mirrored, and two published values.
func TestDip(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("dip of %s is %v, want %v", what, got, want)
		}
	}
	even := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	near("evenly spaced values", computeDip(even), 1.0/20)
	near("equal values", computeDip([]float64{7, 7, 7, 7}), 1.0/8)
	near("two atoms", computeDip([]float64{0, 0, 0, 0, 1, 1, 1, 1}), 0.25)
	near("a third and two thirds", computeDip([]float64{0, 0, 0, 1, 1, 1, 1, 1, 1}), 1.0/6)
	r := newRandom(7)
	for range 50 {
		x := noisyEffects(r, 25, 0, 1)
		d := computeDip(x)
		moved, mirrored := make([]float64, 25), make([]float64, 25)
		for i, v := range x {
			moved[24-i], mirrored[i] = 3*v-8, -v
		}
		near("the same moved", computeDip(moved), d)
		near("the same mirrored", computeDip(mirrored), d)
	}
	// Hartigan and Hartigan print 0.048 and 0.070 for the median and the 95th
	// percentile of the dip of 50 uniform values.
	var dips []float64
	for range 2000 {
		dips = append(dips, computeDip(uniformValues(r, 50)))
	}
	slices.Sort(dips)
	if m, q := dips[1000], dips[1900]; math.Abs(m-0.048) > 0.0015 || math.Abs(q-0.070) > 0.002 {
		t.Errorf("dips of 50 uniform values: median %.4f, 95th percentile %.4f; printed are 0.048 and 0.070", m, q)
	}
}

// The levels of the table are exceeded by flat humps in 0.1 % of draws.
func TestDipTable(t *testing.T) {
	last := 0.0
	for i, row := range dipTable() {
		if row.root <= last {
			t.Errorf("the level of %d rounds, %v, is not above the one before", row.n, row.root)
		}
		last = row.root
		draws := min(countStudies(200000), max(100, countStudies(20_000_000)/(row.n*row.n))) // each takes n² steps
		r := newRandom(uint64(500 + i))
		over := 0
		for range draws {
			if critical, _ := dipLevel(row.n); !newSteps(uniformValues(r, row.n)).isUnimodal(critical) {
				over++
			}
		}
		wantRare(t, fmt.Sprintf("%d rounds, flat hump", row.n), over, draws, 0.001)
	}
	if _, ok := dipLevel(11); ok {
		t.Error("a level for 11 rounds")
	}
}

var dipDraws = flag.Int("dip", 0, "draws from which to work out the table of dip.go anew")

// TestWorkOutDipTable prints the rows of the table: go test ./check -run
// TestWorkOutDipTable -v -timeout 2h -dip 1000000.
func TestWorkOutDipTable(t *testing.T) {
	if *dipDraws < 1000 {
		t.Skip("-dip says how many draws; fewer than 1000 have no level of 0.1 %")
	}
	for i, row := range dipTable() {
		r := newRandom(uint64(900 + i))
		var large []float64
		for range *dipDraws {
			x := uniformValues(r, row.n)
			if !newSteps(x).isUnimodal(0.55 / math.Sqrt(float64(row.n))) { // the others are far below
				large = append(large, computeDip(x))
			}
		}
		slices.Sort(large)
		t.Logf("{%d, %.4f}", row.n, math.Sqrt(float64(row.n))*large[len(large)-*dipDraws/1000])
	}
}

// uniformValues returns n values that are uniform from 0 to 1.
func uniformValues(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()
	}
	return x
}

// Independent rounds with one hump, whatever its shape, are warned of in at
// most 0.1 % of comparisons by either check.
func TestRoundsFalseAlarms(t *testing.T) {
	n := countStudies(20000)
	for name, draw := range map[string]func(r *rand.Rand) float64{
		"normal":       func(r *rand.Rand) float64 { return 0.1 * r.NormFloat64() },
		"flat":         func(r *rand.Rand) float64 { return r.Float64() },
		"skewed":       func(r *rand.Rand) float64 { return 0.1 * r.ExpFloat64() },
		"heavy tails":  func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() / math.Abs(r.NormFloat64()) },
		"rare outlier": func(r *rand.Rand) float64 { return 0.05*r.NormFloat64() + math.Floor(r.Float64()*1.05) },
	} {
		r := newRandom(uint64(len(name)))
		humps, links := 0, 0
		for i := range n {
			x := make([]float64, []int{12, 18, 27, 40}[i%4])
			for k := range x {
				x[k] = draw(r)
			}
			in := Input{Evidence: evidence.Evidence{Study: tare.Study{Baseline: base, Metrics: []string{"time"}}, Contenders: []tare.Contender{{ID: "lean", Role: tare.RoleContender}}, Final: true}}
			in.Effects = []tare.Effects{{Workload: load, Metric: "time", A: "lean", B: base, Effects: x}}
			humps += len(runCheck(t, "bimodal", in))
			links += len(runCheck(t, "autocorrelation", in))
		}
		wantRare(t, "bimodal, "+name, humps, n, 0.001)
		wantRare(t, "autocorrelation, "+name, links, n, 0.001)
	}
}

// computeDip returns the dip of x, found by bisection.
func computeDip(x []float64) float64 {
	e := newSteps(x)
	lo, hi := 1/(2*float64(len(x))), 0.25
	for range 24 {
		if mid := (lo + hi) / 2; e.isUnimodal(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
