package gate

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/judge"
)

// loaded is what a lab would have made of a server whose p99 was that in each
// round.
func loaded(p99 []float64) (*tare.Result, Requirements) {
	w := Server(project.Server{ID: "api", Rate: 500, Connections: 10, SLO: []project.Objective{{Metric: "p99", Limit: 50e6}}}, Request{Project: project.Default(".")}, SidePaths{}, SidePaths{}, "requests.ndjson")
	r := &tare.Result{Schema: tare.ResultSchema, Study: w.Study.ID, Design: tare.Design{Metrics: w.Study.Metrics, Plan: tare.Plan{Looks: []int{8, 12}}, Workloads: w.Study.Workloads}, Measured: tare.Measured{RoundsDone: len(p99)}, Run: tare.Run{Seconds: 60}}
	p50 := tare.Effects{Workload: onlyRequests, Metric: "p50", A: HeadID, B: BaseID}
	for i, v := range p99 {
		p50.Effects = append(p50.Effects, 0.001*float64(i%3))
		r.Trials = append(r.Trials, tare.Trial{Round: i + 1, Tau: 1, Contender: HeadID, Samples: map[string]tare.Sample{onlyRequests: {"p99_ns": v}}})
	}
	cpu := p50
	cpu.Metric = "cpu"
	r.Rounds = []tare.Effects{p50, cpu}
	r.Values = []tare.Value{{Workload: onlyRequests, Contender: BaseID, Metric: "p99", Value: 40e6}, {Workload: onlyRequests, Contender: HeadID, Metric: "p99", Value: p99[0]}}
	w.Requirements.Place = Place{File: "tare.yaml", Line: 7}
	return r, w.Requirements
}

func around(ms, swing float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1e6 * (ms + swing*float64(i%5-2))
	}
	return out
}

// A limit of the head is a member of the family of the benchmarks beside it.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		p99      []float64
		want     Outcome
		sentence string
	}{
		"kept":     {around(30, 1, 12), NoWorse, "within 50 ms: the median over rounds is 28.0 ms (28.0 ms to 32.0 ms, 98.75 %, 12 rounds), 40.0 ms before"},
		"over":     {around(70, 1, 12), Worse, "over 50 ms: the median over rounds is 68.0 ms (68.0 ms to 72.0 ms, "},
		"astride":  {around(50, 9, 12), Open, "cannot be told whether it keeps to 50 ms: "},
		"too few":  {around(30, 1, 5), Open, "cannot be told: no interval after 5 rounds, "},
		"a margin": {around(50, 0, 12), NoWorse, "within 50 ms: "},
	} {
		res, held := loaded(c.p99)
		m := Measured{Results: []*tare.Result{result(bench{id: encode, effects: steady(1)}), res}, Requirements: map[string]Requirements{res.Study: held}}
		rep := Judge(project.Default("."), m, nil, at("2026-06-01"), "tare.yaml")
		r := row(t, rep, "load api", "p99")
		if r.Outcome != c.want || !strings.HasPrefix(r.Sentence, c.sentence) || r.Limit != 50e6 || r.File != "tare.yaml" || r.Line != 7 {
			t.Errorf("%s: %+v", name, r)
		}
		if rep.Blocked != (c.want == Worse) {
			t.Errorf("%s: %s", name, rep.Sentence)
		}
		if p50 := row(t, rep, "load api", "p50"); p50.Limit != 0 || p50.Outcome == Worse {
			t.Errorf("%s: %+v", name, p50)
		}
		if want := "of 2 workloads "; !strings.Contains(rep.Sentence, want) {
			t.Errorf("%s: %s", name, rep.Sentence)
		}
		if c.want == Worse && rep.Sentence != "blocked: of 2 workloads p99 is over 50 ms in load api" {
			t.Error(rep.Sentence)
		}
		if c.want == NoWorse && !strings.HasSuffix(rep.Sentence, ", and every limit is met") {
			t.Error(rep.Sentence)
		}
	}
}

// What the result itself could not rule on, a gate does not either: its
// quantile is too thin.
func TestThinLimits(t *testing.T) {
	res, held := loaded(around(30, 1, 12))
	rule, _ := held.Limits[0].Rule()
	res.Verdicts = []tare.Verdict{{Contender: HeadID, Workload: onlyRequests, Metric: "p99", Rule: rule, Criterion: held.Limits[0].String(), Verdict: tare.Inconclusive, Sentence: "too few answers"}}
	rep := Judge(project.Default("."), Measured{Results: []*tare.Result{res}, Requirements: map[string]Requirements{res.Study: held}}, nil, at("2026-06-01"), "")
	if r := row(t, rep, "load api", "p99"); r.Outcome != Open || r.Sentence != "cannot be told: too few answers" {
		t.Errorf("%+v", r)
	}
}

// A load generator that could not keep up says nothing against the change; a
// server that failed does.
func TestWhoseFaultIsVoid(t *testing.T) {
	for check, want := range map[string]Outcome{"generator-headroom": Open, "error-in-loop": Void, "rate-held": Void} {
		res, held := loaded(around(30, 1, 12))
		res.Findings = []tare.Finding{{Check: check, Severity: tare.Void, Contender: HeadID, Workload: onlyRequests, Metric: "p99", Message: "late", Advice: "more cores"}}
		rep := Judge(project.Default("."), Measured{Results: []*tare.Result{res}, Requirements: map[string]Requirements{res.Study: held}}, nil, at("2026-06-01"), "")
		if r := row(t, rep, "load api", "p99"); r.Outcome != want || r.Advice != "more cores" || want == Open && r.Sentence != "cannot be told: late" {
			t.Errorf("%s: %+v", check, r)
		}
		if rep.Blocked != (want == Void) {
			t.Errorf("%s: %s", check, rep.Sentence)
		}
	}
}

// A family of benchmarks and limits is wrong as seldom as one of benchmarks.
func TestLimitsShareTheErrorOfTheTable(t *testing.T) {
	family := func(others int) []member {
		list := []member{{row: &Row{Limit: 50e6}, Question: judge.Question{Effects: around(30, 1, 12), Edges: []float64{50e6}, Median: true, Looks: 1}}}
		for range others {
			list = append(list, member{row: &Row{Ratio: 1, result: &tare.Result{}}, Question: judge.Question{Effects: restless(0.4), Looks: 1, Edges: []float64{math.Log1p(0.05)}}})
		}
		return list
	}
	alone, among := family(0), family(9)
	judgeMembers(alone, 0.05)
	judgeMembers(among, 0.05)
	if a, b := alone[0].row.Level, among[0].row.Level; a != 0.95 || b != 0.995 {
		t.Errorf("levels %v and %v", a, b)
	}
}

func TestServerStudies(t *testing.T) {
	ask := Request{Project: project.Default(".")}
	closed := Server(project.Server{ID: "api", Args: []string{"-port", "$PORT"}, Connections: 7}, ask, SidePaths{Base: "b", Head: "h"}, SidePaths{Base: "/base", Head: "/head"}, filepath.Join("x", "requests.ndjson"))
	open := Server(project.Server{ID: "api", Connections: 7, Rate: 100, SLO: []project.Objective{{Metric: "p50", Limit: 5e6}, {Metric: "p90", Limit: 5e7}}}, ask, SidePaths{Base: "b", Head: "h"}, SidePaths{}, filepath.Join("x", "requests.ndjson"))
	for _, w := range []Measurement{closed, open} {
		if err := w.Study.Validate(); err != nil {
			t.Error(err)
		}
	}
	if c := closed.Study; !slices.Equal(c.Metrics, []string{"time", "cpu"}) || c.Workloads[0].Traffic.Segment != 0 || !slices.Contains(c.Contenders[1].Command, "$PORT") || c.Dir != "x" {
		t.Errorf("%+v", c)
	}
	// p90 at 100 a second: 24 answers beyond it take 2.4 s, of base, control,
	// head and the null server in each of twelve rounds.
	if o := open.Study; !slices.Equal(o.Metrics, []string{"p50", "cpu", "p90"}) || o.Workloads[0].Traffic.Segment != 2400*time.Millisecond || o.Budget.Quick != 12*(4*2400+1000)*time.Millisecond || len(open.Requirements.Limits) != 2 || open.Requirements.Limits[1].Value != "<= 50ms" {
		t.Errorf("%+v", o)
	}
}

// Neither the go command, which runs what a change names, nor git gets the tokens and
// files of a job.
func TestCommandsGetNoTokens(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are shell scripts")
	}
	dir := t.TempDir()
	for _, name := range []string{"go", "git"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nenv >"+filepath.Join(dir, name+".env")+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("ACTIONS_RUNTIME_TOKEN", "secret")
	_ = Build(context.Background(), dir, filepath.Join(dir, "out"))
	_, _ = runGit(context.Background(), dir, "status")
	for _, name := range []string{"go", "git"} {
		env, err := os.ReadFile(filepath.Join(dir, name+".env"))
		if err != nil || !strings.Contains(string(env), "PATH=") || strings.Contains(string(env), "secret") {
			t.Errorf("%s: %v\n%s", name, err, env)
		}
	}
}

// What does not build says why in one line.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.25\n", "good/main.go": "package main\n\nfunc main() {}\n", "bad/main.go": "package main\n\nfunc main() { x }\n", "lib/lib.go": "package lib\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	for name, want := range map[string]string{"good": "", "bad": "./main.go:3:15: undefined: x", "lib": "it is not a main package", "nosuch": "there is no such directory"} {
		err := Build(context.Background(), filepath.Join(dir, name), filepath.Join(dir, "out-"+name))
		var wrong *BuildError
		if want == "" && err != nil || want != "" && (!errors.As(err, &wrong) || !strings.HasSuffix(err.Error(), strings.TrimPrefix(want, "."))) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If every row has a limit, none is compared with a margin, and the limits are all there is to say.
func TestOnlyLimits(t *testing.T) {
	for outcome, want := range map[Outcome]string{NoWorse: "every limit is met", Open: "no limit is known to be exceeded"} {
		rep := &Report{Rows: []Row{{Metric: "p99", Limit: 50e6, Outcome: outcome}}}
		if got := rep.describeNoneWorse(outcome == Open, false); got != want {
			t.Errorf("%v: %q, want %q", outcome, got, want)
		}
	}
}
