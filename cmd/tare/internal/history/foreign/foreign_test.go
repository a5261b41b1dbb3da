package foreign_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
)

var made = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const line = "BenchmarkParse/small-8   \t 1000\t      1200 ns/op\t  64 B/op\t       2 allocs/op\n"

// pairs returns a line for each pair of r: workload, metric, contenders, ratio, and whether it has
// an interval.
func pairs(r *tare.Result) string {
	var b strings.Builder
	for _, p := range history.PairsOf(r) {
		fmt.Fprintf(&b, "%s %s %s/%s %.4g %v\n", p.Workload, p.Metric, p.Contender, p.Against, p.Ratio, p.Low > 0 && p.High < math.Inf(1))
	}
	return b.String()
}

func TestRead(t *testing.T) {
	log := "goos: linux\ngoarch: amd64\npkg: example.com/m/parse\ncpu: A Processor\ncommit: 0123456789\n" + line + "ok  \texample.com/m/parse\t1.2s\n"
	benchdata := `[{"Version":"0123abc","Date":1777636800,"Suites":[{"Goos":"linux","Goarch":"amd64","Pkg":"example.com/m","Benchmarks":[{"Name":"BenchmarkA-2","Runs":3,"NsPerOp":5.5,"Mem":{"BytesPerOp":8,"AllocsPerOp":0,"MBPerSec":0}}]}]},` +
		`{"Version":"0123abd","Date":1777640400,"Suites":[{"Pkg":"example.com/m","Benchmarks":[{"Name":"BenchmarkA-2","NsPerOp":6,"Mem":{}}]}]}]`
	action := `window.BENCHMARK_DATA = {"lastUpdate": 1, "repoUrl": "x", "entries": {"Go": [{"commit": {"id": "feedbeef01", "message": "m"}, "date": 1777636800000, "tool": "go",` +
		`"benches": [{"name": "BenchmarkA", "value": 7, "unit": "ns/op\t 8 B/op", "extra": "x"}, {"name": "BenchmarkA - ns/op", "value": 7, "unit": "ns/op"}, {"name": "BenchmarkA - allocs/op", "value": 3, "unit": "allocs/op"}]}]}}`
	for _, tt := range []struct {
		name, text, study, version, want string
		runs                             int
	}{
		{"a log", log, "recorded example.com/m/parse", "0123456789", "BenchmarkParse/small-8 time run/one-unit 1200 false\nBenchmarkParse/small-8 bytes run/one-unit 64 false\nBenchmarkParse/small-8 allocs run/one-unit 2 false\n", 1},
		{"a log of six", strings.Replace(log, line, strings.Repeat(line, 6), 1), "recorded example.com/m/parse", "0123456789", "BenchmarkParse/small-8 time run/one-unit 1200 true\nBenchmarkParse/small-8 bytes run/one-unit 64 true\nBenchmarkParse/small-8 allocs run/one-unit 2 true\n", 1},
		{"gobenchdata", benchdata, "recorded example.com/m", "0123abc", "BenchmarkA-2 bytes run/one-unit 8 false\nBenchmarkA-2 time run/one-unit 5.5 false\nBenchmarkA-2 allocs run/one-unit 0 false\n", 2},
		{"data.js", action, "recorded Go", "feedbeef01", "BenchmarkA time run/one-unit 7 false\nBenchmarkA allocs run/one-unit 3 false\nBenchmarkA bytes run/one-unit 8 false\n", 1},
	} {
		read, ok, err := foreign.Read(tt.name, []byte(tt.text), made)
		results := read.Results
		if !ok || err != nil || len(results) != tt.runs {
			t.Errorf("%s: %d results, %v, %v", tt.name, len(results), ok, err)
			continue
		}
		r := results[0]
		if got := pairs(r); r.Study != tt.study || r.Contenders[1].Version != tt.version || got != tt.want || !r.Started.Equal(made) || r.Metrics[0] != "time" {
			t.Errorf("%s: %s of %s at %v by %v:\n%swant\n%s", tt.name, r.Study, r.Contenders[1].Version, r.Started, r.Metrics, got, tt.want)
		}
	}
}

// Other kinds of text are not taken for a log, and a broken file is reported as such.
func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", `{"schema":"tare.result/1"}`, "[]", "nothing of the kind", `[{"schema": "x"}]`} {
		if read, ok, err := foreign.Read("x", []byte(text), made); ok || err != nil || read.Results != nil {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
	for text, want := range map[string]string{
		"window.BENCHMARK_DATA = ":               "not what github-action-benchmark writes",
		`window.BENCHMARK_DATA = {"entries": 3}`: "not what github-action-benchmark writes",
		`[{"Suites": 3}]`:                        "not what gobenchdata writes",
		"BenchmarkA 1 3 things/op\n":             "no benchmark in it has ns/op",
		"BenchmarkA 1 5 ns/op\nBenchmark" + strings.Repeat("B", 1<<16) + " 1 5 ns/op\n": `the line that begins with "BenchmarkBBBB`,
	} {
		if _, ok, err := foreign.Read("file", []byte(text), made); !ok || err == nil || !strings.HasPrefix(err.Error(), "file:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
}

// A long file of many different benchmarks, in two packages, is read line by line.
func TestManyBenchmarks(t *testing.T) {
	const lines = 100_000
	var src strings.Builder
	for i := range lines {
		fmt.Fprintf(&src, "pkg: example.com/p%d\nBenchmarkA%d 1 %d ns/op\n", i/(lines/2), i, i+1)
	}
	read, ok, err := foreign.Read("b.txt", []byte(src.String()), time.Unix(0, 0))
	results := read.Results
	if !ok || err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v, %v", len(results), ok, err)
	}
	for _, r := range results {
		if len(r.Workloads) != lines/2 || len(r.Rounds) != lines/2 {
			t.Errorf("%s: %d benchmarks, %d rows", r.Study, len(r.Workloads), len(r.Rounds))
		}
	}
}

// Output of tests may have lines of any length. A benchmark that follows a long line is not lost.
func TestLongLines(t *testing.T) {
	for _, n := range []int{1<<16 - 2, 1<<16 - 1, 1 << 16, 1 << 20} {
		for _, end := range []string{"\n", "\r\n"} {
			long := strings.Repeat("x", n) + end
			text := long + "BenchmarkA 1 5 ns/op\n" + long + "key: " + long + long + "BenchmarkB 1 5 ns/op\n" + long
			read, ok, err := foreign.Read("log", []byte(text), made)
			results := read.Results
			if !ok || err != nil || len(results) != 1 || len(results[0].Workloads) != 2 {
				t.Errorf("lines of %d bytes: %d results, %v, %v", n, len(results), ok, err)
			}
		}
	}
	text := "BenchmarkA 1 5 ns/op\n" + strings.Repeat("x", 1<<16)
	if read, _, err := foreign.Read("log", []byte(text), made); err != nil || len(read.Results) != 1 {
		t.Errorf("a long line at the end: %d results, %v", len(read.Results), err)
	}
}

// A file that would take much memory, although it has few bytes, is refused before the memory is
// used.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	many := func(n int, element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	var packages strings.Builder
	for i := range 1<<18 + 1 {
		fmt.Fprintf(&packages, "pkg: %d\nBenchmarkA 1 5 ns/op\n", i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"a log":                  {strings.Repeat("BenchmarkA 1"+strings.Repeat(" 1 a", 10_000)+"\n", 210), "file: more than 2097152 figures; split the file"},
		"packages of a log":      {packages.String(), "file: more than 262144 runs or packages; split the file"},
		"gobenchdata":            {`[{"Suites":[` + many(12<<20, "1") + `]}]`, "file: not what gobenchdata writes: its values take more than 768 MiB of memory"},
		"runs of gobenchdata":    {`[{"Suites":[` + many(1<<18+1, "{}") + `]}]`, "file: more than 262144 runs or packages; split the file"},
		"figures of gobenchdata": {`[{"Suites":[{"Benchmarks":[` + many(700_000, "{}") + `]}]}]`, "file: more than 2097152 figures; split the file"},
		"data.js":                {`window.BENCHMARK_DATA = {"entries":{"a":[{"benches":[` + many(21<<20, "1") + `]}]}};`, "file: not what github-action-benchmark writes: its values take more than 768 MiB of memory"},
		"figures of data.js":     {`window.BENCHMARK_DATA = {"entries":{"a":[{"benches":[` + many(2<<20+1, "{}") + `]}]}};`, "file: more than 2097152 figures; split the file"},
	} {
		if _, ok, err := foreign.Read("file", []byte(tt.text), made); !ok || err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
