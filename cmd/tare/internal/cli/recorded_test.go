package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// recordings is a data directory for files that other tools wrote.
type recordings struct {
	t   *testing.T
	env func(string) string
}

// run runs tare history with arguments and returns what it printed.
func (r recordings) run(code int, args ...string) (stdout, stderr string) {
	r.t.Helper()
	var out, errs bytes.Buffer
	got := cli.Main(r.t.Context(), cmdenv.Env{Args: append([]string{"history"}, args...), Getenv: r.env, In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now})
	if got != code {
		r.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// imports imports logs, a day each, the first of which is of 1 March 2026.
func (r recordings) imports(logs ...string) {
	r.t.Helper()
	dir := r.t.TempDir()
	args := []string{"import"}
	for i, text := range logs {
		file := filepath.Join(dir, fmt.Sprintf("%02d.txt", i+1))
		day := time.Date(2026, 3, i+1, 12, 0, 0, 0, time.UTC)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
		if err := os.Chtimes(file, day, day); err != nil {
			r.t.Fatal(err)
		}
		args = append(args, file)
	}
	if out, errs := r.run(0, args...); errs != "" || !strings.HasPrefix(out, fmt.Sprintf("took in %d results", len(logs))) {
		r.t.Fatalf("%s%s", out, errs)
	}
}

// published returns the page and the badge of a study.
func (r recordings) published(args ...string) (page, badge string) {
	r.t.Helper()
	dir := r.t.TempDir()
	pageFile, badgeFile := filepath.Join(dir, "page.html"), filepath.Join(dir, "badge.svg")
	r.run(0, append(args, "--page", pageFile, "--badge", badgeFile)...)
	for file, text := range map[string]*string{pageFile: &page, badgeFile: &badge} {
		src, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		*text = string(src)
	}
	return page, badge
}

// A first allocation is a change, exactly, in the terminal, on the page and on the badge.
func TestCountsFromZero(t *testing.T) {
	r := recordings{t, home(t)}
	var logs []string
	for i := range 12 {
		src, err := os.ReadFile(fmt.Sprintf("testdata/recorded/zero-%02d.txt", i+1))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, string(src))
	}
	r.imports(logs...)
	for metric, want := range map[string]string{
		"allocs": "changed in the run of 2026-03-07 12:00: 0, then 1 allocs/op in every run",
		"bytes":  "changed in the run of 2026-03-07 12:00: 0, then 16 B/op in every run",
	} {
		text, _ := r.run(0, "recorded example.org/zero", "--metric", metric, "--ascii")
		if !strings.Contains(text, want+"\n") || !strings.Contains(text, "______######") {
			t.Errorf("%s: no %q in\n%s", metric, want, text)
		}
		page, badge := r.published("recorded example.org/zero", "--metric", metric)
		if !strings.Contains(page, want) || strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || !strings.Contains(badge, ">1 worse<") {
			t.Errorf("%s: on the page: %v; %s", metric, strings.Contains(page, want), badge)
		}
		metrics, _ := r.run(0, "recorded example.org/zero", "--metric", metric, "--format", "openmetrics")
		if !strings.Contains(metrics, "tare_steps{") {
			t.Errorf("%s", metrics)
		}
		if csv, _ := r.run(0, "recorded example.org/zero", "--metric", metric, "--format", "csv"); !strings.Contains(csv, ",0,1\n") {
			t.Errorf("%s: no count of zero in\n%s", metric, csv)
		}
	}
}

// logOfStep is a log of six rounds of two benchmarks, the first of which takes 30 % longer
// from run at on.
func logOfStep(run, at int) string {
	var b strings.Builder
	b.WriteString("goos: linux\ngoarch: amd64\npkg: example.org/step\n")
	for k := range 6 {
		noise := 1 + 0.004*float64((7*run+5*k)%9-4)/4
		slow := 1000 * noise
		if run >= at {
			slow *= 1.3
		}
		fmt.Fprintf(&b, "BenchmarkSlow-2 1000 %.1f ns/op\nBenchmarkSame-2 1000 %.1f ns/op\n", slow, 500*noise)
	}
	return b.String()
}

// A step is one in the terminal, on the page, on the badge and in metrics, however long ago
// it was.
func TestStepIsToldEverywhere(t *testing.T) {
	for _, at := range []int{7, 12} {
		r := recordings{t, home(t)}
		var logs []string
		for run := 1; run <= 12; run++ {
			logs = append(logs, logOfStep(run, at))
		}
		r.imports(logs...)
		text, _ := r.run(0, "recorded example.org/step")
		line, _, _ := strings.Cut(text[strings.Index(text, "changed in the run of"):], "\n")
		if day := fmt.Sprintf("changed in the run of 2026-03-%02d", at); !strings.HasPrefix(line, day) || strings.Count(text, "no change shown") != 1 {
			t.Errorf("at %d, want %s:\n%s", at, day, text)
		}
		page, badge := r.published("recorded example.org/step")
		if !strings.Contains(page, line) || !strings.Contains(page, fmt.Sprintf("run %d (2026-03-%02d", at, at)) || !strings.Contains(badge, ">1 worse<") {
			t.Errorf("at %d: %q on the page: %v; %s", at, line, strings.Contains(page, line), badge)
		}
		metrics, _ := r.run(0, "recorded example.org/step", "--format", "openmetrics")
		changed := strings.Count(metrics, `workload="BenchmarkSlow-2",contender="run",against="one-unit"} 1`+"\n")
		if want := map[bool]int{true: 2, false: 1}[at == 12]; changed != want { // tare_steps, and tare_changed if it is new
			t.Errorf("at %d: %d metrics are 1, want %d:\n%s", at, changed, want, metrics)
		}
	}
}

// Two benchmarks of one name are not taken for rounds of one.
func TestRecordedNames(t *testing.T) {
	r := recordings{t, home(t)}
	const file = "testdata/recorded/data.js"
	if _, errs := r.run(2, "import", file); errs != "tare: "+file+":7:7: a second BenchmarkPut in ns/op (0.4, and 55.5 before): of another package, or another round; keep one, or import the output of go test\n" {
		t.Errorf("%s", errs)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mended := filepath.Join(t.TempDir(), "data.js")
	if err := os.WriteFile(mended, bytes.Replace(src, []byte(`"BenchmarkPut"`), []byte(`"BenchmarkPut (example.org/kv/log)"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(0, "import", mended)
	text, _ := r.run(0, "recorded kv")
	for name, want := range map[string]string{"BenchmarkPut": "0.400", "BenchmarkPut (example.org/kv/log)": "55.5", "BenchmarkGet": "800", "BenchmarkGet-2": "1,600", "BenchmarkGet-4": "3,200"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), " "+name+" run ~ "+want+" ") {
			t.Errorf("%s is not %s in\n%s", name, want, text)
		}
	}
}

// Logs are read by the rule of textfile: compressed, and as PowerShell writes them.
func TestImportByContent(t *testing.T) {
	const log = "pkg: m\nBenchmarkA-2 \t 10 \t 5 ns/op\n"
	recordings{t, home(t)}.imports(log, string(packGzip(t, []byte(log))), string(toUTF16([]byte(log))))
	r := recordings{t, home(t)}
	for name, want := range map[string]string{
		"\xfd7zXZ\x00":                        "the file is compressed (xz), which is not read; unpack it first, e.g. by xz -dc",
		"B\x00e\x00n\x00c\x00h\x00":           "the file is perhaps UTF-16 without a byte order mark; convert it, e.g. iconv -f UTF-16LE -t UTF-8",
		string(packGzip(t, []byte(log))[:20]): "the file is damaged or cut off (gzip: unexpected EOF)",
	} {
		file := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs := r.run(cmdenv.ExitUsage, "import", file); errs != "tare: cannot read "+file+": "+want+"\n" {
			t.Errorf("%s\nwant %s", errs, want)
		}
	}
}

// What is left out of a file is named on stderr, also with --json.
func TestImportNamesWhatItLeavesOut(t *testing.T) {
	r := recordings{t, home(t)}
	file := filepath.Join(t.TempDir(), "log.txt")
	log := "pkg: example.org/m\nBenchmarkA-2 10 5 ns/op 3 MB/s\nBenchmarkB-2 \tit prints\nBenchmarkC-2 10 5 ns/op\n"
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := r.run(0, "import", file)
	want := fmt.Sprintf("tare: left out: %s:3: BenchmarkB-2 has no result: its result is not before \"BenchmarkC-2\"\ntare: left out: %s: 1 figure in MB/s: stored are ns/op above 0, B/op and allocs/op\n", file, file)
	if errs != want || !strings.HasSuffix(out, "; 2 lines skipped, see above\n") {
		t.Errorf("%s%s\nwant %s", out, errs, want)
	}
	if out, _ := r.run(0, "import", file, "--json"); !strings.Contains(out, `"left_out": [`) {
		t.Errorf("%s", out)
	}
}
