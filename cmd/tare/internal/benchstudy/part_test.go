package benchstudy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/gobench"
)

// What changed reaches the packages whose tests need it, and go.mod all.
func TestReached(t *testing.T) {
	for _, name := range []string{"git", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no " + name + " command")
		}
	}
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		assert.NoError(t, "make a directory", os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NoError(t, "write a file", os.WriteFile(path, []byte(text), 0o644))
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put("go.mod", "module example.com/m\n\ngo 1.25\n")
	put("low/low.go", "package low\n")
	put("low/testdata/x.json", "{}")
	put("uses/uses.go", "package uses\n")
	put("uses/uses_test.go", "package uses_test\n\nimport (\n\t\"testing\"\n\n\t_ \"example.com/m/low\"\n)\n\nfunc BenchmarkX(b *testing.B) {}\n")
	put("alone/alone_test.go", "package alone\n\nimport \"testing\"\n\nfunc BenchmarkY(b *testing.B) {}\n")
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "one")
	for _, tt := range []struct {
		changes string
		want    []string
	}{
		{"low/low.go", []string{"example.com/m/uses"}},
		{"low/testdata/x.json", []string{"example.com/m/uses"}},
		{"alone/new.go", []string{"example.com/m/alone"}},
		{"low/README.md", nil},
		{"go.mod", []string{"example.com/m/alone", "example.com/m/low", "example.com/m/uses"}},
	} {
		text, _ := os.ReadFile(filepath.Join(dir, tt.changes))
		if len(text) == 0 {
			text = []byte("package alone\n")
		}
		if strings.HasSuffix(tt.changes, ".go") {
			text = append(text, "\nvar changed int"...)
		}
		put(tt.changes, string(text)+"\n")
		s, err := findSides(t.Context(), Request{Dir: dir, Base: "HEAD"}, t.TempDir())
		assert.NoError(t, "find sides", err)
		all, err := s.head.List(t.Context(), []string{"./..."})
		assert.NoError(t, "list", err)
		reached, partial, err := s.filterReached(t.Context(), all)
		var got []string
		for _, p := range reached {
			got = append(got, p.ImportPath)
		}
		if err != nil || partial != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s reaches %q, %v, %v; want %q", tt.changes, got, err, partial, tt.want)
		}
		git("checkout", "-q", ".")
		git("clean", "-qfd")
	}
}

// What the head has that the base has not is in its title and nowhere else.
func TestWhatTheHeadHas(t *testing.T) {
	dir := t.TempDir()
	s, err := findSides(t.Context(), Request{Dir: dir, Env: []string{"GOGC=50"}, EnvRecord: []string{"GOGC=50"}, Tags: "purego", Go: []string{"go1.25.5", "go1.26.1"}, PGO: "/x/cpu.pprof"}, t.TempDir())
	assert.NoError(t, "find sides", err)
	if s.base.Go != "go1.25.5" || s.head.Go != "go1.26.1" || len(s.base.Env) > 0 || s.base.Tags != "" || s.head.Tags != "purego" {
		t.Errorf("base %+v, head %+v", s.base, s.head)
	}
	if got, want := s.titles[Head], "as it is with GOGC=50, tags purego, profile cpu.pprof, go1.26.1"; got != want {
		t.Errorf("head is %q, want %q", got, want)
	}
	if got, want := s.titles[Base], "as it is with go1.25.5"; got != want {
		t.Errorf("base is %q, want %q", got, want)
	}
}

// A slice is long enough for what testing does around it, and for collections.
func TestSliceRule(t *testing.T) {
	b := Bench{SliceTime: sliceLength}
	b.planSlices([]suite.Benchmark{
		{Package: "p", Name: "BenchmarkLean", NSPerOp: 100, Overhead: time.Millisecond},
		{Package: "p", Name: "BenchmarkAllocates", NSPerOp: 1000, BytesPerOp: 500, Overhead: time.Millisecond},
		{Package: "p", Name: "BenchmarkAllocatesMuch", NSPerOp: 1000, BytesPerOp: 5000, Overhead: time.Millisecond},
		{Package: "p", Name: "BenchmarkSetsUp", NSPerOp: 100, Overhead: 30 * time.Millisecond},
		{Package: "p", Name: "BenchmarkSlow", NSPerOp: 1e9, Overhead: time.Millisecond},
	})
	for i, want := range []time.Duration{sliceLength, 32 * time.Millisecond, allocLength, 60 * time.Millisecond, 0} {
		if got := b.Study.Workloads[i].Slice; got != want {
			t.Errorf("%s: slices of %v, want %v", b.Study.Workloads[i].ID, got, want)
		}
	}
	if len(b.findings) != 2 || b.findings[0].Workload != "p.BenchmarkSetsUp" || b.findings[0].Check != "long-slices" || b.findings[1].Check != "whole-runs" {
		t.Errorf("findings: %v", b.findings)
	}
	first := b.forecastTime(b.Study.Workloads[:1], 12, true)
	if _, err := b.Budget(first + time.Second); err != nil || len(b.Study.Workloads) != 1 || len(b.skipped) != 4 || len(b.findings) != 0 {
		t.Errorf("%v for one: %d are measured, %d left out, %v", first, len(b.Study.Workloads), len(b.skipped), err)
	}
	for _, l := range b.skipped {
		if !strings.Contains(l.String(), "holds 1 of 5 benchmarks") {
			t.Errorf("%s: %s", l.ID, l)
		}
	}
}

// Slices of a benchmark that stops its timer are cut by all the time they take, and so is
// what rounds of it are expected to take.
func TestStoppedTimers(t *testing.T) {
	b := Bench{SliceTime: sliceLength}
	stops := suite.Benchmark{Package: "p", Name: "BenchmarkStops", NSPerOp: 50, UntimedNS: 99950, Overhead: time.Millisecond}
	b.planSlices([]suite.Benchmark{
		stops,
		{Package: "p", Name: "BenchmarkStopsLong", NSPerOp: 50, UntimedNS: 400e6, Overhead: time.Millisecond},
	})
	if got := b.Study.Workloads[0].Slice; got != 24*time.Microsecond { // 480 iterations, 48 ms
		t.Errorf("slices of %v", got)
	}
	if got := b.Study.Workloads[1].Set[gobench.SetRun]; got != "1" || len(b.findings) != 1 || !strings.HasPrefix(b.findings[0].Message, "one iteration takes 400ms, most of it with its timer stopped, and a slice") {
		t.Errorf("runs of %q, %v", got, b.findings)
	}
	whole := b.forecastTime(b.Study.Workloads[1:], 10, true) - b.forecastTime(b.Study.Workloads[1:], 0, true)
	if least := 10 * 3 * 2 * 400 * time.Millisecond; whole < least || whole > 3*least {
		t.Errorf("ten rounds of two runs of 400 ms of three processes: %v", whole)
	}
	round := b.forecastTime(b.Study.Workloads[:1], 1, true) - b.forecastTime(b.Study.Workloads[:1], 0, true)
	if least := 3 * MaxSlices * 48 * time.Millisecond; round < least || round > 2*least {
		t.Errorf("a round of %d slices of 48 ms of three processes: %v", MaxSlices, round)
	}
}

// Every eighth round of a budget has another one behind it, with two slices of eight times the length
// at least. A fixed number of rounds has none.
func TestLongRoundsAreForecast(t *testing.T) {
	b := Bench{SliceTime: sliceLength}
	b.planSlices([]suite.Benchmark{{Package: "p", Name: "BenchmarkAllocates", NSPerOp: 1000, BytesPerOp: 500, Overhead: time.Millisecond}})
	w := b.Study.Workloads
	for rounds, want := range map[int]time.Duration{23: 0, 24: 3, 27: 3, 32: 4} {
		extra := b.forecastTime(w, rounds, true) - b.EstimateTime(rounds)
		if least := want * 3 * 2 * 8 * w[0].Slice; extra < least || extra > least*5/4 {
			t.Errorf("%d rounds take %v more with those of longer slices, want %v", rounds, extra, least)
		}
	}
}

// A process starts once a round for all benchmarks of its package, and what a benchmark
// sets up is done for each of its runs.
func TestExpectedStarts(t *testing.T) {
	m := suite.Benchmark{Package: "p", Name: "BenchmarkA", NSPerOp: 1000, Overhead: time.Millisecond}
	round := func(edit func(all []suite.Benchmark)) time.Duration {
		all := []suite.Benchmark{m, m}
		all[1].Name = "BenchmarkB"
		edit(all)
		b := Bench{SliceTime: sliceLength}
		b.planSlices(all)
		return b.forecastTime(b.Study.Workloads, 1, true) - b.forecastTime(b.Study.Workloads, 0, true)
	}
	plain := round(func([]suite.Benchmark) {})
	together := round(func(all []suite.Benchmark) { all[0].StartTime, all[1].StartTime = time.Second, time.Second })
	apart := round(func(all []suite.Benchmark) {
		all[0].StartTime, all[1].StartTime, all[1].Package = time.Second, time.Second, "q"
	})
	if one, two := together-plain, apart-plain; one.Round(time.Millisecond) != 3*time.Second || two.Round(time.Millisecond) != 6*time.Second {
		t.Errorf("starts of one package take %v a round, of two %v; want 3 s and 6 s", one, two)
	}
	linked := round(func(all []suite.Benchmark) { all[0].LinkTime, all[1].LinkTime = time.Second, time.Second })
	if more := linked - plain; more.Round(time.Millisecond) != 3*time.Second {
		t.Errorf("links of one package take %v a round, want 3 s", more)
	}
	// One process at a time: a start for the warm-up and for each of two runs, of every benchmark.
	isAlone := func(start time.Duration) func([]suite.Benchmark) {
		return func(all []suite.Benchmark) {
			for i := range all {
				all[i].WhyAlone, all[i].StartTime = "the port is taken", start
			}
		}
	}
	if more := round(isAlone(time.Second)) - round(isAlone(0)); more.Round(time.Millisecond) != 18*time.Second {
		t.Errorf("starts of a package with one process at a time take %v a round, want 3 s for each side and benchmark", more)
	}
	setUp := round(func(all []suite.Benchmark) { all[0].Overhead += 300 * time.Millisecond })
	if more := setUp - plain; more < 3*2*600*time.Millisecond { // two runs, of one iteration and of the others
		t.Errorf("300 ms of set-up take %v a round", more)
	}
}

// A benchmark that takes long does not keep those behind it out.
func TestMaxHoldsWhatFits(t *testing.T) {
	b := Bench{SliceTime: sliceLength}
	b.planSlices([]suite.Benchmark{
		{Package: "p", Name: "BenchmarkLean", NSPerOp: 100, Overhead: time.Millisecond},
		{Package: "p", Name: "BenchmarkSetsUp", NSPerOp: 100, Overhead: 100 * time.Millisecond},
		{Package: "p", Name: "BenchmarkLeanToo", NSPerOp: 100, Overhead: time.Millisecond},
	})
	lean := []tare.Workload{b.Study.Workloads[0], b.Study.Workloads[2]}
	if _, err := b.Budget(b.forecastTime(lean, 12, true) + time.Second); err != nil {
		t.Fatal(err)
	}
	if len(b.skipped) != 1 || b.skipped[0].ID != "p.BenchmarkSetsUp" || len(b.Study.Workloads) != 2 || b.Study.Workloads[1].ID != "p.BenchmarkLeanToo" {
		t.Errorf("measured %v, left out %v", b.Study.Workloads, b.skipped)
	}
}

// What cannot be cut into slices is measured in whole runs, which the plan gives
// few and long slices, and a note says why.
func TestWholeRuns(t *testing.T) {
	b := Bench{SliceTime: sliceLength}
	b.planSlices([]suite.Benchmark{
		{Package: "p", Name: "BenchmarkLong", NSPerOp: 300e6, Overhead: time.Millisecond},
		{Package: "p", Name: "BenchmarkSetsUp", NSPerOp: 1000, Overhead: 200 * time.Millisecond},
		{Package: "p", Name: "BenchmarkGrows", NSPerOp: 1000, Overhead: time.Millisecond, Growth: 7.91, RunIterations: 4321},
		{Package: "p", Name: "BenchmarkAround", NSPerOp: 1000, Overhead: time.Millisecond, OutsideLoop: 3 * time.Millisecond, RunIterations: 1234},
		{Package: "p", Name: "BenchmarkOther", NSPerOp: 1000, Overhead: time.Millisecond},
	})
	for i, want := range []struct{ run, why string }{
		{"2", "one iteration takes 300ms, and a slice is at most 250ms long: it is measured in whole runs of 2 iterations, two of each side in a round"},
		{"500000", "testing takes 200ms to set the benchmark up again for every slice, and a slice is at most 250ms long: "},
		{"4321", "an iteration takes 7.9 times as long where eight times as many are requested: "},
		{"1234", "3ms of every run of it is work outside the loop that its time includes: "},
	} {
		if got := b.Study.Workloads[i].Set[gobench.SetRun]; got != want.run {
			t.Errorf("%s: runs of %q, want %q", b.Study.Workloads[i].ID, got, want.run)
		}
		if f := b.findings[i]; f.Check != "whole-runs" || f.Severity != tare.Note || f.Advice == "" || f.Workload != b.Study.Workloads[i].ID || !strings.HasPrefix(f.Message, want.why) {
			t.Errorf("%+v, want %q", f, want.why)
		}
	}
	if len(b.findings) != 4 || b.Study.Workloads[4].Set != nil {
		t.Errorf("the other one: %+v; findings %v", b.Study.Workloads[4], b.findings)
	}
	var pilots []tare.Pilot // as the kind answers where nothing is timed: an operation is a run
	ids := []string{Base, tare.ControlID, Head, tare.NullID}
	for _, id := range ids {
		pilots = append(pilots, tare.Pilot{Contender: id, Workload: "w", NSPerOp: 500e6, BytesPerOp: 1000})
	}
	p := plan.New([]tare.Workload{{ID: "w"}}, ids, pilots, plan.Options{Rounds: 1, Slice: sliceLength, Most: MaxSlices})
	if s := p.Slices[0]; s.Count != 2 || s.Block != 1 || !s.RatioOfSums || s.Ops[Head] != 1 {
		t.Errorf("the plan for whole runs: %+v", s)
	}
}

// Both sides have the same iterations in a whole run, whichever needs them.
func TestWholeRunsOfOneSide(t *testing.T) {
	at := suite.Benchmark{Package: "p", Name: "BenchmarkX", NSPerOp: 100}
	grows, most := at, at
	grows.Growth, grows.RunIterations = 2, 1000
	most.OutsideLoop, most.RunIterations = 3, 500
	for _, tt := range []struct {
		base, head suite.Benchmark
		run        int64
	}{{at, at, 0}, {grows, at, 1000}, {at, grows, 1000}, {grows, most, 500}, {most, grows, 500}} {
		got := (&Bench{}).sharedBenchmarks([]suite.Benchmark{tt.base}, []suite.Benchmark{tt.head}, nil)
		if len(got) != 1 || got[0].RunIterations != tt.run || (got[0].Growth+float64(got[0].OutsideLoop) > 0) != (tt.run > 0) {
			t.Errorf("%+v and %+v: %+v", tt.base, tt.head, got)
		}
	}
}

// What is said of both sides is said once, and of one side with its name.
func TestWhoseFault(t *testing.T) {
	left := mergeSides([]suite.Skipped{
		{ID: "a", Side: Base, Why: "it fails"}, {ID: "b", Side: Base, Broken: true, Why: "x.go:1:1: oh"}, {ID: "c", Side: Base, Why: "one"},
		{ID: "a", Side: Head, Why: "it fails"}, {ID: "b", Side: Head, Broken: true, Why: "x.go:1:1: oh"}, {ID: "c", Side: Head, Why: "two"}, {ID: "d", Side: Head, Broken: true, Why: "y"},
	})
	var got []string
	for _, l := range left {
		got = append(got, l.ID+" "+l.Side+"|"+l.String())
	}
	want := []string{
		"a both sides|both sides: it fails", "b both sides|both sides do not build: x.go:1:1: oh", "c base|base: one", "c head|head: two", "d head|head does not build: y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every note explains itself.
func TestNotes(t *testing.T) {
	for _, n := range Notes() {
		if n.ID == "" || n.Severity != tare.Note || !strings.HasSuffix(n.Summary, ".") || !strings.HasSuffix(n.Why, ".") || n.Advice == "" {
			t.Errorf("%+v", n)
		}
	}
}

// Nothing of the null contender, nor of what was not measured, is in a result.
func TestFinish(t *testing.T) {
	r := &tare.Result{
		Design: tare.Design{
			Contenders: []tare.Contender{{ID: Base}, {ID: tare.ControlID}, {ID: Head}, {ID: tare.NullID}},
			Plan:       tare.Plan{Contenders: []string{Base, tare.NullID}, Slices: []tare.Slicing{{Contenders: []string{Base, tare.NullID}, Ops: map[string]int64{Base: 1, tare.NullID: 2}}}},
		},
		Measured: tare.Measured{
			Rounds:      []tare.Effects{{A: Head, B: Base}, {A: tare.NullID, B: Base}},
			Values:      []tare.Value{{Contender: Base}, {Contender: tare.NullID}},
			Comparisons: []tare.Comparison{{Contender: Head, Against: Base}},
		},
		Judged: tare.Judged{Conformance: []tare.Conformance{{Contender: Base}}},
		Record: tare.Record{Trials: []tare.Trial{
			{Contender: Base, Tau: 1, Samples: map[string]tare.Sample{"w": {"time_ns_per_op": 1, "cpu_ns_per_op": 0, "reported:MB/s": 5}}},
			{Contender: tare.NullID, Samples: map[string]tare.Sample{"w": {"time_ns_per_op": 1}}},
		}},
	}
	b := &Bench{skipped: []suite.Skipped{{ID: "x", Side: Head, Why: "y"}}}
	b.Finish(r)
	if len(r.Contenders) != 3 || len(r.Plan.Contenders) != 1 || len(r.Plan.Slices[0].Ops) != 1 || len(r.Rounds) != 1 || len(r.Values) != 1 || len(r.Trials) != 1 || len(r.Conformance) != 0 {
		t.Errorf("left in it: %+v", r)
	}
	if _, is := r.Trials[0].Samples["w"]["cpu_ns_per_op"]; is || len(r.NotWeighed) != 1 || r.NotWeighed[0].Why != "head: y" {
		t.Errorf("samples %v, not measured %v", r.Trials[0].Samples, r.NotWeighed)
	}
	if got := ReportedUnits(r, "w"); !slices.Equal(got, []string{"MB/s"}) {
		t.Errorf("reported: %q", got)
	}
}
