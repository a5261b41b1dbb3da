package check

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
)

// studyWithCriterion returns the sound study with criterion c and two ratios: lean's,
// from low to high, and the control's, which resolves ±2 %.
func studyWithCriterion(c tare.Criterion, low, high float64) Input {
	in := soundStudy()
	in.Study.Criteria = []tare.Criterion{c}
	in.Comparisons = []tare.Comparison{
		{Workload: load, Contender: base, Metric: "time", Against: base, Ratio: 1, Low: 1, High: 1},
		{Workload: load, Contender: tare.ControlID, Metric: "time", Against: base, Ratio: 1, Low: 1 / 1.02, High: 1.02, Rounds: 12},
		{Workload: load, Contender: "lean", Metric: "time", Against: base, Ratio: math.Sqrt(low * high), Low: low, High: high, Rounds: 12},
	}
	in.Values = nil
	for id, v := range map[string]float64{base: 60000, "lean": 30000, tare.NullID: 12, "trap": 1e9} {
		in.Values = append(in.Values, tare.Value{Workload: load, Contender: id, Metric: "time", Unit: "ns/op", Value: v, Low: v, High: v * 1.01, Struck: id == "trap"})
	}
	return in
}

func TestDiscriminating(t *testing.T) {
	for _, c := range []struct {
		criterion tare.Criterion
		low, high float64
		contender string
		want      string // empty: silent
	}{
		// The limit against the effect.
		{tare.Criterion{Metric: "time", Ratio: "<= 0.5"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "time", Ratio: "<= 2"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "time", Ratio: "<= 10"}, 0.48, 0.52, "", "time ratio <= 10 could not fail: all ratios it is about, and 1, lie between 0.48 and 1"},
		{tare.Criterion{Metric: "time", Ratio: "<= 10"}, 1.2, 1.3, "", ""},
		{tare.Criterion{Metric: "time", Ratio: ">= 0.02"}, 0.48, 0.52, "", "time ratio >= 0.02 could not fail: all ratios it is about, and 1, lie between 0.48 and 1"},
		{tare.Criterion{Metric: "time", Ratio: ">= 0.05"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "time", Ratio: "<= 10", Contender: base}, 0.48, 0.52, base, "time ratio <= 10 could not fail: all ratios it is about, and 1, lie between 1 and 1"},
		{tare.Criterion{Metric: "time", Ratio: "<= 10", Workload: "another"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "cpu", Ratio: "<= 10"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "time", Value: "<= 10ms"}, 0.48, 0.52, "", "time <= 10ms could not fail: everything that was measured lies between 30000 and 60600 ns/op"},
		{tare.Criterion{Metric: "time", Value: "<= 100us"}, 0.48, 0.52, "", ""},
		{tare.Criterion{Metric: "time", Value: ">= 2us"}, 0.48, 0.52, "", "time >= 2us could not fail: everything that was measured lies between 30000 and 60600 ns/op"},
		{tare.Criterion{Metric: "time", Value: ">= 20us"}, 0.48, 0.52, "", ""},
		// Against the harness.
		{tare.Criterion{Metric: "time", Value: "<= 11ns", Contender: "lean"}, 0.48, 0.52, "lean", "time <= 11ns cannot be met: the harness alone takes 12 ns/op"},
		{tare.Criterion{Metric: "time", Value: "<= 13ns"}, 0.48, 0.52, "", ""},
		// Against the control.
		{tare.Criterion{Metric: "time", Equivalent: "1%"}, 0.98, 1.015, "lean", "time equivalent within 1% asks for a difference of 1 %, but identical code is resolved to ±2 % only (the control, 12 rounds)"},
		{tare.Criterion{Metric: "time", Equivalent: "3%"}, 0.98, 1.035, "", ""}, // open, but within reach
		{tare.Criterion{Metric: "time", Equivalent: "1%"}, 0.48, 0.52, "", ""},  // not met, which is an answer
		{tare.Criterion{Metric: "time", Equivalent: "1%"}, 0.995, 1.005, "", ""},
		{tare.Criterion{Metric: "time", Ratio: "<= 0.99"}, 0.975, 1.01, "lean", "time ratio <= 0.99 asks for a difference of 1 %, but identical code is resolved to ±2 % only (the control, 12 rounds)"},
		{tare.Criterion{Metric: "time", Ratio: "<= 0.99"}, 0.95, 0.98, "", ""}, // met
		{tare.Criterion{Metric: "time", Ratio: "<= 0.9"}, 0.88, 0.92, "", ""},  // open for another reason
	} {
		in := studyWithCriterion(c.criterion, c.low, c.high)
		if c.want == "" {
			if fs := runCheck(t, "discriminating", in); len(fs) > 0 {
				t.Errorf("%v at %v to %v: found %+v", c.criterion, c.low, c.high, fs)
			}
			continue
		}
		wantFinding(t, "discriminating", in, tare.Warn, c.contender, load, c.want)
		in.Final = false
		wantNone(t, "discriminating", in)
	}
	// One limit for several workloads is said once.
	more := studyWithCriterion(tare.Criterion{Metric: "time", Value: "<= 10ms"}, 0.48, 0.52)
	more.Study.Workloads = append(more.Study.Workloads, tare.Workload{ID: "other"}, tare.Workload{ID: "third"})
	more.Values = append(more.Values, tare.Value{Workload: "other", Contender: base, Metric: "time", Unit: "ns/op", Low: 5, High: 6})
	wantFinding(t, "discriminating", more, tare.Warn, "", load, "time <= 10ms could not fail: everything that was measured lies between 30000 and 60600 ns/op; likewise on 1 more workload")

	// Without a control or intervals there is nothing to compare.
	in := studyWithCriterion(tare.Criterion{Metric: "time", Equivalent: "1%"}, 0.98, 1.015)
	in.Comparisons[1].Low, in.Comparisons[1].High = 0, 0
	wantNone(t, "discriminating", in)
	in = studyWithCriterion(tare.Criterion{Metric: "time", Ratio: "<= 10"}, 0, 0)
	wantNone(t, "discriminating", in)
	in = studyWithCriterion(tare.Criterion{Metric: "time", Value: "<= 10ms"}, 0.48, 0.52)
	in.Values = nil
	wantNone(t, "discriminating", in)
}

func TestSumsDisagree(t *testing.T) {
	study := func(seed uint64, apart float64) Input {
		r := newRandom(seed)
		in := studyWithCriterion(tare.Criterion{}, 0.48, 0.52)
		in.Study.Criteria = nil
		in.Comparisons[2].SumsRatio = in.Comparisons[2].Ratio * math.Exp(apart)
		e := tare.Effects{Workload: load, Metric: "time", A: "lean", B: base, Effects: noisyEffects(r, 18, -0.7, 0.05)}
		for _, v := range e.Effects {
			e.Sums = append(e.Sums, v+apart+0.02*r.NormFloat64())
		}
		in.Effects = []tare.Effects{e}
		return in
	}
	wantNone(t, "sums-disagree", study(1, 0))
	wantNone(t, "sums-disagree", study(1, 0.03)) // the half-width is 4 %
	want := "the ratio to encoding-json is 0.4996 by the middle of the blocks and 0.5521 by sums, which differ by more than the half-width (±4.1 %, 18 rounds)"
	wantFinding(t, "sums-disagree", study(1, 0.1), tare.Warn, "lean", load, want)
	turned := study(1, 0.1)
	e := &turned.Effects[0]
	e.A, e.B, e.Effects, e.Sums = base, "lean", negate(e.Effects), negate(e.Sums)
	wantFinding(t, "sums-disagree", turned, tare.Warn, "lean", load, want)
	for _, without := range []func(in *Input){
		func(in *Input) { in.Effects[0].Sums = nil },
		func(in *Input) { in.Effects = nil },
		func(in *Input) { in.Comparisons[2].Low = 0 },
		func(in *Input) { in.Final = false },
		func(in *Input) { in.Study.Metrics = []string{"cpu"} },
	} {
		in := study(1, 0.1)
		without(&in)
		wantNone(t, "sums-disagree", in)
	}
	n, found := countStudies(10000), 0
	for seed := range n {
		found += len(runCheck(t, "sums-disagree", study(uint64(seed), 0.04)))
	}
	wantRare(t, "sums that are one half-width apart", found, n, strictLevel/2)
}

func TestSink(t *testing.T) {
	// Answers of 100 to 163 bytes, asked for in rotation, 10 operations a slice.
	rotating := func(write func(body int) int64) Input {
		in := soundStudy()
		in.Conformance = []tare.Conformance{{Contender: "lean", Workload: load, Cases: 64, MinBytes: 100, Bytes: 64*100 + 63*32}}
		in.Slices = slices.DeleteFunc(in.Slices, func(s tare.Slice) bool { return s.Contender != "lean" })
		next := 0
		for i := range in.Slices {
			s := &in.Slices[i]
			s.Ops = 10
			for range s.Ops {
				s.BytesOut += write(next)
				next = (next + 1) % 64
			}
		}
		return in
	}
	wantNone(t, "sink", rotating(func(body int) int64 { return 100 + int64(body) }))
	stuck := func(int) int64 { return 100 }
	wantFinding(t, "sink", rotating(stuck), tare.Warn, "lean", load, "each of 120 slices wrote 100 B/op, but the answers have different lengths, 132 B in the mean")
	early := rotating(stuck)
	early.Final = false
	wantNone(t, "sink", early)
	framed := rotating(stuck)
	for i := range framed.Contenders {
		framed.Contenders[i].Set = map[string]string{"protocol": "grpc"}
	}
	wantNone(t, "sink", framed) // its answers are compared as JSON
	equal := rotating(stuck)
	equal.Conformance[0].Bytes = 6400
	wantNone(t, "sink", equal) // all answers are equally long
	wrong := rotating(stuck)
	wrong.Conformance[0].Wrong = 1
	wantNone(t, "sink", wrong) // void for another reason; what it answered later is not counted in bytes
	wantNone(t, "sink", rotating(func(int) int64 { return 0 }))
	wantNone(t, "sink", rotating(func(int) int64 { return 60 })) // a binary code, answered in JSON

	whole := rotating(func(body int) int64 { return 100 + int64(body) })
	for i := range whole.Slices { // slices that go round all bodies write the mean
		whole.Slices[i].Ops, whole.Slices[i].BytesOut = 64, whole.Conformance[0].Bytes
	}
	wantNone(t, "sink", whole)

	one := soundStudy()
	one.Study.Workloads[0].Pool = 1
	one.Study.Workloads[0].Bytes = 11598
	wantFinding(t, "sink", one, tare.Warn, "", load, "every operation works on the same body: pool is 1")
	one.Study.Workloads[0].File = "mine.json"
	wantFinding(t, "sink", one, tare.Note, "", load, "every operation works on the same body: mine.json")
	one.Study.Workloads[0].Bytes = 200 << 20 // no cache holds it
	wantNone(t, "sink", one)
	one.Study.Workloads[0].Pool, one.Study.Workloads[0].Bytes = 64, 64*11598
	wantNone(t, "sink", one)
}

func TestStale(t *testing.T) {
	now := &tare.Result{
		Run: tare.Run{Machine: tare.Machine{Arch: "amd64", CPU: "Fast 9", Cores: 8, Kernel: "6.18"}},
		Design: tare.Design{Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline, Build: tare.Build{Go: "go1.26.0"}},
			{ID: tare.ControlID, Role: tare.RoleControl, Build: tare.Build{Go: "go1.26.0"}},
			{ID: "lean", Role: tare.RoleContender, Build: tare.Build{Go: "go1.26.0", Modules: []tare.Module{{Path: "example.org/lean", Version: "v1.2.0"}, {Path: "example.org/dep", Version: "v0.1.0"}}}},
			{ID: "new", Role: tare.RoleContender, Build: tare.Build{Go: "go1.26.0", Modules: []tare.Module{{Path: "example.org/new", Version: "v1.0.0"}}}},
		}},
	}
	if fs := Stale(now, now); len(fs) > 0 {
		t.Errorf("the same result is stale: %+v", fs)
	}
	old := &tare.Result{
		Run: tare.Run{Machine: tare.Machine{Arch: "arm64", CPU: "Old 1", Cores: 1, Kernel: "5.4"}},
		Design: tare.Design{Contenders: []tare.Contender{
			{ID: base, Build: tare.Build{Go: "go1.17"}}, {ID: tare.ControlID, Build: tare.Build{Go: "go1.17", Modules: []tare.Module{{Path: "example.org/x", Version: "v1"}}}}, {ID: "gone", Build: tare.Build{Go: "go1.16"}},
			{ID: "lean", Build: tare.Build{Go: "go1.17", Modules: []tare.Module{{Path: "example.org/lean", Version: "v1.1.0"}, {Path: "example.org/left", Version: "v2.0.0", Replace: "../left"}}}},
		}},
	}
	var got []string
	for _, f := range Stale(old, now) {
		if f.Check != "stale" || f.Severity != tare.Note || f.Workload != "" || f.Advice == "" {
			t.Errorf("found %+v", f)
		}
		got = append(got, f.Contender+": "+f.Message)
	}
	want := []string{
		": the processor was Old 1 (arm64, 1 core) then and is Fast 9 (amd64, 8 cores) now",
		": the kernel was 5.4 then and is 6.18 now",
		": the Go that built the contenders was go1.17 then and is go1.26.0 now",
		"lean: example.org/lean was v1.1.0 then and is v1.2.0 now",
		"lean: example.org/dep v0.1.0 is linked now and was not then",
		"lean: example.org/left v2.0.0 (replaced by ../left) was linked then and is not now",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%q\nwant\n%q", got, want)
	}
	wantNone(t, "stale", soundStudy()) // no older result at hand
	if fs := Stale(&tare.Result{}, now); len(fs) > 0 {
		t.Errorf("compared with a result that says nothing: %+v", fs)
	}
}
