package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

func TestParse(t *testing.T) {
	p, err := project.Parse("x/tare.yaml", []byte(`bench:
  packages: ./codec/...
  run: Encode/large
  tags: [a, b]
  env: [GOGC=200]
  budget: 90s
  max: 10m
studies: [bench/../encode.yaml, json-encode]
json: testdata/order.json
routes: api/openapi.yaml
load:
  - {program: ./cmd/api, args: [-port, $PORT], mix: [GET /a=3, /b=1]}
  - {id: api-open, program: ./cmd/api, feed: requests.ndjson, connections: 50, rate: 500/s, slo: 'p50<5ms, p99<=50ms'}
gate: {base: origin/main, margin: 12.5 %, alpha: 1%, metrics: [bytes, time], allocs: margin, on_inconclusive: fail}
accept:
  - {benchmark: 'Encode$', metric: allocs, until: 2026-12-31, reason: the codec}
`))
	if err != nil {
		t.Fatal(err)
	}
	w := p.Accept[0]
	if !w.Benchmark.MatchString("a/b.BenchmarkEncode") || w.Line != 16 || w.Col != 5 || w.Last() != "2026-12-31" || !w.Until.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) || w.Metric != "allocs" || w.Reason != "the codec" {
		t.Errorf("waiver %+v", w)
	}
	p.Accept = nil
	want := project.Project{
		File: "x/tare.yaml", Dir: "x",
		Bench:   project.Bench{Packages: []string{"./codec/..."}, Run: "Encode/large", Tags: []string{"a", "b"}, Env: []string{"GOGC=200"}, Budget: 90 * time.Second, Max: 10 * time.Minute},
		Studies: []project.File{{Path: "encode.yaml", Place: project.Place{Line: 8, Col: 11}}, {Path: "json-encode", Place: project.Place{Line: 8, Col: 33}}},
		JSON:    []project.File{{Path: "testdata/order.json", Place: project.Place{Line: 9, Col: 7}}},
		Routes:  []project.File{{Path: "api/openapi.yaml", Place: project.Place{Line: 10, Col: 9}}},
		Load: []project.Server{
			{ID: "api", Program: "./cmd/api", Args: []string{"-port", "$PORT"}, Mix: []string{"GET /a=3", "/b=1"}, Connections: 10, Place: project.Place{Line: 12, Col: 5}},
			{
				ID: "api-open", Program: "./cmd/api", Feed: "requests.ndjson", Connections: 50, Rate: 500,
				SLO: []project.Objective{{Metric: "p50", Limit: 5e6}, {Metric: "p99", Limit: 50e6}}, Place: project.Place{Line: 13, Col: 5},
			},
		},
		Gate: project.Gate{Base: "origin/main", Margin: 0.125, Alpha: 0.01, Metrics: []string{"bytes", "time"}, Allocs: project.AllocsMargin, OnInconclusive: project.FailOpen},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	if p.Studies[0].Bundled() || !p.Studies[1].Bundled() {
		t.Errorf("bundled: %+v", p.Studies)
	}
	// p99 at 500 a second: 24 answers beyond it take 4.8 s.
	if got := []time.Duration{p.Load[0].Segment(), p.Load[1].Segment()}; got[0] != 0 || got[1] != 4800*time.Millisecond {
		t.Errorf("segments %v", got)
	}
}

func TestWhatIsLeftOutIsTheDefault(t *testing.T) {
	p, err := project.Parse("tare.yaml", []byte("gate:\n  margin: 10%\nbench:\n  packages:\nstudies:\njson: []\nroutes:\nload:\naccept: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := project.Default(".")
	want.File, want.Gate.Margin = "tare.yaml", 0.1
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for src, want := range map[string]string{
		"":                                                           "tare.yaml:1:1: nothing in the file; tare init writes one with comments",
		"- a":                                                        "tare.yaml:1:1: the project is a list, not a mapping; begin with bench: or gate:",
		"gate:\n  margn: 5%":                                         `tare.yaml:2:3: unknown key "margn"; did you mean margin?`,
		"gate:\n  margin: 5":                                         "tare.yaml:2:11: gate.margin is a number, not text; the slowdown that matters, with its sign, e.g. margin: 5%",
		"gate: {margins: [{benchmark: B}]}":                          "tare.yaml:1:18: an entry without margin; e.g. {benchmark: BenchmarkParse/, metric: time, margin: 10%}",
		"gate: {margins: [{margin: 5%}]}":                            "tare.yaml:1:18: an entry for everything; gate: {margin: 10%} is that of everything",
		"gate: {margin: 0%}":                                         "tare.yaml:1:16: 0% is not from 0.1% to 999.999999%; the slowdown that matters, with its sign, e.g. margin: 5%",
		"gate: {metrics: [time, allocs]}":                            "tare.yaml:1:24: allocations have a key of their own; gate: {allocs: exact}",
		"gate: {base: --upload-pack}":                                `tare.yaml:1:14: "--upload-pack" is not a revision; e.g. origin/main, or merge-base, or merge-base origin/main`,
		"gate: {on_inconclusive: shrug}":                             `tare.yaml:1:25: "shrug" is not known; one of pass, warn, fail`,
		"bench:\n  env: [A=1, A=2]":                                  "tare.yaml:2:14: A is given twice; give it one value",
		"bench:\n  env: [TARE_CACHE=x]":                              "tare.yaml:2:9: TARE_CACHE is not taken: TARE_ variables are tare's own; leave it out",
		"bench:\n  run: a(b":                                         `tare.yaml:2:8: "a(b" is not a regular expression; as go test -bench takes it, e.g. run: Encode|Decode`,
		"studies: [../x.yaml]":                                       `tare.yaml:1:11: "../x.yaml" is outside the project; the path of a study file from this file's directory, or the name of a bundled study, e.g. studies: [bench/encode.yaml]`,
		"studies: encode.json":                                       `tare.yaml:1:10: "encode.json" is not a study; the path of a study file from this file's directory, or the name of a bundled study, e.g. studies: [bench/encode.yaml]`,
		"routes: [a.txt, b.txt]":                                     "tare.yaml:1:17: a second file of routes; a server has one table of routes; a study each can have others",
		"json: [a.json, ./a.json]":                                   `tare.yaml:1:16: "a.json" is listed twice`,
		"load: [./cmd/api]":                                          "tare.yaml:1:8: load[0] is text, not a mapping; e.g. {program: ./cmd/api, args: [-port, $PORT], mix: [GET /items/7=3, GET /health=1]}",
		"load: {mix: [/=1]}":                                         "tare.yaml:1:7: a load without program; e.g. {program: ./cmd/api, args: [-port, $PORT], mix: [GET /items/7=3, GET /health=1]}",
		"load: {program: x}":                                         "tare.yaml:1:7: a load without requests; e.g. {program: ./cmd/api, args: [-port, $PORT], mix: [GET /items/7=3, GET /health=1]}",
		"load: {program: x, mix: GET /}":                             `tare.yaml:1:25: "GET /" is not a request with its weight; METHOD PATH=WEIGHT, e.g. mix: [GET /items/7=3, GET /health=1]`,
		"load: {program: x, mix: /=1, feed: f}":                      "tare.yaml:1:36: mix and feed contradict each other; give one of them",
		"load: {program: x, feed: f, feed_bodies: f}":                "tare.yaml:1:42: feed and feed_bodies contradict each other; give one of them",
		"load: {program: x, mix: /=1, rate: fast}":                   `tare.yaml:1:36: "fast" is not a rate; requests per second, e.g. 1500 or 1500/s; leave it out for a closed loop`,
		"load: {program: x, mix: /=1, rate: 0}":                      "tare.yaml:1:36: a rate of 0; above 0, at most 1000000 requests per second",
		"load: {program: x, mix: /=1, connections: 0}":               "tare.yaml:1:43: 0 connections; 1 to 10000",
		"load: {program: x, mix: /=1, slo: p99<50ms}":                "tare.yaml:1:35: slo without rate; latencies have a limit only at a rate that does not wait for answers, e.g. rate: 500/s",
		"load: {program: x, mix: /=1, rate: 9, slo: p99<50ms}":       "tare.yaml:1:44: at 9 requests a second a round of this takes 4m27s; a higher rate, or a lower quantile; at most 1m0s",
		"load: {program: x, mix: /=1, rate: 9, slo: errors<1%}":      "tare.yaml:1:44: errors need no limit; a server that fails is void, and blocks the change",
		"load: {program: x, mix: /=1, rate: 9, slo: p95<1s}":         "tare.yaml:1:44: p95 cannot have a limit; one of " + strings.Join(project.Latencies(), ", "),
		"load: {program: x, mix: /=1, rate: 9, slo: fast}":           `tare.yaml:1:44: objective "fast": "fast" has no <; e.g. p99<50ms or p99.9<=100ms,errors<0.1%`,
		"load: [{program: a/x, mix: /=1}, {program: b/x, mix: /=1}]": "tare.yaml:1:34: two loads are called x; give one of them a name of its own, e.g. id: x-open",
		"load: {program: ../x, mix: /=1}":                            `tare.yaml:1:17: "../x" is outside the project; the directory of a main package, from this file's, e.g. program: ./cmd/api`,
		"load: {program: ., mix: /=1}":                               `tare.yaml:1:7: "." is not a name; give the load one, e.g. id: api`,
		"accept: [{benchmark: B}]":                                   "tare.yaml:1:10: a waiver without until; e.g. {benchmark: BenchmarkEncode, until: 2026-12-31, reason: waits for the new codec}",
		"accept:\n- benchmark: B\n  until: soon\n  reason: x":        `tare.yaml:3:10: "soon" is not a day; the last day on which it holds, e.g. until: 2026-12-31`,
		"gate: &x {margin: 5%}":                                      "tare.yaml:1:7: YAML anchors, aliases and tags are not used in project files; write the value itself",
	} {
		_, err := project.Parse("tare.yaml", []byte(src))
		var e *yamlfile.Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", src, err, want)
		}
	}
}

// The file is looked for upwards, and not above the top of the repository.
func TestFind(t *testing.T) {
	top := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("tare.yaml", "gate: {margin: 1%}")
	put("repo/.git/HEAD", "")
	put("repo/a/b/x.go", "")
	at := filepath.Join(top, "repo", "a", "b")
	if path, ok := project.Find(at); ok {
		t.Errorf("found %s, which is outside the repository", path)
	}
	p, err := project.Load(at, nil)
	if err != nil || p.File != "" || p.Dir != filepath.Join(top, "repo") {
		t.Errorf("without a file: %+v, %v", p, err)
	}
	put("repo/tare.yaml", "gate: {margin: 2%}")
	p, err = project.Load(at, nil)
	if err != nil || p.Gate.Margin != 0.02 || p.Dir != filepath.Join(top, "repo") {
		t.Errorf("at the top: %+v, %v", p, err)
	}
	put("repo/a/tare.yaml", "gate: {margin: x}")
	if _, err = project.Load(at, func(string) string { return "a/tare.yaml" }); err == nil || !strings.HasPrefix(err.Error(), "a/tare.yaml:1:16: ") {
		t.Errorf("the nearest is wrong: %v", err)
	}
}

// What is called tare.yaml and is no file that could be one is not passed over.
func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	for want, put := range map[string]func(path string) error{
		"tare.yaml is a directory; it is to be a file, which tare init writes":          func(path string) error { return os.Mkdir(path, 0o755) },
		"cannot read tare.yaml: no such file or directory":                              func(path string) error { return os.Symlink("nowhere", path) },
		"tare.yaml:1:1: the file has 10000000 bytes; a project file has at most 262144": func(path string) error { return os.WriteFile(path, make([]byte, 1e7), 0o644) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, "tare.yaml")); err != nil {
			t.Skip(err)
		}
		if _, err := project.Load(dir, func(string) string { return "tare.yaml" }); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// FuzzParse: whatever the file holds, the answer is a project or an error with
// a position inside the file, in one line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "gate: {margin: 5%}", "accept: [{benchmark: B, until: 2026-12-31, reason: x}]", "bench: {env: [A=1, A=2]}", "studies: [a.yaml]", "accept:\n- until: x", "gate:\n\tx", "gate: [", "bench: {run: \"(\"}", "? [a]: b", "accept: ~", "gate: {alpha: 1e9%}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4<<10 {
			return
		}
		p, err := project.Parse("f.yaml", []byte(src))
		if err == nil {
			if !(p.Gate.Margin > 0) || !(p.Gate.Alpha > 0 && p.Gate.Alpha <= 0.2) || len(p.Gate.Metrics) == 0 || len(p.Bench.Packages) == 0 {
				t.Fatalf("accepted as %+v", p)
			}
			return
		}
		var e *yamlfile.Error
		if !errors.As(err, &e) {
			t.Fatalf("%T without a position: %v", err, err)
		}
		lines := strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n")
		if e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > utf8.RuneCountInString(lines[e.Line-1])+1 {
			t.Fatalf("%v is outside the file", err)
		}
		if e.What == "" || strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("message %q", err.Error())
		}
	})
}

// The first entry that covers a benchmark and metric is its margin.
func TestMarginOf(t *testing.T) {
	p, err := project.Parse("tare.yaml", []byte("gate:\n  margins:\n  - {benchmark: Parse/, margin: 10%}\n  - {metric: bytes, margin: 2%}\n  - {benchmark: Parse, metric: time, margin: 3%}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		benchmark, metric string
		want              float64
	}{{"m.BenchmarkParse/a", "bytes", 0.1}, {"m.BenchmarkParse", "bytes", 0.02}, {"m.BenchmarkParse", "time", 0.03}, {"m.BenchmarkX", "time", 0.05}} {
		if got := p.Gate.MarginOf(tt.benchmark, tt.metric); got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.metric, tt.benchmark, got, tt.want)
		}
	}
}
