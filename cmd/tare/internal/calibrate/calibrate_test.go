package main

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// line makes up a study in which plus5 takes 5 % longer and nobody else does.
func line(seed uint64, sd float64) Line {
	rng := rand.New(rand.NewPCG(seed, 1))
	l := Line{Seed: seed, Seconds: 20, Pressure: 0.1, Effects: map[string][]float64{}}
	for id, truth := range map[string]float64{"control": 0, "twin": 0, "plus2": math.Log(1.02), "plus5": math.Log(1.05)} {
		for range rounds {
			l.Effects[id] = append(l.Effects[id], truth+sd*rng.NormFloat64())
		}
	}
	return l
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	for i := range uint64(20) {
		if err := appendLine(filepath.Join(dir, "spin.ndjson"), line(bases[0].first+i, 0.02)); err != nil {
			t.Fatal(err)
		}
	}
	method := filepath.Join(dir, "METHOD.md")
	if err := os.WriteFile(method, []byte("before\n<!-- calibration:begin -->\nold\n<!-- calibration:end -->\nafter\n<!-- calibration-bench:begin -->\n<!-- calibration-bench:end -->\n<!-- calibration-counts:begin -->\n<!-- calibration-counts:end -->\n<!-- calibration-modules:begin -->\n<!-- calibration-modules:end -->\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-dir", dir, "-method", method}, &out, &out); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(method)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for _, want := range []string{
		"before\n", "\nafter\n", "**spin base**: 20 studies of 40 rounds, seeds 1001–1020",
		"| plus5 | +5 % | 20 of 20 | 20 of 20 | 83 % to 100 % |", "**alloc base**: not measured yet",
		"| loops | not counted yet; run `make calibrate-counts` |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\nold\n") {
		t.Error("the old table is still there")
	}
}

// benchLine makes up a study of two revisions in which head's Mix takes planted
// of the time of base's.
func benchLine(seed uint64, planted float64) BenchLine {
	rng := rand.New(rand.NewPCG(seed, 2))
	l := BenchLine{Seed: seed, Seconds: 60, Rounds: 40, Benchmark: map[string]Row{}}
	for _, id := range []string{"Mix", "Sum", "Find"} {
		row := Row{Low: 0.98, High: 1.02, P: 0.5}
		truth := 0.0
		if id == "Mix" && planted != 1 {
			truth = math.Log(planted)
			row.Low, row.High, row.Said = planted*0.98, planted*1.02, "slower"
		}
		for range 40 {
			row.Effects, row.Control = append(row.Effects, truth+0.02*rng.NormFloat64()), append(row.Control, 0.02*rng.NormFloat64())
		}
		l.Benchmark[id] = row
	}
	return l
}

func TestBenchSummary(t *testing.T) {
	lines := map[uint64]BenchLine{}
	for i := range uint64(30) {
		lines[9201+i] = benchLine(9201+i, 1.05)
	}
	wrong := lines[9203]
	sum := wrong.Benchmark["Sum"]
	sum.Said, sum.Low = "slower", 1.01
	wrong.Benchmark["Sum"] = sum
	var out bytes.Buffer
	named("bench-slower").writeTable(&out, lines)
	for _, want := range []string{
		"30 times, seeds 9201–9230; 40 rounds (median; 40 to 40) in 60 s",
		"| Mix | +5.0 % | 30 of 30 | 30 of 30 | 1.0", "| 30 of 30 |", "| Sum | equal | 1 of 30 | 1 of 30 |", "| 0 → 0 in 30 of 30 |",
		"difference that does not exist: 1 of 30 (0 % to 17 %).", "Rounds after which 90 % of the runs find it: ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	same := map[uint64]BenchLine{}
	for i := range uint64(4) {
		l := benchLine(i, 1)
		find := l.Benchmark["Find"]
		if find.P = 0.04; i == 0 {
			l.Benchmark["Find"] = find
		}
		if l.InBlocks = 26; i == 3 {
			l.InBlocks = 0 // it has none beside it
			find.P = 0
			l.Benchmark["Find"] = find
		}
		same[i] = l
	}
	out.Reset()
	named("bench-same").writeTable(&out, same)
	if want := "difference that does not exist: 0 of 4 (0 % to 60 %); by benchstat, of `go test -count=10` of base and then of head, 26 s together: 1 of 3"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// A row counts the studies that say it differs, and those whose interval holds the truth. A result
// without counts is an error with its reason.
func TestCountSummary(t *testing.T) {
	r := &tare.Result{}
	r.Findings = []tare.Finding{{Check: "not-counted", Message: "no counter"}}
	if _, err := newCountLine(r, 1); err == nil || err.Error() != "no counter" {
		t.Errorf("without a counter: %v", err)
	}
	r.Counter = &tare.Counter{Name: "valgrind", Version: "3.19.0"}
	lines := map[uint64]CountLine{}
	for i, ratio := range []float64{1.0499, 1.0502, 1.0532} {
		r.Comparisons = []tare.Comparison{
			{Workload: "example.com/work.BenchmarkMix", Metric: "time", Ratio: 2, Low: 1.9, High: 2.1},
			{Workload: "example.com/work.BenchmarkMix", Metric: tare.MetricInstructions, Ratio: ratio, Low: ratio - 0.001, High: ratio + 0.001},
			{Workload: "example.com/work.BenchmarkSum", Metric: tare.MetricInstructions, Ratio: 1, Low: 1, High: 1, Exact: true},
		}
		l, err := newCountLine(r, uint64(i))
		if err != nil || l.Counter != "valgrind 3.19.0" {
			t.Fatalf("%+v, %v", l, err)
		}
		lines[l.Seed] = l
	}
	var out bytes.Buffer
	named("bench-slower").writeCounts(&out, lines)
	want := "| slower | Mix | +5.0 % | 3 of 3 | 1.0502 | ±0.10 % | 0.32 points | 2 of 3 |\n| slower | Sum | equal | 0 of 3 | 1.0000 | ±0.00 % | 0.00 points | 3 of 3 |\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// Every pair plants what it says in source that it finds, both sides compile, and
// its benchmarks are there.
func TestPairs(t *testing.T) {
	for _, p := range pairs {
		base, head, tests, err := p.readSources()
		if err != nil {
			t.Fatal(err)
		}
		for side, source := range map[string]string{"base": base, "head": head} {
			if _, err := parser.ParseFile(token.NewFileSet(), "work.go", source, 0); err != nil {
				t.Errorf("%s, %s: %v", p.name, side, err)
			}
		}
		if p.module == "work" && p.truths == nil && lineCount(base) > lineCount(head) {
			t.Errorf("%s: head has lost code:\n%s", p.name, head)
		}
		for name, turns := range loops {
			if p.module == "loops" && !strings.Contains(tests, fmt.Sprintf("%s(%d)", name, turns[0])) {
				t.Errorf("no loop %s is asked for %d turns", name, turns[0])
			}
		}
		for _, id := range strings.Split(p.bench, "|") {
			if !strings.Contains(tests, "func Benchmark"+id+"(") {
				t.Errorf("%s: no benchmark %s", p.name, id)
			}
		}
	}
	if head := lengthenLoops("var extraXor = 0\n"); head != "var extraXor = 160\n" {
		t.Errorf("a longer loop is %q", head)
	}
}

func named(name string) pair {
	return pairs[slices.IndexFunc(pairs, func(p pair) bool { return p.name == name })]
}

func lineCount(text string) int { return strings.Count(text, "\n") }

func TestTimesOf(t *testing.T) {
	times, err := parseTimes([]byte("goos: linux\nBenchmarkMix-2   \t 1000\t 40.0 ns/op\nBenchmarkMix-2   \t 1000\t 42.0 ns/op\nPASS\n"))
	if err != nil || len(times) != 1 || len(times["Mix"]) != 2 || math.Abs(times["Mix"][0]-40e-9) > 1e-15 {
		t.Errorf("times %v, %v", times, err)
	}
}

func TestRoundsFor(t *testing.T) {
	var few, many []Line
	for i := range uint64(60) {
		few = append(few, line(i, 0.02))
		many = append(many, line(i, 0.2))
	}
	if _, got := roundsFor(few, "plus5", rounds, errorLevel); len(got) > 2 {
		t.Errorf("little noise takes %s rounds, want a few", got)
	}
	if _, got := roundsFor(many, "plus5", rounds, errorLevel); !strings.HasPrefix(got, "about") && !strings.HasPrefix(got, "more than") {
		t.Errorf("much noise takes %s rounds, want more than one study has", got)
	}
	if _, published := differsAfter(line(1, 0.02), "plus5", 4, errorLevel); published {
		t.Error("a difference was published from four rounds, which have no interval")
	}
}

// The history that is searched has one commit of 8 % among others of a percent.
func TestHistoryOfASearch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git command")
	}
	repo := filepath.Join(t.TempDir(), "repo")
	planted, commits, err := searchKinds["time"].writeHistory(t.Context(), repo, firstSeed)
	if err != nil || len(commits) != searchCommits+1 || planted < 1 || planted > searchCommits {
		t.Fatalf("%d planted, %d commits, %v", planted, len(commits), err)
	}
	for i, commit := range commits {
		source, err := runCommand(t.Context(), repo, "git", "show", commit+":search.go")
		if err != nil {
			t.Fatal(err)
		}
		var turns float64
		_, rest, _ := strings.Cut(string(source), "const turns = ")
		if _, err := fmt.Sscan(rest, &turns); err != nil {
			t.Fatal(err)
		}
		low, high := spinIterations*0.989, spinIterations*1.011
		if i >= planted {
			low, high = low*(1+searchKinds["time"].effect), high*(1+searchKinds["time"].effect)
		}
		if turns < low || turns > high {
			t.Errorf("commit %d has %v turns; planted is %d", i, turns, planted)
		}
	}
}

// What was kept of searches is counted, and nothing is measured without a tare.
func TestSearchesAreCounted(t *testing.T) {
	dir := t.TempDir()
	for i, found := range []int{7, 7, 8, 0} {
		s := Search{Seed: firstSeed + uint64(i), Planted: 7, Tare: Found{Commit: 7, Measured: 6, Seconds: 120}, Git: Found{Commit: found, Measured: 5, Seconds: 60}}
		if err := appendLine(filepath.Join(dir, "bisects.ndjson"), s); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := searchKinds["time"].runSearches(t.Context(), "", dir, 20, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| `tare bisect` | 4 of 4 | 0 | 0 | 6 (6–6) | 2.0 (2.0–2.0) |", "benchstat's test | 2 of 4 | 1 | 1 | 5 (5–5) | 1.0 (1.0–1.0) |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// The tables of the documents are what calibrate writes of what was measured.
func TestTablesAreOfWhatWasMeasured(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "docs")
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
	}{
		{filepath.Join("calibration", "README.md"), []string{"-method"}},
		{"bisect.md", []string{"-bisects", "20", "-bisect-page"}},
		{"bisect.md", []string{"-bisects", "20", "-metric", "instructions", "-bisect-page"}},
	} {
		name, args := c.name, c.args
		want, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), append(args, page, "-dir", filepath.Join(docs, "calibration")), io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: its tables are not those of docs/calibration (%v): run calibrate", name, err)
		}
	}
}
