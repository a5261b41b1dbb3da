package archtest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sound is a small repository that holds to every rule.
func sound() map[string]string {
	const leafMod = "module github.com/tarebench/tare/contenders/codec/x\n\ngo 1.25\n\nrequire (\n\tgithub.com/tarebench/tare v0.0.0\n\texample.test/x v1.2.3 // indirect\n)\n\nreplace github.com/tarebench/tare => ../../..\n"
	return map[string]string{
		"go.mod":                            "module github.com/tarebench/tare\n\ngo 1.25\n",
		"go.work":                           "go 1.25\n\nuse (\n\t.\n\t./cmd/tare\n\t./cgocopy\n)\n",
		"cgocopy/go.mod":                    "module github.com/tarebench/tare/cgocopy\n",
		"study.go":                          "package tare\n",
		"stats/stats.go":                    "package stats\n\nimport \"math/rand/v2\"\n\nvar table = []int{1}\n\nfunc Draw(seed uint64) int { return rand.New(rand.NewPCG(seed, 0)).IntN(table[0]) }\n",
		"tools/lookgen/main.go":             "package main\n\nimport (\n\t\"os\"\n\t\"time\"\n\n\t\"github.com/tarebench/tare/stats\"\n)\n\nfunc main() { os.Exit(stats.Draw(uint64(time.Now().Unix()))) }\n",
		"stats/stats_test.go":               "package stats_test\n\nimport (\n\t\"os\"\n\t\"time\"\n\n\t_ \"github.com/tarebench/tare/internal/golden\"\n)\n\nvar tmp string\n\nfunc f() { tmp = os.Getenv(\"X\"); _ = time.Now() }\n",
		"internal/judge/judge.go":           "package judge\n\nimport (\n\t\"errors\"\n\n\t_ \"github.com/tarebench/tare\"\n\t_ \"github.com/tarebench/tare/stats\"\n)\n\nvar errNone = errors.New(\"none\")\n\nvar _ error = errNone\n",
		"report/report.go":                  "package report\n\nimport _ \"github.com/tarebench/tare\"\n",
		"internal/machine/machine.go":       "package machine\n\nimport \"time\"\n\nfunc Now() time.Time { return time.Now() }\n",
		"internal/trial/trial.go":           "package trial\n\nimport _ \"github.com/tarebench/tare/internal/machine\"\n",
		"lab/lab.go":                        "package lab\n\nimport (\n\t\"time\"\n\n\t_ \"github.com/tarebench/tare/internal/judge\"\n\t_ \"github.com/tarebench/tare/internal/trial\"\n)\n\nfunc clock() func() time.Time { return time.Now }\n",
		"contender/codec/codec.go":          "package codec\n\nimport _ \"github.com/tarebench/tare/contender\"\n",
		"contender/contender.go":            "package contender\n",
		"internal/trial/word.go":            "package trial\n\nimport \"regexp\"\n\nfunc word() *regexp.Regexp { return regexp.MustCompile(`a`) }\n\nvar later = func() *regexp.Regexp { return regexp.MustCompile(`a`) }\n",
		"internal/golden/golden.go":         "package golden\n\nimport \"flag\"\n\nvar update = flag.Bool(\"update\", false, \"\")\n",
		"studies/studies.go":                "package studies\n\nimport \"embed\"\n\n//go:embed *.yaml\nvar FS embed.FS\n",
		"cmd/tare/go.mod":                   "module github.com/tarebench/tare/cmd/tare\n\nrequire example.test/yaml v1.0.0\n",
		"cmd/tare/main.go":                  "package main\n\nimport (\n\t\"time\"\n\n\t_ \"github.com/tarebench/tare/cmd/tare/internal/cli\"\n)\n\nfunc main() { time.Sleep(1) }\n",
		"cmd/tare/internal/cli/cli.go":      "package cli\n\nimport _ \"github.com/tarebench/tare/cmd/tare/internal/catalog\"\n",
		"cmd/tare/internal/catalog/c.go":    "package catalog\n\nimport _ \"github.com/tarebench/tare/lab\"\n",
		"contenders/codec/x/go.mod":         leafMod,
		"contenders/codec/x/go.sum":         "\n",
		"contenders/codec/x/main.go":        "package main\n\nimport (\n\t_ \"example.test/x\"\n\n\t_ \"github.com/tarebench/tare/contender/codec\"\n\t_ \"github.com/tarebench/tare/contenders/codec/x/model\"\n)\n\nfunc main() {}\n",
		"contenders/codec/x/model/m.go":     "package model\n\nvar state int\n\nfunc init() { state = 1 }\n",
		"contenders/codec/x/contender.json": "{}\n",
		"contenders/codec/y/contender.json": "{\"source\": \"../x\"}\n",
		"bench/json/json_test.go":           "package json\n\nimport _ \"github.com/tarebench/tare/contender/fixture\"\n",
		"contender/fixture/fixture.go":      "package fixture\n",
		"report/testdata/ignored/bad.go":    "this is not Go\n",
	}
}

func read(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestSoundTreePasses(t *testing.T) {
	for _, line := range Check(read(t, sound())) {
		t.Error(line)
	}
}

func TestEachRuleFires(t *testing.T) {
	const mod = "github.com/tarebench/tare"
	fired := map[string]bool{}
	for _, c := range []struct {
		name  string
		path  string
		text  string // empty: the file is taken away
		rule  string
		where string // start of the line
	}{
		{"noun imports stats", "study.go", "package tare\n\nimport _ \"" + mod + "/stats\"\n", "layers", "study.go:3: . must not import stats"},
		{"peer of the same layer", "internal/machine/machine.go", "package machine\n\nimport _ \"" + mod + "/internal/build\"\n", "layers", "internal/machine/machine.go:3"},
		{"report computes", "report/report.go", "package report\n\nimport _ \"" + mod + "/stats\"\n", "layers", "report/report.go:3: report must not import stats"},
		{"lab knows a kind", "lab/lab.go", "package lab\n\nimport _ \"" + mod + "/kinds\"\n", "layers", "lab/lab.go:3"},
		{"catalog imports studyfile", "cmd/tare/internal/catalog/c.go", "package catalog\n\nimport _ \"" + mod + "/cmd/tare/internal/studyfile\"\n", "layers", "cmd/tare/internal/catalog/c.go:3"},
		{"another system's file", "lab/lab_windows.go", "//go:build windows\n\npackage lab\n\nimport _ \"" + mod + "/kinds\"\n", "layers", "lab/lab_windows.go:5"},
		{"leaf uses the lab", "contenders/codec/x/model/m.go", "package model\n\nimport _ \"" + mod + "/lab\"\n", "layers", "contenders/codec/x/model/m.go:3"},
		{"leaf uses another leaf", "contenders/codec/x/model/m.go", "package model\n\nimport _ \"" + mod + "/contenders/codec/y\"\n", "layers", "contenders/codec/x/model/m.go:3"},
		{"app imports the nouns", "apps/homelab/a.go", "package homelab\n\nimport _ \"" + mod + "\"\n", "layers", "apps/homelab/a.go:3"},
		{"test of a higher layer", "stats/other_test.go", "package stats\n\nimport _ \"" + mod + "/internal/judge\"\n", "layers", "stats/other_test.go:3"},
		{"unlisted package", "weights/w.go", "package weights\n", "layers", "weights: package is not listed"},
		{"unlisted command package", "cmd/tare/internal/odd/o.go", "package odd\n", "layers", "cmd/tare/internal/odd: package is not listed"},
		{"root requires", "go.mod", "module " + mod + "\n\nrequire example.test/y v1.0.0\n", "requirements", "go.mod: requires example.test/y"},
		{"cgocopy requires", "cgocopy/go.mod", "module " + mod + "/cgocopy\n\nrequire (\n\texample.test/y v1.0.0\n)\n", "requirements", "cgocopy/go.mod: requires"},
		{"workspace holds a leaf", "go.work", "go 1.25\n\nuse (\n\t.\n\t./cmd/tare\n\t./contenders/codec/x\n)\n", "workspace", "go.work: uses"},
		{"no workspace", "go.work", "", "workspace", "go.work: missing"},
		{"leaf without go.mod", "contenders/codec/x/go.mod", "", "leaves", "contenders/codec/x: has no go.mod"},
		{"leaf without go.sum", "contenders/codec/x/go.sum", "", "leaves", "contenders/codec/x: requires modules"},
		{"leaf without contender.json", "contenders/codec/x/contender.json", "", "leaves", "contenders/codec/x: has no contender.json"},
		{"leaf without main.go", "contenders/codec/x/main.go", "", "leaves", "contenders/codec/x: has no main.go"},
		{"leaf without replace", "contenders/codec/x/go.mod", "module " + mod + "/contenders/codec/x\n\nrequire " + mod + " v0.0.0\n", "leaves", "contenders/codec/x: must replace"},
		{"leaf without require", "contenders/codec/x/go.mod", "module " + mod + "/contenders/codec/x\n\nreplace " + mod + " => ../../..\n", "leaves", "contenders/codec/x: must require"},
		{"leaf of another name", "contenders/codec/x/go.mod", "module example.test/z\n\nrequire " + mod + " v0.0.0\n\nreplace " + mod + " => ../../..\n", "leaves", "contenders/codec/x: module is"},
		{"another build of nothing", "contenders/codec/y/contender.json", "{\"source\": \"../z\"}\n", "leaves", "contenders/codec/y: is another build of contenders/codec/z, which"},
		{"another build of another build", "contenders/codec/z/contender.json", "{\"source\": \"../y\"}\n", "leaves", "contenders/codec/z: is another build of contenders/codec/y, which"},
		{"long leaf", "contenders/codec/x/main.go", "package main\n" + strings.Repeat("\n", 40), "leaves", "contenders/codec/x/main.go: 41 lines"},
		{"named after another", "internal/judge/judgemore.go", "package judge\n", "names", "internal/judge/judgemore.go: ends in more"},
		{"switch over metrics", "internal/judge/judge.go", "package judge\n\nfunc f(m string) int {\n\tswitch m {\n\tcase \"p50\", \"p99\":\n\t\treturn 1\n\t}\n\treturn 0\n}\n", "metrics", "internal/judge/judge.go:3: tells 2 metrics"},
		{"metrics compared", "internal/judge/judge.go", "package judge\n\nfunc f(m struct{ Metric string }) bool { return m.Metric == \"cpu\" || m.Metric != \"rss\" }\n", "metrics", "internal/judge/judge.go:3: tells 2 metrics"},
		{"map of metrics", "internal/judge/judge.go", "package judge\n\nfunc f(m string) int { return map[string]int{\"p50\": 1, \"rss\": 2}[m] }\n", "metrics", "internal/judge/judge.go:3: tells 2 metrics"},
		{"a ratio by a verb", "internal/judge/judge.go", "package judge\n\nimport \"fmt\"\n\nfunc f() string { return fmt.Sprintf(\"%.2f×\", 1.5) }\n", "formats", "internal/judge/judge.go:5: prints a ratio"},
		{"a ratio by strconv", "internal/judge/judge.go", "package judge\n\nimport \"strconv\"\n\nfunc f() string { return strconv.FormatFloat(1.5, 'f', 2, 64) + \"×\" }\n", "formats", "internal/judge/judge.go:5: prints a ratio"},
		{"a ratio of another function", "internal/judge/judge.go", "package judge\n\nfunc f(own func() string) string { return own() + \"×\" }\n", "formats", "internal/judge/judge.go:3: prints a ratio"},
		{"the ratio of a comparison", "internal/judge/judge.go", "package judge\n\nimport \"fmt\"\n\nfunc f(c struct{ Ratio float64 }) string { return fmt.Sprintf(\"%.3f\", c.Ratio) }\n", "formats", "internal/judge/judge.go:5: prints a ratio"},
		{"that by strconv", "internal/judge/judge.go", "package judge\n\nimport \"strconv\"\n\nfunc f(c struct{ Ratio float64 }) string { return strconv.FormatFloat(c.Ratio, 'f', 2, 64) }\n", "formats", "internal/judge/judge.go:5: prints a ratio"},
		{"an expression compiled at the start", "internal/judge/judge.go", "package judge\n\nimport \"regexp\"\n\nvar word = regexp.MustCompile(`a`)\n", "expressions", "internal/judge/judge.go:5: is compiled whenever tare starts; use New of internal/lazyregexp"},
		{"one of a table", "internal/judge/judge.go", "package judge\n\nimport \"regexp\"\n\nvar words = map[string]*regexp.Regexp{\n\t\"a\": regexp.MustCompile(`a`),\n}\n", "expressions", "internal/judge/judge.go:6: is compiled"},
		{"an invalid expression", "internal/judge/judge.go", "package judge\n\nimport \"" + mod + "/internal/lazyregexp\"\n\nvar word = lazyregexp.New(`(`)\n", "expressions", "internal/judge/judge.go:5: error parsing regexp"},
	} {
		files := sound()
		if c.text == "" {
			delete(files, c.path)
		} else {
			files[c.path] = c.text
		}
		got := Check(read(t, files))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.where) || !strings.Contains(got[0], "("+c.rule+": ") {
			t.Errorf("%s: got %q, want one line of %s that starts %q", c.name, got, c.rule, c.where)
		}
		fired[c.rule] = true
	}
	for _, r := range Rules() {
		if !fired[r.Name] {
			t.Errorf("no case shows that %s fires", r.Name)
		}
	}
}

func TestReadRejectsWhatIsNotASourceTree(t *testing.T) {
	for says, files := range map[string]map[string]string{
		"no go.mod": {"a.go": "package a\n"},
		"a.go":      {"go.mod": "module x\n", "a.go": "package\n"},
	} {
		fsys := fstest.MapFS{}
		for name, text := range files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := Read(fsys); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
}

func TestReadModule(t *testing.T) {
	m := readModule("x", "module a/b // a comment\n\nrequire c v1\nrequire (\n\td v2 // indirect\n\n\t// e v3\n)\nreplace c => ../c\nreplace (\n\td v2 => f v4\n)\n")
	if m.Path != "a/b" || !maps.Equal(m.Requires, map[string]string{"c": "v1", "d": "v2"}) || !maps.Equal(m.Replaces, map[string]string{"c": "../c", "d": "f"}) {
		t.Fatalf("got %+v", m)
	}
	if got := parseMod("use (\n./b\n.\n)\nuse ./c"); !slices.EqualFunc(got, [][]string{{"use", "./b"}, {"use", "."}, {"use", "./c"}}, slices.Equal[[]string]) {
		t.Fatalf("got %q", got)
	}
}
