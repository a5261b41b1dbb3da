package benchstudy

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/gobench"
)

// pairOf returns counts of functions, of two on each side; of every function the values in
// order are base, base, head, head.
func pairOf(functions map[string][4]float64) *counts.Pair {
	p := &counts.Pair{}
	for i := range 4 {
		c := counts.Count{Places: map[counts.Place]float64{}}
		for name, values := range functions {
			c.PerOp += values[i]
			c.Places[counts.Place{Function: name, File: "/src/" + name + ".go", Line: 7}] = values[i]
		}
		if i < 2 {
			p.Base.Counts = append(p.Base.Counts, c)
		} else {
			p.Head.Counts = append(p.Head.Counts, c)
		}
	}
	return p
}

// counted is a comparison of four benchmarks: one does more, one as much, one exactly one
// instruction less, and one was not counted.
func counted(t *testing.T) *Bench {
	t.Helper()
	b := &Bench{counted: &comparisonCounts{counter: &counts.Counter{}, pairs: map[string]*counts.Pair{
		"m.BenchmarkMore":  pairOf(map[string][4]float64{"route": {1000, 1001, 1500, 1502}, "malloc": {2000, 2003, 2100, 2101}, "noise": {900, 930, 910, 925}, "search": {10, 14, 20, 24}}),
		"m.BenchmarkSame":  pairOf(map[string][4]float64{"route": {5000, 5002, 5001, 5003}}),
		"m.BenchmarkExact": pairOf(map[string][4]float64{"loop": {37.02, 36.95, 36.01, 36.05}}),
	}}}
	for _, name := range []string{"More", "Same", "Exact", "Lost"} {
		m := suite.Benchmark{Package: "m", Name: "Benchmark" + name}
		b.benchmarks = append(b.benchmarks, m)
		b.Study.Workloads = append(b.Study.Workloads, tare.Workload{ID: m.ID()})
	}
	b.counted.compareSides(b.benchmarks)
	return b
}

func TestCompareWork(t *testing.T) {
	b, r := counted(t), &tare.Result{}
	b.counted.counter.AddToResult(r, b.counted.work, b.counted.rows)
	if len(r.Comparisons) != 3 || len(r.Work) != 6 || len(r.Values) != 6 || r.Counter == nil {
		t.Fatalf("recorded: %+v", r.Measured)
	}
	for i, want := range []struct {
		id      string
		differs tare.Significance
		exact   bool
	}{{"m.BenchmarkMore", tare.Significant, false}, {"m.BenchmarkSame", tare.NotShown, false}, {"m.BenchmarkExact", tare.Significant, true}} {
		c := r.Comparisons[i]
		if c.Workload != want.id || c.Differs(0) != want.differs || c.Exact != want.exact || c.Metric != tare.MetricInstructions {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	if c := r.Comparisons[2]; c.AgainstValue != 37 || c.Value != 36 || c.Ratio != 36.0/37 {
		t.Errorf("exactly one less: %+v", c)
	}
}

// Functions are named that differ by more than chance, those that differ most first.
func TestFunctionsOf(t *testing.T) {
	b := counted(t)
	work := diffFunctions(b.counted.pairs["m.BenchmarkMore"])
	var names []string
	for _, o := range work {
		names = append(names, o.Function)
	}
	if strings.Join(names, " ") != "route malloc" {
		t.Fatalf("named: %+v", work)
	}
	if o := work[0]; o.To-o.From != 500.5 || o.File != "route.go" || o.Line != 7 || o.Share < 0.8 || o.Share > 0.9 {
		t.Errorf("route: %+v", o)
	}
}

// Only a benchmark with the same code and the same count is not timed.
func TestSkipSame(t *testing.T) {
	b := counted(t)
	for _, id := range []string{"m.BenchmarkSame", "m.BenchmarkMore", "m.BenchmarkLost"} {
		b.note(SameCode(), id, "the same")
	}
	b.SkipSame()
	var timed []string
	for _, w := range b.Study.Workloads {
		timed = append(timed, w.ID)
	}
	if got := strings.Join(timed, " "); got != "m.BenchmarkMore m.BenchmarkExact m.BenchmarkLost" {
		t.Errorf("timed: %s", got)
	}
	r := &tare.Result{}
	r.Findings = b.findings
	untimed := 0
	for _, f := range r.Findings {
		if f.Check == NotTimed().ID && f.Workload == "m.BenchmarkSame" {
			untimed++
		}
	}
	if untimed != 1 {
		t.Errorf("notes: %+v", r.Findings)
	}
}

// Counts are a result even if the budget is too short for a round. Without counts, and after another error,
// there is none.
func TestSkipTimes(t *testing.T) {
	short := fmt.Errorf("gate: %w", &plan.BudgetError{Budget: 40 * time.Second, Least: time.Minute, What: "a round"})
	if b := (&Bench{}); b.SkipTimes(short) {
		t.Error("skipped without counts")
	}
	b := counted(t)
	b.Sources.Suites = map[string]*suite.Suite{Base: {}, Head: {}}
	timed := len(b.Study.Workloads)
	if b.SkipTimes(errors.New("the disk is full")) || b.SkipTimes(nil) || len(b.Study.Workloads) != timed {
		t.Error("skipped after another error")
	}
	if !b.SkipTimes(short) || len(b.Study.Workloads) != 0 || len(b.skipped) != timed {
		t.Errorf("%d of %d benchmarks are skipped: %+v", len(b.skipped), timed, b.skipped)
	}
	if r := b.UntimedResult(); len(r.Comparisons) == 0 || len(r.NotWeighed) != timed || !strings.Contains(r.NotWeighed[0].Why, "--budget 1m0s does") {
		t.Errorf("%d comparisons; %+v", len(r.Comparisons), r.NotWeighed)
	}
}

func TestUncountable(t *testing.T) {
	b := &Bench{Sources: suite.Sources{Suites: map[string]*suite.Suite{}}}
	sides := func(release string, env ...string) {
		b.Sources.Suites[Base] = &suite.Suite{Side: &suite.Side{}, Go: "go1.26.1", Packages: map[string]gobench.Package{}}
		b.Sources.Suites[Head] = &suite.Suite{Side: &suite.Side{Env: env}, Go: release, Packages: map[string]gobench.Package{}}
	}
	for _, tt := range []struct {
		release string
		env     []string
		want    string
	}{
		{"go1.25.0", nil, ""},
		{"go1.26.1", []string{"A=GOGC=1"}, ""},
		{"go1.26.1", []string{"GOGC=50"}, "head has GOGC=50"},
	} {
		sides(tt.release, tt.env...)
		if got := b.whyUncountable(&counts.Counter{}); got == "" != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s, %v: %q, want %q", tt.release, tt.env, got, tt.want)
		}
	}
}

// Closures that only got other numbers are no difference; one that does more is named once. Where one is
// added, nothing says which it is.
func TestRenumberClosures(t *testing.T) {
	const parse, other = "m.BenchmarkParse", "m.BenchmarkOther"
	base := []map[string]float64{{parse + ".func1": 16, parse + ".func2.1": 31, "m.Parse": 70, other + ".func1": 5, other + ".func9": 6}}
	head := []map[string]float64{{parse + ".func3": 17, parse + ".func4.1": 31, "m.Parse": 70, other + ".func2": 5, other + ".func3": 8, other + ".func9": 7}}
	renumberClosures(base, head)
	want := map[string]float64{parse + ".func3": 16, parse + ".func4.1": 31, "m.Parse": 70, other + ".func1": 5, other + ".func9": 6}
	if !maps.Equal(base[0], want) {
		t.Errorf("%v, want %v", base[0], want)
	}
}

// A count at a line of another function belongs to an inlined one, which is named. Function literals
// and lines between functions are not.
func TestFindInlined(t *testing.T) {
	file := filepath.Join(t.TempDir(), "parse.go")
	source := "package parse\n\nfunc Parse(s string) bool {\n\treturn isX(s)\n}\n\nfunc isX(s string) bool {\n\treturn s == \"x\"\n}\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		function, want string
		line           int
	}{
		{"example.com/parse/v3.Parse", "", 4},
		{"example.com/parse/v3.Parse", "example.com/parse/v3.isX", 8},
		{"example.com/parse.Parse.func1", "", 4},
		{"example.com/parse.isX", "", 7},
		{"example.com/other.F", "parse.isX", 8},
		{"example.com/parse.Parse", "", 6},
		{"example.com/parse.Parse", "", 100},
	} {
		if got := findInlined(counts.Place{Function: c.function, File: file, Line: c.line}); got != c.want {
			t.Errorf("line %d of %s: %q, want %q", c.line, c.function, got, c.want)
		}
	}
	if got := findInlined(counts.Place{Function: "a.F", File: file + ".gone", Line: 1}); got != "" {
		t.Errorf("without a source: %q", got)
	}
}
