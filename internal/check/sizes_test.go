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

// sizes is a sound study of three sizes of one fixture: bodies of 232, 11,600
// and 232,000 bytes, of which an operation takes a fixed cost and so many
// nanoseconds a byte.
type sizes struct {
	rounds, slices int
	roundSD        float64 // of ln cost, per contender, workload and round
	sliceSD        float64
	bursts         float64 // share of slices that take up to four times as long
	wander         float64 // sd of the machine's speed from slice to slice, shared by all
	factor         func(s tare.Slice, n int) float64
}

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
			ID: size(n), Fixture: "devices", N: n, Op: "marshal", Pool: 64, Bytes: int64(64 * 232 * n), Keys: n, DistinctKeys: n,
		})
	}
	for round := 1; round <= f.rounds; round++ {
		for _, w := range in.Study.Workloads {
			f.play(&in, r, round, w)
		}
	}
	return in
}

func size(n int) string { return fmt.Sprintf("devices-%d/marshal", n) }

// play makes the slices of one workload in one round.
func (f sizes) play(in *Input, r *rand.Rand, round int, w tare.Workload) {
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

func quiet() sizes { return sizes{rounds: 18, slices: 8, roundSD: 0.03, sliceSD: 0.04} }

// scaled is the exponents that lean's time has in so many rounds.
func scaled(e ...float64) []tare.Scaling {
	return []tare.Scaling{{Contender: "lean", Fixture: "devices", Op: "marshal", Workloads: []string{size(1), size(50), size(1000)}, Exponent: stats.HodgesLehmann(e), PerRound: e, Rounds: len(e)}}
}

func TestFixtureCardinality(t *testing.T) {
	in := quiet().input(random(1))
	silent(t, "fixture-cardinality", in)
	in.Study.Workloads[2].DistinctKeys = 52
	fires(t, "fixture-cardinality", in, tare.Void, "", size(1000), "a body of devices has only 52 different among 1000 keys")
	in.Study.Workloads[2].Keys = 0 // the kind cannot count
	silent(t, "fixture-cardinality", in)
}

func TestPartWhole(t *testing.T) {
	silent(t, "part-whole", quiet().input(random(1)))

	// Fifty devices that fail at once cost less than one that is written.
	broken := quiet()
	broken.factor = func(s tare.Slice, n int) float64 {
		if s.Contender == "lean" && n == 50 {
			return 0.02
		}
		return 1
	}
	in := broken.input(random(1))
	f := run(t, "part-whole", in)
	if len(f) != 1 || f[0].Severity != tare.Void || f[0].Contender != "lean" || f[0].Workload != size(50) ||
		!strings.HasPrefix(f[0].Message, "an operation takes 0.7") || !strings.Contains(f[0].Message, "× the time of one on devices-1/marshal, which is a part of it (0.6") {
		t.Fatalf("found %+v", f)
	}
	other := broken.input(random(1))
	other.Study.Workloads[1].Op = "stream" // another operation is no part of this one
	silent(t, "part-whole", other)
	other = broken.input(random(1))
	other.Study.Workloads[0].Pool = 1 // nor one that is asked over and over
	other.Study.Workloads[2].Pool = 1
	silent(t, "part-whole", other)
	other = broken.input(random(1))
	other.Final = false
	silent(t, "part-whole", other)
	few := broken
	few.rounds = 12 // three pairs at 0.1 % take 13
	silent(t, "part-whole", few.input(random(1)))

	// The same time for all sizes is not less.
	flat := quiet()
	flat.factor = func(s tare.Slice, n int) float64 { return 1 / float64(500+1200*n) }
	silent(t, "part-whole", flat.input(random(1)))

	// Neither the null contender nor the control is void by it.
	exempt := quiet()
	exempt.factor = func(s tare.Slice, n int) float64 {
		if (s.Contender == tare.NullID || s.Contender == tare.ControlID) && n > 1 {
			return 0.0001
		}
		return 1
	}
	silent(t, "part-whole", exempt.input(random(1)))
}

func TestFallingPercentiles(t *testing.T) {
	in := sound()
	in.Trials[3].Samples[load] = tare.Sample{"p50_ns": 900, "p99_ns": 2500, "p999_ns": 2500, "pulse_ns": 1, "time_ns_per_op": 3}
	silent(t, "part-whole", in)
	in.Trials[3].Samples[load]["p999_ns"] = 2400
	fires(t, "part-whole", in, tare.Void, "lean", load, "p99_ns is 2500 and p999_ns is 2400 in round 1")
	in.Trials[3].Error = &tare.TrialError{Class: tare.ErrExit}
	silent(t, "part-whole", in)
	in.Trials[3].Error = nil
	in.Trials[3].Samples[load] = tare.Sample{"p50_ns": 900, "p90_ns": 1500, "p99_ns": 2400, "p99_9_ns": 2500, "max_ns": 2600, "send_lag_p99_ns": 1}
	silent(t, "part-whole", in)
	in.Trials[3].Samples[load]["p99_9_ns"] = 2700
	fires(t, "part-whole", in, tare.Void, "lean", load, "p99_9_ns is 2700 and max_ns is 2600 in round 1")
	in.Trials[3].Samples[load]["p99_9_ns"] = 2300
	fires(t, "part-whole", in, tare.Void, "lean", load, "p99_ns is 2400 and p99_9_ns is 2300 in round 1")
}

func TestSizeScaling(t *testing.T) {
	r := random(4)
	in := quiet().input(r)
	in.Scaling = scaled(noise(r, 18, 0.71, 0.03)...) // a fixed cost per call
	silent(t, "size-scaling", in)
	in.Scaling = scaled(noise(r, 18, 0.25, 0.03)...)
	silent(t, "size-scaling", in)
	in.Scaling = scaled(slices.Repeat([]float64{0.01}, 18)...)
	fires(t, "size-scaling", in, tare.Warn, "lean", size(1000),
		"time hardly grows with size over devices-1/marshal, devices-50/marshal, devices-1000/marshal: as bytes^0.01 (0.01 to 0.01, 18 rounds), so a hundred times the bytes take 1× as long")
	in.Scaling = scaled(slices.Repeat([]float64{0.01}, 10)...)
	silent(t, "size-scaling", in) // 0.1 % takes 11
	in.Scaling = scaled(slices.Repeat([]float64{0.01}, 18)...)
	in.Scaling[0].By = tare.ByLevels
	silent(t, "size-scaling", in) // a level need not be many bytes
	in.Scaling = scaled(slices.Repeat([]float64{0.01}, 18)...)
	in.Final = false
	silent(t, "size-scaling", in)
}

func TestDriftInTrial(t *testing.T) {
	drifting := func(seed uint64, by float64, who string) Input {
		f := quiet()
		f.slices = 20
		f.factor = func(s tare.Slice, n int) float64 {
			if s.Contender == who && n == 50 {
				return math.Pow(by, float64(s.Index)/19)
			}
			return 1
		}
		return f.input(random(seed))
	}
	silent(t, "drift-in-trial", drifting(1, 1, "lean"))
	silent(t, "drift-in-trial", drifting(1, 1.08, "lean")) // inside the tolerance
	f := run(t, "drift-in-trial", drifting(1, 1.4, "lean"))
	if len(f) != 1 || f[0].Severity != tare.Void || f[0].Contender != "lean" || f[0].Workload != size(50) ||
		!strings.HasPrefix(f[0].Message, "an operation at the end of a trial costs 1.4× what it costs at the start (1.3") || !strings.HasSuffix(f[0].Message, ", 18 rounds)") {
		t.Errorf("found %+v", f)
	}
	if f := run(t, "drift-in-trial", drifting(1, 0.7, base)); len(f) != 1 || f[0].Contender != base || !strings.Contains(f[0].Message, "costs 0.7") {
		t.Errorf("found %+v", f)
	}
	silent(t, "drift-in-trial", drifting(1, 1.4, tare.NullID))
	silent(t, "drift-in-trial", drifting(1, 1.4, tare.ControlID))
	early := drifting(1, 1.4, "lean")
	early.Final = false
	silent(t, "drift-in-trial", early)

	// A cold start is not a drift: the first two of twenty slices take thrice as long.
	cold := quiet()
	cold.slices = 20
	cold.factor = func(s tare.Slice, n int) float64 {
		if s.Index < 2 {
			return 3
		}
		return 1
	}
	silent(t, "drift-in-trial", cold.input(random(1)))
	short := quiet()
	short.slices = 3
	short.factor = func(s tare.Slice, n int) float64 { return math.Pow(1.4, float64(s.Index)) }
	silent(t, "drift-in-trial", short.input(random(1))) // three slices show no slope
}

// A machine that becomes slower for everybody voids nobody, and is one warning.
// Who drifts besides that is void.
func TestTheMachinesDriftVoidsNobody(t *testing.T) {
	slower := func(seed uint64, also float64) Input {
		f := quiet()
		f.slices = 20
		f.factor = func(s tare.Slice, n int) float64 {
			by := math.Pow(1.15, float64(s.Index)/19)
			if s.Contender == "lean" && n == 50 {
				by *= math.Pow(also, float64(s.Index)/19)
			}
			return by
		}
		return f.input(random(seed))
	}
	voids, warned := 0, 0
	for seed := range uint64(20) {
		for _, f := range run(t, "drift-in-trial", slower(seed+1, 1)) {
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
	fs := run(t, "drift-in-trial", slower(1, 1.5))
	if len(fs) == 0 || fs[0].Severity != tare.Void || fs[0].Contender != "lean" || fs[0].Workload != size(50) {
		t.Errorf("found %+v, want lean void", fs)
	}
	// Without a null contender the baseline is the reference.
	in := slower(1, 1)
	in.Slices = slices.DeleteFunc(in.Slices, func(s tare.Slice) bool { return s.Contender == tare.NullID })
	for _, f := range run(t, "drift-in-trial", in) {
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

// soak returns how many made-up studies a simulation plays: a fortieth of all with
// -short, else a tenth, or all under make soak.
func soak(all int) int {
	switch {
	case os.Getenv("TARE_SOAK") != "":
		return all
	case testing.Short():
		return all / 40
	}
	return all / 10
}

// rare demands that k of n is compatible with a rate of at most p.
func rare(t *testing.T, what string, k, n int, p float64) {
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
	n := soak(2000)
	for _, f := range []struct {
		name string
		sizes
	}{
		{"quiet", quiet()},
		{"noisy, bursts in one slice of ten", sizes{rounds: 18, slices: 16, roundSD: 0.15, sliceSD: 0.2, bursts: 0.1}},
		{"a machine that changes speed", sizes{rounds: 13, slices: 10, roundSD: 0.05, sliceSD: 0.05, wander: 0.03}},
	} {
		found := map[string]int{}
		judged := 0
		for seed := range n {
			in := f.input(random(uint64(1000 + seed)))
			judged += len(in.Study.Workloads) * 3 // the baseline, the twin (A/A) and lean
			for _, id := range []string{"fixture-cardinality", "part-whole", "drift-in-trial"} {
				found[id] += len(run(t, id, in))
			}
		}
		all := found["fixture-cardinality"] + found["part-whole"] + found["drift-in-trial"]
		rare(t, fmt.Sprintf("%s: void in %d studies, %v", f.name, n, found), all, judged, 0.001)
	}
}

// The worst case of what is still sound: a whole that takes exactly 3 % less
// than its part, and a drift of exactly 10 %. Each is then void at its nominal
// rate, 0.05 % (one side of 0.1 %, shared by three pairs) and 0.05 %.
func TestVoidsAtTheEdge(t *testing.T) {
	n := soak(20000)
	whole, drifts := 0, 0
	for seed := range n {
		r := random(uint64(seed))
		in := Input{Evidence: evidence.Evidence{Study: tare.Study{Baseline: base}, Contenders: []tare.Contender{{ID: "lean", Role: tare.RoleContender}}, Final: true}}
		for _, k := range []int{1, 2} {
			in.Study.Workloads = append(in.Study.Workloads, tare.Workload{ID: size(k), Fixture: "devices", N: k, Op: "marshal"})
		}
		for round := range 18 {
			for _, k := range []int{1, 2} {
				level := 0.1*r.NormFloat64() - float64(k-1)*math.Log1p(tolerance)
				for i := range 4 {
					cost := math.Exp(level + 0.1*r.NormFloat64() + math.Log1p(maxDrift)*float64(i)/3)
					in.Slices = append(in.Slices, tare.Slice{Round: round, Index: i, Tau: 1, Workload: size(k), Contender: "lean", Ops: 1000, WallNS: int64(1e7 * cost)})
				}
			}
		}
		whole += len(run(t, "part-whole", in))
		drifts += len(run(t, "drift-in-trial", in))
	}
	rare(t, "a whole of exactly 1/1.03 of its part", whole, n, strict/2)
	rare(t, "a drift of exactly 10 %", drifts, 2*n, strict/2)
	if n >= 20000 && (whole == 0 || drifts == 0) {
		t.Error("never void at the edge: the checks are far stricter than they say")
	}
}
