package rerun

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

func TestRelinked(t *testing.T) {
	today := map[string]string{"example.com/a": "v1.2.0", "example.com/b": "v1.0.0", "example.com/c": "v1.1.0", "example.com/d": "v1.0.0"}
	then := []tare.Module{
		{Path: "example.com/a", Version: "v1.1.0"}, {Path: "example.com/b", Version: "v1.0.0"}, {Path: "example.com/c", Version: "v1.0.0"},
		{Path: "example.com/d", Version: "v0.9.0", Replace: "../d"}, {Path: "example.com/gone", Version: "v3.0.0"}, {Path: "example.com/a b", Version: "v1.0.0"},
	}
	got := olderModules(today, then, []string{"example.com/c@v1.1.0", "not a module"})
	if !slices.Equal(got, []string{"example.com/a@v1.1.0"}) {
		t.Errorf("%q", got)
	}
}

func TestBuiltBy(t *testing.T) {
	r := &tare.Result{Design: tare.Design{Contenders: []tare.Contender{{Build: tare.Build{Go: "go1.25.5"}}, {Build: tare.Build{Go: "go1.26.0 X:nodwarf5"}}, {Build: tare.Build{Go: "go1.26.0"}}, {}, {}, {}}}}
	if got := mainRelease(r); got != "go1.26.0" {
		t.Error(got)
	}
	if got := mainRelease(&tare.Result{}); got != "" {
		t.Error(got)
	}
}

func TestAskedOptions(t *testing.T) {
	plan := tare.Plan{Isolation: tare.TrialWise}
	for name, c := range map[string]struct {
		old  tare.Result
		want session.Options
		err  string
	}{
		"all of it": {tare.Result{Run: tare.Run{Seed: "7", Procs: 2, Env: []string{"GOGC=200"}}, Design: tare.Design{Plan: plan}, Record: tare.Record{Asked: tare.Asked{
			Budget: "1m30s", Slice: 8 * time.Millisecond, Contenders: []string{"a*"}, Workloads: []string{"w"}, With: []string{"example.com/a@v1.0.0"}, Go: "go1.25.5"}}},
			session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.TrialWise, Procs: 2, Env: []string{"GOGC=200"}, Budget: 90 * time.Second, User: true, Slice: 8 * time.Millisecond,
				Only: lab.Only{Contenders: []string{"a*"}, Workloads: []string{"w"}}}, With: []string{"example.com/a@v1.0.0"}, Release: "go1.25.5"}, ""},
		"full with rounds":      {tare.Result{Run: tare.Run{Seed: "7", Budget: "9 rounds"}, Record: tare.Record{Asked: tare.Asked{Budget: "full", Rounds: 9}}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep, Rounds: 9}}, ""},
		"says less: quick":      {tare.Result{Run: tare.Run{Seed: "7", Budget: "quick (40s)"}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep, Quick: true}}, ""},
		"says less: full":       {tare.Result{Run: tare.Run{Seed: "7", Budget: "full (5m0s)"}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep}}, ""},
		"says less: a duration": {tare.Result{Run: tare.Run{Seed: "7", Budget: "1m30s"}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep, User: true, Budget: 90 * time.Second}}, ""},
		"says less: rounds":     {tare.Result{Run: tare.Run{Seed: "7", Budget: "8 rounds"}, Record: tare.Record{NotWeighed: []tare.NotWeighed{{}}}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep, Rounds: 8, Quick: true}}, ""},
		"says less: all rounds": {tare.Result{Run: tare.Run{Seed: "7", Budget: "8 rounds"}}, session.Options{Measuring: lab.Measuring{Seed: 7, Isolation: tare.Lockstep, Rounds: 8}}, ""},
		"a seed of another":     {tare.Result{Run: tare.Run{Seed: "x", Budget: "full"}}, session.Options{}, `the result was made with seed "x", which cannot be requested`},
		"a budget of another":   {tare.Result{Run: tare.Run{Seed: "7", Budget: "lots"}}, session.Options{}, `the result was made with budget "lots"`},
		"a pattern of another":  {tare.Result{Run: tare.Run{Seed: "7"}, Record: tare.Record{Asked: tare.Asked{Budget: "quick", Workloads: []string{"["}}}}, session.Options{}, `"[" is not a pattern`},
		"a variable of another": {tare.Result{Run: tare.Run{Seed: "7", Env: []string{"TARE_WIRE=1"}}, Record: tare.Record{Asked: tare.Asked{Budget: "quick"}}}, session.Options{}, "--env TARE_WIRE is not taken"},
		"a Go of another":       {tare.Result{Run: tare.Run{Seed: "7"}, Record: tare.Record{Asked: tare.Asked{Budget: "quick", Go: "../x"}}}, session.Options{}, `the result was made with Go "../x"`},
	} {
		got, err := originalOptions(&c.old)
		if c.err != "" {
			if cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || session.DescribeOptions(got) != session.DescribeOptions(c.want) || got.Seed != c.want.Seed || got.Slice != c.want.Slice || got.User != c.want.User || got.Isolation != c.want.Isolation {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestCompare(t *testing.T) {
	run := func(ruling tare.Ruling, ratio, low, high float64) *tare.Result {
		return &tare.Result{
			Study:    "s",
			Judged:   tare.Judged{Verdicts: []tare.Verdict{{Contender: "a", Workload: "w", Metric: "time"}, {Contender: "a", Workload: "w", Metric: "time", Criterion: "time ratio <= 0.5", Verdict: ruling}}},
			Measured: tare.Measured{Comparisons: []tare.Comparison{{Contender: "a", Workload: "w", Metric: "time", Against: "b", Ratio: ratio, Low: low, High: high}}},
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
		got := compareRuns(c.then, c.now)
		if len(got.Verdicts) != 1 || got.Verdicts[0].describe() != c.words {
			t.Errorf("%s: %+v, want %q", c.name, got.Verdicts, c.words)
		}
	}
	bare := func(low, high float64) *tare.Result {
		r := run("", (low+high)/2, low, high)
		r.Verdicts = r.Verdicts[:1]
		return r
	}
	if got := compareRuns(bare(0.3, 0.4), bare(0.5, 0.6)).Verdicts[0].describe(); got != "changed: the intervals do not overlap" {
		t.Error(got)
	}
	if got := compareRuns(bare(0.3, 0.5), bare(0.4, 0.6)).Verdicts[0].describe(); got != "no change shown: the intervals overlap" {
		t.Error(got)
	}
}
