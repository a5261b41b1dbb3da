package schema

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/project/survey"
)

const whole = `bench:
  packages: [./..., ./codec]
  run: Encode|Decode/large
  tags: [integration, go1.26]
  env: [GOGC=200, EMPTY=]
  budget: 90s
  max: 10m
studies: [bench/encode.yaml]
gate:
  base: merge-base origin/main
  margin: 5%
  alpha: 0.5 %
  metrics: [time, bytes]
  allocs: exact
  on_inconclusive: fail
accept:
  - {benchmark: BenchmarkEncode, metric: time, until: 2026-12-31, reason: the codec}
`

// The published schema and the parser of tare.yaml take the same files and
// refuse the same ones.
func TestProjectSchemaAndParserAgree(t *testing.T) {
	s := compile(t, "project.schema.json")
	try := func(src string, good bool) {
		t.Helper()
		_, perr := project.Parse("tare.yaml", []byte(src))
		serr := s.Validate(yamlAny(t, []byte(src)))
		if (perr == nil) != good || (serr == nil) != good {
			t.Errorf("wanted good %v\n%s\nparser: %v\nschema: %v", good, src, perr, serr)
		}
	}
	change := func(old, with string, good bool) {
		t.Helper()
		src := strings.Replace(whole, old, with, 1)
		if src == whole {
			t.Fatalf("%q is not in the file", old)
		}
		try(src, good)
	}
	try(whole, true)
	try("{}", true)
	for _, c := range [][2]string{
		{"packages: [./..., ./codec]", "packages: ./..."}, {"packages: [./..., ./codec]", "packages:"}, {"packages: [./..., ./codec]\n  ", ""}, {"./codec", "example.com/x/..."},
		{"tags: [integration, go1.26]", "tags: one"}, {"[GOGC=200, EMPTY=]", "GOGC=off"}, {"[GOGC=200, EMPTY=]", "[A=b c]"}, {"90s", "1h0m1.5s"}, {"studies: [bench/encode.yaml]", "studies: a.yml"}, {"studies: [bench/encode.yaml]", "studies: []"},
		{"merge-base origin/main", "merge-base"}, {"merge-base origin/main", "v1.2.3"}, {"merge-base origin/main", "HEAD~1"}, {"margin: 5%", "margin: 0.1%"}, {"margin: 5%", "margin: 12.5 %"}, {"margin: 5%", "margin: 200%"}, {"0.5 %", "20%"}, {"0.5 %", "15.5%"},
		{"[time, bytes]", "cpu"}, {"allocs: exact", "allocs: ignore"}, {"allocs: exact", "allocs: margin"}, {"on_inconclusive: fail", "on_inconclusive: pass"}, {"metric: time, ", ""}, {"metric: time, ", "metric: allocs, "}, {"2026-12-31", "'2027-01-01'"},
		{"  - {bench", "  {bench"},
	} {
		change(c[0], c[1], true)
	}
	for _, c := range [][2]string{
		{"bench:", "benches:"}, {"packages: [./..., ./codec]", "packages: [-x]"}, {"packages: [./..., ./codec]", "packages: [a b]"}, {"./codec", "./..."}, {"./codec", "''"}, {"run: Encode|Decode/large", "run: ''"}, {"run: Encode|Decode/large", "run: a(b"}, {"run: Encode|Decode/large", "run: [a]"}, {"run: Encode|Decode/large", "run: 1"},
		{"integration, go1.26", "a b"}, {"integration, go1.26", "a, a"}, {"GOGC=200", "GOGC"}, {"GOGC=200", "1=2"}, {"GOGC=200", "TARE_CACHE=x"}, {"GOGC=200", "tare_x=1"}, {"90s", "90"}, {"90s", "0s"}, {"90s", "-1s"}, {"10m", "soon"},
		{"bench/encode.yaml", "../encode.yaml"}, {"bench/encode.yaml", "/encode.yaml"}, {"bench/encode.yaml", "encode.json"}, {"bench/encode.yaml", "1"}, {"bench/encode.yaml", "a.yaml, a.yaml"},
		{"merge-base origin/main", "--all"}, {"merge-base origin/main", "merge-base --all"}, {"merge-base origin/main", "a b c"}, {"merge-base origin/main", "''"}, {"merge-base origin/main", "1"},
		{"margin: 5%", "margin: 5"}, {"margin: 5%", "margin: 0%"}, {"margin: 5%", "margin: 0.09%"}, {"margin: 5%", "margin: -5%"}, {"margin: 5%", "margin: 1000%"}, {"margin: 5%", "margin: five"}, {"0.5 %", "21%"}, {"0.5 %", "0.01%"}, {"0.5 %", "20.5%"},
		{"[time, bytes]", "[allocs]"}, {"[time, bytes]", "[speed]"}, {"[time, bytes]", "[time, time]"}, {"allocs: exact", "allocs: 5%"}, {"on_inconclusive: fail", "on_inconclusive: no"}, {"margin: 5%", "limit: 5%"},
		{"benchmark: BenchmarkEncode, ", ""}, {", until: 2026-12-31", ""}, {", reason: the codec", ""}, {"reason: the codec", "reason: ' '"}, {"2026-12-31", "2026-02-30"}, {"2026-12-31", "tomorrow"}, {"metric: time", "metric: speed"}, {"BenchmarkEncode,", "'a(',"}, {"reason: the codec", "reason: the codec, by: me"},
	} {
		change(c[0], c[1], false)
	}
}

// What tare init writes passes the schema, whatever the repository is like.
func TestDraftsAreValid(t *testing.T) {
	s := compile(t, "project.schema.json")
	one := survey.Benchmark{Package: "m/a", Name: "BenchmarkX", File: "a/x_test.go", Line: 5}
	tagged := survey.Benchmark{Package: "m/b", Name: "BenchmarkY", File: "b/y_test.go", Line: 5, Needs: "integration"}
	modules := []survey.Module{{Dir: ".", Path: "m"}, {Dir: "b", Path: "m/b"}}
	for name, found := range map[string]survey.Survey{
		"nothing":     {},
		"benchmarks":  {Modules: modules[:1], Benchmarks: []survey.Benchmark{one, tagged}},
		"a workspace": {Workspace: true, Modules: modules, Benchmarks: []survey.Benchmark{one, tagged}},
		"everything": {
			Modules: modules, Benchmarks: []survey.Benchmark{one, tagged}, CI: []string{survey.GitHub, survey.GitLab}, Branch: "origin/main",
			Studies: []string{"a.yaml", "b c.yaml"}, JSON: []survey.Fixture{{Path: "testdata/a.json", Bytes: 1}},
		},
	} {
		src := found.Draft()
		if err := s.Validate(yamlAny(t, src)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, src)
		}
		if _, err := project.Parse("tare.yaml", src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	here := docs("..")
	found, err := survey.Look(here, here)
	if err != nil || len(found.Benchmarks) == 0 || len(found.Studies) == 0 {
		t.Fatalf("this repository: %+v, %v", found, err)
	}
	if err := s.Validate(yamlAny(t, found.Draft())); err != nil {
		t.Errorf("this repository: %v", err)
	}
}
