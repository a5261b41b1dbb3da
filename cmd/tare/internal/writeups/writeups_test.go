package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/studies"
)

// tiny is a result of the bundled study tiny that answers all of its claims.
func tiny(t *testing.T) *tare.Result {
	t.Helper()
	source, err := studies.FS.ReadFile("tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	study, err := studyfile.Parse("tiny.yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	r := &tare.Result{
		Schema: tare.ResultSchema, Study: "tiny",
		Run: tare.Run{
			Seed: "2026", Seconds: 90,
			Machine: tare.Machine{Go: "go1.26.8", Cores: 2},
		},
		Measured: tare.Measured{
			RoundsDone:  12,
			Comparisons: []tare.Comparison{{Workload: "get-7/c100", Contender: "gin-new", Against: "nethttp", Metric: "cpu", Ratio: 1.03, Low: 0.92, High: 1.22, Rounds: 12}},
		},
		Design: tare.Design{Metrics: []string{"cpu"}, Workloads: []tare.Workload{{ID: "get-7/c100"}}},
	}
	for _, c := range study.Claims {
		r.Claims = append(r.Claims, tare.ClaimResult{ID: c.ID, Kind: c.Kind, Source: c.Source, Statement: c.Statement, Outcome: tare.NotMeasured})
	}
	return r
}

// repository has the result of tiny, and what else is given.
func repository(t *testing.T, r *tare.Result, files map[string]string) *writer {
	t.Helper()
	root := t.TempDir()
	document, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := saveResult(root, "tiny", document); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &writer{root: root, loaded: map[string]runData{}}
}

func TestFiguresComeFromKeptRuns(t *testing.T) {
	w := repository(t, tiny(t), map[string]string{"docs/a.md.tmpl": `Gin takes {{quote "tiny" "{gin-new get-7/c100 cpu} the CPU time"}} ({{run "tiny"}}).

{{claims "tiny"}}
`})
	text, err := w.fillTemplate("docs/a.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Gin takes 1.03× (0.92–1.22) the CPU time (12 rounds in 90 s on ", "seed 2026, go1.26.8, 2 cores", "| F3.1 |", "| not measured |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestWhatARunDoesNotSay(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a figure that was not measured": {`{{quote "tiny" "{fasthttp get-7/c100 cpu}"}}`, "no figure"},
		"no figure at all":               {`{{quote "tiny" "{fasthttp}"}}`, "not a figure"},
		"a run that is not kept":         {`{{run "users"}}`, "measure it: writeups -tare FILE users"},
	} {
		w := repository(t, tiny(t), map[string]string{"docs/a.md.tmpl": c.text})
		if _, err := w.fillTemplate("docs/a.md"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPartsOfRunsThatAreNotKeptStay(t *testing.T) {
	w := repository(t, tiny(t), map[string]string{
		"docs/a.md.tmpl": "# A\n\n## one\n\n{{run \"tiny\"}}\n\n## two\n\n{{run \"users\"}}\n",
		"docs/a.md":      "# A\n\n## one\n\nold\n\n## two\n\nkept\n",
		"docs/b.md.tmpl": "| a | {{run \"users\"}} |\n| b | {{quote \"tiny\" \"{gin-new get-7/c100 cpu}\"}} |\n",
		"docs/b.md":      "| a | kept |\n| b | old |\n",
	})
	if text, err := w.fillTemplate("docs/a.md"); err != nil || strings.Contains(string(text), "old") || !strings.Contains(string(text), "12 rounds in 90 s") || !strings.HasSuffix(string(text), "\n## two\n\nkept\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := w.fillTemplate("docs/b.md"); err != nil || string(text) != "| a | kept |\n| b | 1.03× (0.92–1.22) |\n" {
		t.Errorf("%v\n%s", err, text)
	}
}

// A claim that was worded or asked in another way when the run was kept is judged as the
// study has it now, by the figures of the run.
func TestClaimsAreJudgedAgain(t *testing.T) {
	r := tiny(t)
	r.Claims = []tare.ClaimResult{{ID: "F3.1", Statement: "as it was worded before", Outcome: tare.Holds}}
	r.Contenders = []tare.Contender{{ID: "nethttp", Role: tare.RoleBaseline}, {ID: "gin-default", Role: tare.RoleContender}}
	r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: "get-7/c100", Contender: "gin-default", Against: "nethttp", Metric: "time", Ratio: 2, Low: 1.9, High: 2.1, Rounds: 12})
	r.Metrics = append(r.Metrics, "time")
	r.Workloads[0].Traffic = &tare.Traffic{Connections: 100}
	m, err := repository(t, r, nil).loadRun("tiny")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.result.Claims {
		if c.ID == "F3.1" && (c.Outcome != tare.Holds || c.Statement == "as it was worded before" || c.Measured != 2 || c.SourceURL == "") {
			t.Errorf("%+v", c)
		}
		if c.ID == "F3.1/p50" && c.Outcome != tare.NotMeasured {
			t.Errorf("%+v", c)
		}
	}
	if len(m.result.Claims) != len(m.study.Claims) {
		t.Errorf("%d claims of %d", len(m.result.Claims), len(m.study.Claims))
	}
}

func TestKeptRunsNameNoPlace(t *testing.T) {
	root := t.TempDir()
	if err := saveResult(root, "tiny", []byte(`{"study": "tiny", "asked": {"with": ["example.com/x=/home/somebody/src/x", "example.com/y=/tmp/y", "http://example.com/home/x"]}}`)); err != nil {
		t.Fatal(err)
	}
	r, _, err := loadResult(root, "tiny")
	if err != nil || !slices.Equal(r.Asked.With, []string{"example.com/x=../x", "example.com/y=../y", "http://example.com/home/x"}) {
		t.Errorf("%v, %v", r, err)
	}
}

// place is a path in a directory that is somebody's own.
var place = regexp.MustCompile(`(?:^|[^\w./])/(?:tmp|home|root|work|Users|private|var/folders)/[\w.+-]+`)

// No page, transcript or kept run names a path of the machine that it was made on.
func TestDocumentsNameNoPlace(t *testing.T) {
	looked := 0
	err := filepath.WalkDir("../../../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".tmpl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				return err
			}
			if text, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		looked++
		for _, found := range place.FindAll(text, 3) {
			t.Errorf("%s names %s", path, found)
		}
		return nil
	})
	if err != nil || looked < 50 {
		t.Errorf("%d files, %v", looked, err)
	}
}

func TestInterruptedRunsAreNotKept(t *testing.T) {
	if err := saveResult(t.TempDir(), "tiny", []byte(`{"stopped": "interrupted"}`)); err == nil {
		t.Error("kept")
	}
	if err := saveResult(t.TempDir(), "tiny", []byte(`{`)); err == nil {
		t.Error("half a document is kept")
	}
}

var quoted = regexp.MustCompile(`{{quote "([^"]+)" "([^"]+)"}}`)

// What templates quote is in the studies, whose runs take hours.
func TestTemplatesQuoteWhatStudiesHave(t *testing.T) {
	files, err := filepath.Glob("../../../../docs/*.md.tmpl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := quoted.FindAllStringSubmatch(string(text), -1)
		if len(all) != strings.Count(string(text), "{{quote ") || len(all) == 0 {
			t.Errorf("%s: %d quotes can be read of %d", file, len(all), strings.Count(string(text), "{{quote "))
		}
		for _, q := range all {
			i := slices.IndexFunc(runs, func(r storedRun) bool { return r.name == q[1] })
			if i < 0 {
				t.Errorf("%s: there is no run %s", file, q[1])
				continue
			}
			source, err := studies.FS.ReadFile(runs[i].study + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			study, err := studyfile.Parse(q[1], source)
			if err != nil {
				t.Fatal(err)
			}
			study.Answer = append(study.Answer, tare.Answer{Text: q[2]})
			if err := study.Validate(); err != nil {
				t.Errorf("%s: %s: %v", file, q[0], err)
			}
		}
	}
}

func TestExcerpt(t *testing.T) {
	transcript := `tiny

WORKLOAD get-7/c100
  contender            cpu / nethttp            rank
                       ratio [97.5 % interval]  group
  hertz                0.544 [0.507, 0.585]     1–2 a
  fasthttp             0.575 [0.519, 0.612]     1–3 ab
    github.com/valyala/fasthttp@v1.74.0
  nethttp (baseline)   1                        4–11 cde
    nethttp is the baseline
  gin-new              1.013 [0.950, 1.097]     4–12
  gin-default          1.4 [1.3, 1.5]           13 g
  control              1.0 [0.9, 1.1]

WORKLOAD get-random/c50
  control              2
`
	w := repository(t, tiny(t), map[string]string{"README.md": "before\n" + excerptBegin + "old\n" + excerptEnd + "after\n"})
	text, err := w.fillReadme(transcript)
	want := "before\n" + excerptBegin + "\n```text\n" + `contender            cpu / nethttp            rank
                     ratio [97.5 % interval]  group
fasthttp             0.575 [0.519, 0.612]     1–3 ab
nethttp (baseline)   1                        4–11 cde
gin-new              1.013 [0.950, 1.097]     4–12
gin-default          1.4 [1.3, 1.5]           13 g
control              1.0 [0.9, 1.1]` + "\n```\n\n" + excerptEnd + "after\n"
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
	if _, err := w.fillReadme(strings.Replace(transcript, "  gin-new ", "  gin-old ", 1)); err == nil {
		t.Error("a row is missing and nobody says so")
	}
}

func TestVerdictOf(t *testing.T) {
	for text, want := range map[string]string{
		"That stands.\n- One.\n- Two.\n\nMore.": "That stands.",
		"It recommends a, and that stands.":     "It recommends a, and that stands.",
	} {
		if got := verdictOf(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMeasuringNeedsAProgram(t *testing.T) {
	if err := run(t.Context(), []string{"-root", t.TempDir(), "tiny"}, os.Stderr); err == nil || !strings.Contains(err.Error(), "-tare FILE") {
		t.Error(err)
	}
	if err := run(t.Context(), []string{"-root", t.TempDir(), "-tare", "/bin/false", "tinny"}, os.Stderr); err == nil || !strings.Contains(err.Error(), "no such run; there are json-encode") {
		t.Error(err)
	}
}

// The committed documents are what the kept runs and the templates make.
func TestDocumentsAgreeWithTheKeptRuns(t *testing.T) {
	root := "../../../.."
	documents, missing, err := writeAll(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("not kept: %s", missing)
	if documents["README.md"] == nil {
		t.Error("the run of tiny is not kept, so nothing compares the README's table")
	}
	for path, want := range documents {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what the kept runs say; run make write-ups", path)
		}
	}
}
