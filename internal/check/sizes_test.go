package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// sizes describes a study of three sizes of one fixture, in which checks find
// nothing: bodies have 232, 11,600 and 232,000 bytes, and an operation has a fixed
// cost and a cost per byte.
type sizes struct {
	rounds, slices int
	roundSD        float64 // standard deviation of ln(cost) from round to round
	sliceSD        float64 // standard deviation of ln(cost) from slice to slice
	bursts         float64 // share of slices that take up to four times as long
	wander         float64 // standard deviation of the machine's speed from slice to slice, which all contenders share
	factor         func(s tare.Slice, n int) float64
}

// input returns the study with random noise.
func (f sizes) input(r *rand.Rand) Input {
	in := Input{Evidence: evidence.Evidence{
		Study: tare.Study{ID: "sizes", Baseline: base, Metrics: []string{"time"}},
		Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl}, {ID: tare.NullID, Role: tare.RoleNull},
			{ID: "lean", Role: tare.RoleContender}, {ID: "twin", Role: tare.RoleContender},
		},
		Final: true,
	}}
	for _, n := range []int{1, 50, 1000} {
		in.Study.Workloads = append(in.Study.Workloads, tare.Workload{
			ID: sizeWorkload(n), Fixture: "devices", N: n, Op: "marshal", Pool: 64, Bytes: int64(64 * 232 * n), Keys: n, DistinctKeys: n,
		})
	}
	for round := 1; round <= f.rounds; round++ {
		for _, w := range in.Study.Workloads {
			f.addSlices(&in, r, round, w)
		}
	}
	return in
}

func sizeWorkload(n int) string { return fmt.Sprintf("devices-%d/marshal", n) }

// addSlices adds the slices of one workload in one round.
func (f sizes) addSlices(in *Input, r *rand.Rand, round int, w tare.Workload) {
	shift := map[string]float64{}
	for _, c := range in.Contenders {
		shift[c.ID] = f.roundSD * r.NormFloat64()
	}
	speed := 0.0
	for i := range f.slices {
		for _, k := range r.Perm(len(in.Contenders)) {
			id := in.Contenders[k].ID
			s := tare.Slice{Round: round, Index: i, Tau: 1, Workload: w.ID, Contender: id, Ops: 1000}
			cost := 500 + 1200*float64(w.N)
			switch id {
			case "lean":
				cost = 200 + 500*float64(w.N)
			case tare.NullID:
				cost = 5
			}
			if f.factor != nil {
				cost *= f.factor(s, w.N)
			}
			speed += f.wander * r.NormFloat64()
			cost *= math.Exp(shift[id] + speed + f.sliceSD*r.NormFloat64())
			if r.Float64() < f.bursts {
				cost *= 1 + 3*r.Float64()
			}
			s.WallNS = int64(1000 * cost)
			in.Slices = append(in.Slices, s)
		}
	}
}

func quietSizes() sizes { return sizes{rounds: 18, slices: 8, roundSD: 0.03, sliceSD: 0.04} }

// leanScaling returns the scaling of lean's time with exponent e in each round.
func leanScaling(e ...float64) []tare.Scaling {
	return []tare.Scaling{{Contender: "lean", Fixture: "devices", Op: "marshal", Workloads: []string{sizeWorkload(1), sizeWorkload(50), sizeWorkload(1000)}, Exponent: stats.HodgesLehmann(e), PerRound: e, Rounds: len(e)}}
}

func TestFixtureCardinality(t *testing.T) {
	in := quietSizes().input(newRandom(1))
	wantNone(t, "fixture-cardinality", in)
	in.Study.Workloads[2].DistinctKeys = 52
	wantFinding(t, "fixture-cardinality", in, tare.Void, "", sizeWorkload(1000), "a body of devices has only 52 different among 1000 keys")
	in.Study.Workloads[2].Keys = 0 // the kind cannot count
	wantNone(t, "fixture-cardinality", in)
}

func TestPartWhole(t *testing.T) {
	wantNone(t, "part-whole", quietSizes().input(newRandom(1)))

	// Fifty devices that fail at once cost less than one that is written.
	broken := quietSizes()
	broken.factor = func(s tare.Slice, n int) float64 {
		if s.Contender == "lean" && n == 50 {
			return 0.02
		}
		return 1
	}
	in := broken.input(newRandom(1))
	f := runCheck(t, "part-whole", in)
	if len(f) != 1 || f[0].Severity != tare.Void || f[0].Contender != "lean" || f[0].Workload != sizeWorkload(50) ||
		!strings.HasPrefix(f[0].Message, "an operation takes 0.7") || !strings.Contains(f[0].Message, "× the time of one on devices-1/marshal, which is a part of it (0.6") {
		t.Fatalf("found %+v", f)
	}
	other := broken.input(newRandom(1))
	other.Study.Workloads[1].Op = "stream" // another operation is no part of this one
	wantNone(t, "part-whole", other)
	other = broken.input(newRandom(1))
	other.Study.Workloads[0].Pool = 1 // nor one that is asked over and over
	other.Study.Workloads[2].Pool = 1
	wantNone(t, "part-whole", other)
	other = broken.input(newRandom(1))
	other.Final = false
	wantNone(t, "part-whole", other)
	few := broken
	few.rounds = 12 // three pairs at 0.1 % take 13
	wantNone(t, "part-whole", few.input(newRandom(1)))

	// The same time for all sizes is not less.
	flat := quietSizes()
	flat.factor = func(s tare.Slice, n int) float64 { return 1 / float64(500+1200*n) }
	wantNone(t, "part-whole", flat.input(newRandom(1)))

	// Neither the null contender nor the control is void by it.
	exempt := quietSizes()
	exempt.factor = func(s tare.Slice, n int) float64 {
		if (s.Contender == tare.NullID || s.Contender == tare.ControlID) && n > 1 {
			return 0.0001
		}
		return 1
	}
	wantNone(t, "part-whole", exempt.input(newRandom(1)))
}

func TestFallingPercentiles(t *testing.T) {
	in := soundStudy()
	in.Trials[3].Samples[load] = tare.Sample{"p50_ns": 900, "p99_ns": 2500, "p999_ns": 2500, "pulse_ns": 1, "time_ns_per_op": 3}
	wantNone(t, "part-whole", in)
	in.Trials[3].Samples[load]["p999_ns"] = 2400
	wantFinding(t, "part-whole", in, tare.Void, "lean", load, "p99_ns is 2500 and p999_ns is 2400 in round 1")
	in.Trials[3].Error = &tare.TrialError{Class: tare.ErrExit}
	wantNone(t, "part-whole", in)
	in.Trials[3].Error = nil
	in.Trials[3].Samples[load] = tare.Sample{"p50_ns": 900, "p90_ns": 1500, "p99_ns": 2400, "p99_9_ns": 2500, "max_ns": 2600, "send_lag_p99_ns": 1}
	wantNone(t, "part-whole", in)
	in.Trials[3].Samples[load]["p99_9_ns"] = 2700
	wantFinding(t, "part-whole", in, tare.Void, "lean", load, "p99_9_ns is 2700 and max_ns is 2600 in round 1")
	in.Trials[3].Samples[load]["p99_9_ns"] = 2300
	wantFinding(t, "part-whole", in, tare.Void, "lean", load, "p99_ns is 2400 and p99_9_ns is 2300 in round 1")
}

func TestSizeScaling(t *testing.T) {
	r := newRandom(4)
	in := quietSizes().input(r)
	in.Scaling = leanScaling(noisyEffects(r, 18, 0.71, 0.03)...) // a fixed cost per call
	wantNone(t, "size-scaling", in)
	in.Scaling = leanScaling(noisyEffects(r, 18, 0.25, 0.03)...)
	wantNone(t, "size-scaling", in)
	in.Scaling = leanScaling(slices.Repeat([]float64{0.01}, 18)...)
	wantFinding(t, "size-scaling", in, tare.Warn, "lean", sizeWorkload(1000),
		"time hardly grows with size over devices-1/marshal, devices-50/marshal, devices-1000/marshal: as bytes^0.01 (0.01 to 0.01, 18 rounds), so a hundred times the bytes take 1× as long")
	in.Scaling = leanScaling(slices.Repeat([]float64{0.01}, 10)...)
	wantNone(t, "size-scaling", in) // 0.1 % takes 11
	in.Scaling = leanScaling(slices.Repeat([]float64{0.01}, 18)...)
	in.Scaling[0].By = tare.ByLevels
	wantNone(t, "size-scaling", in) // a level need not be many bytes
	in.Scaling = leanScaling(slices.Repeat([]float64{0.01}, 18)...)
	in.Final = false
	wantNone(t, "size-scaling", in)
}

func TestDriftInTrial(t *testing.T) {
	drifting := func(seed uint64, by float64, who string) Input {
		f := quietSizes()
		f.slices = 20
		f.factor = func(s tare.Slice, n int) float64 {
			if s.Contender == who && n == 50 {
				return math.Pow(by, float64(s.Index)/19)
			}
			return 1
		}
		return f.input(newRandom(seed))
	}
	wantNone(t, "drift-in-trial", drifting(1, 1, "lean"))
	wantNone(t, "drift-in-trial", drifting(1, 1.08, "lean")) // inside the tolerance
	f := runCheck(t, "drift-in-trial", drifting(1, 1.4, "lean"))
	if len(f) != 1 || f[0].Severity != tare.Void || f[0].Contender != "lean" || f[0].Workload != sizeWorkload(50) ||
		!strings.HasPrefix(f[0].Message, "an operation at the end of a trial costs 1.4× what it costs at the start (1.3") || !strings.HasSuffix(f[0].Message, ", 18 rounds)") {
		t.Errorf("found %+v", f)
	}
	if f := runCheck(t, "drift-in-trial", drifting(1, 0.7, base)); len(f) != 1 || f[0].Contender != base || !strings.Contains(f[0].Message, "costs 0.7") {
		t.Errorf("found %+v", f)
	}
	wantNone(t, "drift-in-trial", drifting(1, 1.4, tare.NullID))
	wantNone(t, "drift-in-trial", drifting(1, 1.4, tare.ControlID))
	early := drifting(1, 1.4, "lean")
	early.Final = false
	wantNone(t, "drift-in-trial", early)

	// A cold start is not a drift: the first two of twenty slices take thrice as long.
	cold := quietSizes()
	cold.slices = 20
	cold.factor = func(s tare.Slice, n int) float64 {
		if s.Index < 2 {
			return 3
		}
		return 1
	}
	wantNone(t, "drift-in-trial", cold.input(newRandom(1)))
	short := quietSizes()
	short.slices = 3
	short.factor = func(s tare.Slice, n int) float64 { return math.Pow(1.4, float64(s.Index)) }
	wantNone(t, "drift-in-trial", short.input(newRandom(1))) // three slices show no slope
}

// A machine that becomes slower for everybody voids nobody, and is one warning.
// Who drifts besides that is void.
func TestTheMachinesDriftVoidsNobody(t *testing.T) {
	slower := func(seed uint64, also float64) Input {
		f := quietSizes()
		f.slices = 20
		f.factor = func(s tare.Slice, n int) float64 {
			by := math.Pow(1.15, float64(s.Index)/19)
			if s.Contender == "lean" && n == 50 {
				by *= math.Pow(also, float64(s.Index)/19)
			}
			return by
		}
		return f.input(newRandom(seed))
	}
	voids, warned := 0, 0
	for seed := range uint64(20) {
		for _, f := range runCheck(t, "drift-in-trial", slower(seed+1, 1)) {
			if f.Severity == tare.Void {
				voids++
			} else if warned++; f.Severity != tare.Warn || f.Contender != "" || f.Workload != "" {
				t.Fatalf("found %+v", f)
			}
		}
	}
	t.Logf("of 20 studies on a machine that slows by 15 %%: %d voids, %d warnings", voids, warned)
	if voids > 0 || warned == 0 || warned > 20 {
		t.Errorf("%d voids and %d warnings, want no void and at most one warning for each study", voids, warned)
	}
	fs := runCheck(t, "drift-in-trial", slower(1, 1.5))
	if len(fs) == 0 || fs[0].Severity != tare.Void || fs[0].Contender != "lean" || fs[0].Workload != sizeWorkload(50) {
		t.Errorf("found %+v, want lean void", fs)
	}
	// Without a null contender the baseline is the reference.
	in := slower(1, 1)
	in.Slices = slices.DeleteFunc(in.Slices, func(s tare.Slice) bool { return s.Contender == tare.NullID })
	for _, f := range runCheck(t, "drift-in-trial", in) {
		if f.Contender != "" && f.Contender != base {
			t.Errorf("found %+v", f)
		}
	}
}

func TestTheilSen(t *testing.T) {
	if got := theilSen([]float64{1, 3, 5, 7}); got != 2 {
		t.Errorf("slope %v of a straight line, want 2", got)
	}
	if got := theilSen([]float64{90, 3, 5, 7, 9, 11, 13, 15, -40}); got != 2 {
		t.Errorf("slope %v with wild ends, want 2", got)
	}
	if d, ok := computeDrift([]tare.Slice{{Index: 3, Ops: 1, WallNS: 8}, {Index: 0, Ops: 1, WallNS: 1}, {Index: 1, Ops: 2, WallNS: 4}, {Index: 2, Ops: 1, WallNS: 4}}); !ok || math.Abs(d-math.Log(8)) > 1e-12 {
		t.Errorf("drift %v %v of a cost that doubles three times, want ln 8", d, ok)
	}
}

// countStudies returns the number of studies of a simulation: a fortieth of all with
// -short, all under make soak, and otherwise a tenth.
func countStudies(all int) int {
	switch {
	case os.Getenv("TARE_SOAK") != "":
		return all
	case testing.Short():
		return all / 40
	}
	return all / 10
}

// wantRare fails the test unless k of n is compatible with a rate of at most p.
func wantRare(t *testing.T, what string, k, n int, p float64) {
	t.Helper()
	_, hi := stats.ClopperPearson(k, n, 0.05)
	t.Logf("%s: %d of %d (at most %.2g %%)", what, k, n, 100*hi)
	if lo, _ := stats.ClopperPearson(k, n, 0.002); lo > p {
		t.Errorf("%s: %d of %d, want at most %.2g %%", what, k, n, 100*p)
	}
}

// Sound studies, of equal programs and of different ones, quiet and noisy: no
// more than 0.1 % of what is judged, a contender on a workload of a study, is
// void by any of the new checks together.
func TestSoundStudiesAreNotVoid(t *testing.T) {
	n := countStudies(2000)
	for _, f := range []struct {
		name string
		sizes
	}{
		{"quiet", quietSizes()},
		{"noisy, bursts in one slice of ten", sizes{rounds: 18, slices: 16, roundSD: 0.15, sliceSD: 0.2, bursts: 0.1}},
		{"a machine that changes speed", sizes{rounds: 13, slices: 10, roundSD: 0.05, sliceSD: 0.05, wander: 0.03}},
	} {
		found := map[string]int{}
		judged := 0
		for seed := range n {
			in := f.input(newRandom(uint64(1000 + seed)))
			judged += len(in.Study.Workloads) * 3 // the baseline, the twin (A/A) and lean
			for _, id := range []string{"fixture-cardinality", "part-whole", "drift-in-trial"} {
				found[id] += len(runCheck(t, id, in))
			}
		}
		all := found["fixture-cardinality"] + found["part-whole"] + found["drift-in-trial"]
		wantRare(t, fmt.Sprintf("%s: void in %d studies, %v", f.name, n, found), all, judged, 0.001)
	}
}

// The worst case of what is still sound: a whole that takes exactly 3 % less
// than its part, and a drift of exactly 10 %. Each is then void at its nominal
// rate, 0.05 % (one side of 0.1 %, shared by three pairs) and 0.05 %.
func TestVoidsAtTheEdge(t *testing.T) {
	n := countStudies(20000)
	whole, drifts := 0, 0
	for seed := range n {
		r := newRandom(uint64(seed))
		in := Input{Evidence: evidence.Evidence{Study: tare.Study{Baseline: base}, Contenders: []tare.Contender{{ID: "lean", Role: tare.RoleContender}}, Final: true}}
		for _, k := range []int{1, 2} {
			in.Study.Workloads = append(in.Study.Workloads, tare.Workload{ID: sizeWorkload(k), Fixture: "devices", N: k, Op: "marshal"})
		}
		for round := range 18 {
			for _, k := range []int{1, 2} {
				level := 0.1*r.NormFloat64() - float64(k-1)*math.Log1p(tolerance)
				for i := range 4 {
					cost := math.Exp(level + 0.1*r.NormFloat64() + math.Log1p(maxDrift)*float64(i)/3)
					in.Slices = append(in.Slices, tare.Slice{Round: round, Index: i, Tau: 1, Workload: sizeWorkload(k), Contender: "lean", Ops: 1000, WallNS: int64(1e7 * cost)})
				}
			}
		}
		whole += len(runCheck(t, "part-whole", in))
		drifts += len(runCheck(t, "drift-in-trial", in))
	}
	wantRare(t, "a whole of exactly 1/1.03 of its part", whole, n, strictLevel/2)
	wantRare(t, "a drift of exactly 10 %", drifts, 2*n, strictLevel/2)
	if n >= 20000 && (whole == 0 || drifts == 0) {
		t.Error("never void at the edge: the checks are far stricter than they say")
	}
}
