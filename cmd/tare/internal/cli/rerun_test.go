package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

func TestRelinked(t *testing.T) {
	today := map[string]string{"example.com/a": "v1.2.0", "example.com/b": "v1.0.0", "example.com/c": "v1.1.0", "example.com/d": "v1.0.0"}
	then := []tare.Module{
		{Path: "example.com/a", Version: "v1.1.0"}, {Path: "example.com/b", Version: "v1.0.0"}, {Path: "example.com/c", Version: "v1.0.0"},
		{Path: "example.com/d", Version: "v0.9.0", Replace: "../d"}, {Path: "example.com/gone", Version: "v3.0.0"}, {Path: "example.com/a b", Version: "v1.0.0"},
	}
	got := relinked(today, then, []string{"example.com/c@v1.1.0", "not a module"})
	if !slices.Equal(got, []string{"example.com/a@v1.1.0"}) {
		t.Errorf("%q", got)
	}
}

func TestVersionsOfALeaf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"x/contender.json": `{"id": "x", "kind": "codec", "why": "a contender", "modules": []}`,
		"x/main.go":        "package main\n",
		"x/go.mod": "module example.com/x\n\ngo 1.25\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/two v2.0.0+incompatible\n\texample.com/three v0.3.0 // indirect\n)\n" +
			"replace example.com/four v4.0.0 => example.com/five v5.0.0\n\nexclude (\n\texample.com/six v6.0.0\n)\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := shop{&catalog.Sources{Catalog: c, Builder: &build.Builder{}}}
	got := s.Versions("codec", tare.Entry{ID: "x"})
	if len(got) != 3 || got["example.com/one"] != "v1.0.0" || got["example.com/two"] != "v2.0.0+incompatible" || got["example.com/three"] != "v0.3.0" {
		t.Errorf("%q", got)
	}
	if got := s.Versions("codec", tare.Entry{ID: "nobody"}); got != nil {
		t.Errorf("of nobody: %q", got)
	}
}

func TestToolchainOfToday(t *testing.T) {
	tool, err := cmdenv.FindToolchain(t.Context())
	if err != nil {
		t.Skip(err)
	}
	s := shop{&catalog.Sources{}}
	if err := s.Toolchain(t.Context(), tool.Version); err != nil || s.Go != "" {
		t.Errorf("%q, %v", s.Go, err)
	}
	if err := s.Toolchain(t.Context(), "devel"); err == nil || s.Go != "" || !strings.Contains(err.Error(), tool.Version+" builds them instead") {
		t.Errorf("%q, %v", s.Go, err)
	}
}

func TestBuiltBy(t *testing.T) {
	r := &tare.Result{Contenders: []tare.Contender{{Go: "go1.25.5"}, {Go: "go1.26.0 X:nodwarf5"}, {Go: "go1.26.0"}, {}, {}, {}}}
	if got := builtBy(r); got != "go1.26.0" {
		t.Error(got)
	}
	if got := builtBy(&tare.Result{}); got != "" {
		t.Error(got)
	}
}

func TestAskedOptions(t *testing.T) {
	plan := tare.Plan{Isolation: tare.TrialWise}
	for name, c := range map[string]struct {
		old  tare.Result
		want runOptions
		err  string
	}{
		"all of it": {tare.Result{Seed: "7", Plan: plan, Procs: 2, Env: []string{"GOGC=200"}, Asked: tare.Asked{
			Budget: "1m30s", Slice: 8 * time.Millisecond, Contenders: []string{"a*"}, Workloads: []string{"w"}, With: []string{"example.com/a@v1.0.0"}, Go: "go1.25.5"}},
			runOptions{seed: 7, isolation: tare.TrialWise, procs: 2, env: []string{"GOGC=200"}, budget: 90 * time.Second, user: true, slice: 8 * time.Millisecond,
				only: lab.Only{Contenders: []string{"a*"}, Workloads: []string{"w"}}, with: []string{"example.com/a@v1.0.0"}, release: "go1.25.5"}, ""},
		"full with rounds":      {tare.Result{Seed: "7", Budget: "9 rounds", Asked: tare.Asked{Budget: "full", Rounds: 9}}, runOptions{seed: 7, isolation: tare.Lockstep, rounds: 9}, ""},
		"says less: quick":      {tare.Result{Seed: "7", Budget: "quick (40s)"}, runOptions{seed: 7, isolation: tare.Lockstep, quick: true}, ""},
		"says less: full":       {tare.Result{Seed: "7", Budget: "full (5m0s)"}, runOptions{seed: 7, isolation: tare.Lockstep}, ""},
		"says less: a duration": {tare.Result{Seed: "7", Budget: "1m30s"}, runOptions{seed: 7, isolation: tare.Lockstep, user: true, budget: 90 * time.Second}, ""},
		"says less: rounds":     {tare.Result{Seed: "7", Budget: "8 rounds", NotWeighed: []tare.NotWeighed{{}}}, runOptions{seed: 7, isolation: tare.Lockstep, rounds: 8, quick: true}, ""},
		"says less: all rounds": {tare.Result{Seed: "7", Budget: "8 rounds"}, runOptions{seed: 7, isolation: tare.Lockstep, rounds: 8}, ""},
		"a seed of another":     {tare.Result{Seed: "x", Budget: "full"}, runOptions{}, `the result was made with seed "x", which cannot be asked for`},
		"a budget of another":   {tare.Result{Seed: "7", Budget: "lots"}, runOptions{}, `the result was made with budget "lots"`},
		"a pattern of another":  {tare.Result{Seed: "7", Asked: tare.Asked{Budget: "quick", Workloads: []string{"["}}}, runOptions{}, `"[" is not a pattern`},
		"a variable of another": {tare.Result{Seed: "7", Env: []string{"TARE_WIRE=1"}, Asked: tare.Asked{Budget: "quick"}}, runOptions{}, "--env TARE_WIRE is not taken"},
		"a Go of another":       {tare.Result{Seed: "7", Asked: tare.Asked{Budget: "quick", Go: "../x"}}, runOptions{}, `the result was made with Go "../x"`},
	} {
		got, err := askedOptions(&c.old)
		if c.err != "" {
			if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || asked(got) != asked(c.want) || got.seed != c.want.seed || got.slice != c.want.slice || got.user != c.want.user || got.isolation != c.want.isolation {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRelativeStudies(t *testing.T) {
	for name, c := range map[string]struct {
		study tare.Study
		want  bool
	}{
		"names only":  {tare.Study{Contenders: []tare.Entry{{ID: "a", With: []string{"example.com/a@v1.0.0"}}}, Workloads: []tare.Workload{{Fixture: "devices"}}}, false},
		"a program":   {tare.Study{Contenders: []tare.Entry{{ID: "a", Program: "./a"}}}, true},
		"a command":   {tare.Study{Contenders: []tare.Entry{{ID: "a", Command: []string{"./srv"}}}}, true},
		"a directory": {tare.Study{Contenders: []tare.Entry{{ID: "a", With: []string{"example.com/a=../a"}}}}, true},
		"a file":      {tare.Study{Workloads: []tare.Workload{{File: "payload.json"}}}, true},
	} {
		if got := relative(c.study); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCompare(t *testing.T) {
	run := func(ruling tare.Ruling, ratio, low, high float64) *tare.Result {
		return &tare.Result{
			Study:       "s",
			Verdicts:    []tare.Verdict{{Contender: "a", Workload: "w", Metric: "time"}, {Contender: "a", Workload: "w", Metric: "time", Criterion: "time ratio <= 0.5", Verdict: ruling}},
			Comparisons: []tare.Comparison{{Contender: "a", Workload: "w", Metric: "time", Against: "b", Ratio: ratio, Low: low, High: high}},
		}
	}
	for _, c := range []struct {
		name      string
		then, now *tare.Result
		words     string
	}{
		{"the same", run(tare.Met, 0.4, 0.3, 0.45), run(tare.Met, 0.41, 0.3, 0.45), "same"},
		{"apart on one side", run(tare.Met, 0.2, 0.1, 0.25), run(tare.Met, 0.41, 0.3, 0.45), "same, but the intervals do not overlap"},
		{"another", run(tare.Met, 0.4, 0.3, 0.45), run(tare.NotMet, 0.8, 0.7, 0.9), "changed, and the intervals do not overlap"},
		{"less evidence", run(tare.Met, 0.4, 0.3, 0.45), run(tare.Inconclusive, 0.4, 0.2, 0.6), "changed, though the intervals overlap"},
		{"too few rounds", run(tare.Met, 0.4, 0.3, 0.45), run(tare.Inconclusive, 0.4, 0, 0), "changed"},
		{"only now", &tare.Result{}, run(tare.Met, 0.4, 0.3, 0.45), "only now"},
		{"only then", run(tare.Met, 0.4, 0.3, 0.45), &tare.Result{}, "only then"},
	} {
		got := compare(c.then, c.now)
		if len(got.Verdicts) != 1 || got.Verdicts[0].words() != c.words {
			t.Errorf("%s: %+v, want %q", c.name, got.Verdicts, c.words)
		}
	}
	bare := func(low, high float64) *tare.Result {
		r := run("", (low+high)/2, low, high)
		r.Verdicts = r.Verdicts[:1]
		return r
	}
	if got := compare(bare(0.3, 0.4), bare(0.5, 0.6)).Verdicts[0].words(); got != "changed: the intervals do not overlap" {
		t.Error(got)
	}
	if got := compare(bare(0.3, 0.5), bare(0.4, 0.6)).Verdicts[0].words(); got != "no change shown: the intervals overlap" {
		t.Error(got)
	}
}
