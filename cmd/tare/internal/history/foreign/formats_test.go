package foreign_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
)

// read reads text as a file named log. It returns the benchmarks of each study, and the messages
// about what was left out.
func read(t *testing.T, text string) (studies map[string][]string, left []string) {
	t.Helper()
	got, ok, err := foreign.Read("log", []byte(text), made)
	if !ok || err != nil {
		t.Fatalf("%v, %v for\n%s", ok, err, text)
	}
	studies = map[string][]string{}
	for _, r := range got.Results {
		for _, w := range r.Workloads {
			studies[r.Study] = append(studies[r.Study], w.ID)
		}
	}
	return studies, got.Omitted
}

// Other output between the parts of a benchmark line does not lose the benchmark, or the loss is
// reported.
func TestInterleavedLogs(t *testing.T) {
	const b = "BenchmarkB-2 10 5 ns/op\n"
	for name, c := range map[string]struct {
		log  string
		want []string // benchmarks
		left string   // what is left out; empty: nothing
	}{
		"whole":              {"BenchmarkA-2 10 5 ns/op\n" + b, []string{"BenchmarkA-2", "BenchmarkB-2"}, ""},
		"a log line":         {"BenchmarkA-2 \t2026/01/01 a line\n   10\t  5 ns/op\n" + b, []string{"BenchmarkA-2", "BenchmarkB-2"}, ""},
		"many lines":         {"BenchmarkA-2 \tone\ntwo\nkey: three\n\t10\t 5 ns/op\t 0 B/op\t 0 allocs/op\n" + b, []string{"BenchmarkA-2", "BenchmarkB-2"}, ""},
		"-v":                 {"BenchmarkA\n    a_test.go:7: a line\nBenchmarkA-2 10 5 ns/op\nBenchmarkS\nBenchmarkS/x\nBenchmarkS/x-2 10 5 ns/op\n" + b, []string{"BenchmarkA-2", "BenchmarkS/x-2", "BenchmarkB-2"}, ""},
		"no end of line":     {"BenchmarkA-2 hello 10 5 ns/op\n" + b, []string{"BenchmarkB-2"}, `log:1: BenchmarkA-2 has no result: its result is not before "BenchmarkB-2"`},
		"it failed":          {"BenchmarkA-2 \t--- FAIL: BenchmarkA-2\n    a_test.go:7: no\n" + b, []string{"BenchmarkB-2"}, `log:1: BenchmarkA-2 has no result: its result is not before "BenchmarkB-2"`},
		"it failed, with -v": {"BenchmarkA\n--- FAIL: BenchmarkA\n" + b, []string{"BenchmarkB-2"}, "log:1: BenchmarkA has no result: it failed"},
		"skipped":            {"BenchmarkA\n--- SKIP: BenchmarkA (0.00s)\n" + b, []string{"BenchmarkB-2"}, "log:1: BenchmarkA has no result: it was skipped"},
		"cut off":            {b + "BenchmarkA-2 \t", []string{"BenchmarkB-2"}, "log:2: BenchmarkA-2 has no result: the log ends before its result"},
		"a panic":            {b + "BenchmarkA-2 \tpanic: x\nFAIL\texample.com/m\t1s\n", []string{"BenchmarkB-2"}, "log:2: BenchmarkA-2 has no result: its package ends before its result"},
		"prose":              {"Benchmarks of today:\nBenchmarking took 10 5 ns/op\n" + b, []string{"BenchmarkB-2"}, ""},
		"no unit":            {"BenchmarkA-2 10 5 ns/op 7\n" + b, []string{"BenchmarkB-2"}, "log:1: BenchmarkA-2: missing units"},
	} {
		studies, left := read(t, c.log)
		var all []string
		for _, list := range studies {
			all = append(all, list...)
		}
		if !slices.Equal(all, c.want) || strings.Join(left, "\n") != c.left {
			t.Errorf("%s: %q, left out %q; want %q, %q", name, all, left, c.want, c.left)
		}
	}
}

// Benchmarks with the same name in two packages are kept apart, whichever line names the package.
func TestPackagesOfALog(t *testing.T) {
	const a = "BenchmarkA-2 10 5 ns/op\n"
	for name, c := range map[string]struct {
		log  string
		want map[string]int // benchmarks by study
	}{
		"headers":         {"pkg: m/a\n" + a + "PASS\nok  \tm/a\t1s\npkg: m/b\n" + a + "ok  \tm/b\t1s\n", map[string]int{"recorded m/a": 1, "recorded m/b": 1}},
		"only ends":       {a + "ok  \tm/a\t1s\n?   \tm/n\t[no test files]\n" + a + "ok  \tm/b\t1s\n", map[string]int{"recorded m/a": 1, "recorded m/b": 1}},
		"neither":         {a, map[string]int{"recorded benchmarks": 1}},
		"no benchmarks":   {"pkg: m/a\n" + a + "ok  \tm/n\t1s\n" + a + "ok  \tm/a\t1s\n", map[string]int{"recorded m/a": 1}},
		"after the end":   {"pkg: m/a\n" + a + "ok  \tm/a\t1s\n" + a, map[string]int{"recorded m/a": 1, "recorded benchmarks": 1}},
		"two processors":  {"pkg: m/a\n" + a + "BenchmarkA-4 10 5 ns/op\nBenchmarkA 10 5 ns/op\n", map[string]int{"recorded m/a": 3}},
		"of two machines": {"pkg: m/a\ncpu: one\n" + a + "cpu: two\n" + a, map[string]int{"recorded m/a": 2}},
	} {
		studies, left := read(t, c.log)
		for study, n := range c.want {
			if len(studies[study]) != n {
				t.Errorf("%s: %s has %q, want %d", name, study, studies[study], n)
			}
		}
		if len(studies) != len(c.want) || len(left) > 0 {
			t.Errorf("%s: %v, left out %q", name, studies, left)
		}
	}
}

// events is the output of go test -json of two packages that run at the same time.
const events = `{"Time":"2026-04-01T10:00:00Z","Action":"start","Package":"m/a"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/a","Output":"goos: linux\n"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/b","Output":"pkg: m/b\n"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/a","Output":"pkg: m/a\n"}
# m/c
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/a","Test":"BenchmarkA","Output":"=== RUN   BenchmarkA\n"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/a","Test":"BenchmarkA","Output":"BenchmarkA\n"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/a","Test":"BenchmarkA","Output":"BenchmarkA-2   \t"}
{"Time":"2026-04-01T10:00:01Z","Action":"output","Package":"m/b","Output":"BenchmarkB-2   \t"}
{"Time":"2026-04-01T10:00:02Z","Action":"output","Package":"m/b","Output":" 10\t 7 ns/op\n"}
{"Time":"2026-04-01T10:00:02Z","Action":"output","Package":"m/a","Test":"BenchmarkA","Output":" 10\t 5 ns/op\n"}
{"Time":"2026-04-01T10:00:02Z","Action":"output","Package":"m/a","Test":"BenchmarkL","Output":"BenchmarkL-2 \t"}
{"Time":"2026-04-01T10:00:03Z","Action":"output","Package":"m/a","Output":"ok  \tm/a\t1.2s\n"}
{"Time":"2026-04-01T10:00:03Z","Action":"pass","Package":"m/a"}
`

func TestEvents(t *testing.T) {
	got, ok, err := foreign.Read("log", []byte(events), made)
	if !ok || err != nil || len(got.Results) != 2 || !foreign.IsForeign([]byte(events)) {
		t.Fatalf("%d results, %v, %v", len(got.Results), ok, err)
	}
	for _, r := range got.Results {
		if !r.Started.Equal(time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC)) || len(r.Workloads) != 1 {
			t.Errorf("%s at %v: %v", r.Study, r.Started, r.Workloads)
		}
	}
	if want := []string{"log:12: BenchmarkL-2 has no result: the log ends before its result"}; !slices.Equal(got.Omitted, want) {
		t.Errorf("left out %q, want %q", got.Omitted, want)
	}
	if _, _, err := foreign.Read("log", []byte(events[:len(events)-30]), made); err == nil || !strings.HasPrefix(err.Error(), "log:14:1: not an event of go test -json: ") {
		t.Errorf("cut off: %v", err)
	}
}

// The data of github-action-benchmark is also read without the script around it.
func TestActionJSON(t *testing.T) {
	data := `{"lastUpdate": 1, "repoUrl": "x", "entries": {"Go": [{"commit": {"id": "f"}, "date": 1777636800000, "tool": "go", "benches": [
		{"name": "BenchmarkA", "value": 7, "unit": "ns/op\t8 B/op\t0 allocs/op", "extra": "9 times\n4 procs"},
		{"name": "BenchmarkA - ns/op", "value": 7, "unit": "ns/op", "extra": "9 times\n4 procs"}]}]}}`
	if !foreign.IsForeign([]byte(data)) {
		t.Error("it is taken for a result of ours")
	}
	got, ok, err := foreign.Read("x", []byte(data), made)
	if !ok || err != nil || len(got.Results) != 1 {
		t.Fatalf("%v, %v", ok, err)
	}
	if want := "BenchmarkA-4 time run/one-unit 7 false\nBenchmarkA-4 bytes run/one-unit 8 false\nBenchmarkA-4 allocs run/one-unit 0 false\n"; pairs(got.Results[0]) != want {
		t.Errorf("%swant\n%s", pairs(got.Results[0]), want)
	}
}

// Entries of github-action-benchmark that go test -count repeated are rounds, and six of them have an interval. Any
// other repetition may be of several packages, and is refused.
func TestRoundsOfAction(t *testing.T) {
	read := func(names string) (foreign.Records, error) {
		var benches []string
		for i, name := range strings.Fields(names) {
			benches = append(benches,
				fmt.Sprintf(`{"name": %q, "value": 50, "unit": "ns/op\t%d B/op\t1 allocs/op"}`, name, 16+i%2),
				fmt.Sprintf(`{"name": "%s - ns/op", "value": 50, "unit": "ns/op"}`, name))
		}
		got, ok, err := foreign.Read("log", []byte(`window.BENCHMARK_DATA = {"entries": {"kv": [{"benches": [`+strings.Join(benches, ",\n")+`]}]}};`), made)
		if !ok {
			t.Errorf("%s: not read as a file of github-action-benchmark", names)
		}
		return got, err
	}
	got, err := read(strings.Repeat("BenchmarkA ", 6) + strings.Repeat("BenchmarkB ", 6))
	if err != nil || len(got.Results) != 1 {
		t.Fatalf("%d results, %v", len(got.Results), err)
	}
	r := got.Results[0]
	if r.RoundsDone != 6 || len(r.Workloads) != 2 || !strings.Contains(pairs(r), "BenchmarkB time run/one-unit 50 true") {
		t.Errorf("%d rounds:\n%s", r.RoundsDone, pairs(r))
	}
	for _, names := range []string{"BenchmarkA BenchmarkA", "BenchmarkA BenchmarkB BenchmarkA BenchmarkB", "BenchmarkA BenchmarkA BenchmarkB", "BenchmarkA BenchmarkA BenchmarkB BenchmarkB BenchmarkA BenchmarkA"} {
		if _, err := read(names); err == nil || !strings.Contains(err.Error(), "of another package, or another round") {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// The error about a file that cannot be read names what the file is, the place, and what to do
// instead.
func TestWhatIsNotRead(t *testing.T) {
	const put = `{"name": "BenchmarkPut", "value": 5, "unit": "ns/op"}`
	action := func(benches string) string {
		return "window.BENCHMARK_DATA = {\"entries\":\n {\"kv\": [{\"benches\": [\n" + benches + "]}]}}"
	}
	suites := func(benches string) string { return "[{\"Suites\": [\n{\"Benchmarks\": [" + benches + "]}]}]" }
	for name, c := range map[string][2]string{
		"benchstat":                {"goos: linux\npkg: m\n         │   old.txt   │\n         │   sec/op    │\nEncode-2   1.718µ ± 1%\n", "log: a table of benchstat; import the output of go test that benchstat read: a table has no rounds"},
		"benchstat before 2023":    {"name      old time/op  new time/op  delta\nEncode-2  13.6µs ± 1%  11.8µs ± 1%  -13.31%\n", "log: a table of benchstat; import the output of go test that benchstat read: a table has no rounds"},
		"CSV of benchstat":         {"goos: linux\n,old.txt,,new.txt\n,sec/op,CI,sec/op,CI,vs base,P\nEncode-2,1,1%\n", "log: a table of benchstat; import the output of go test that benchstat read: a table has no rounds"},
		"two in a line":            {"BenchmarkA-2 BenchmarkB-2 10 5 ns/op\n 10 7 ns/op\n", "log:1:1: two benchmarks print into each other; write the output of each go test into a file of its own"},
		"two packages":             {"pkg: m/a\nBenchmarkA 10 5 ns/op\npkg: m/b\nBenchmarkA 10 5 ns/op\nok  \tm/a\t1s\n", "log:5:1: m/a ends among the benchmarks of m/b: two go test print into each other; write the output of each into a file of its own"},
		"less than nothing":        {"BenchmarkA-2 10 -5 ns/op\n", "log:1:1: BenchmarkA-2: -5 ns/op is no measurement; a figure is not negative"},
		"twice":                    {action(put + ",\n  " + put), "log:4:3: a second BenchmarkPut in ns/op (5, and 5 before): of another package, or another round; keep one, or import the output of go test"},
		"less than nothing in js":  {action(strings.Replace(put, "5", "-5", 1)), "log:3:1: BenchmarkPut: -5 ns/op is no measurement; a figure is not negative"},
		"no list of figures":       {action(strings.Replace(put, "ns/op", "ns/op x B/op", 1)), `log:3:1: BenchmarkPut: the unit "ns/op x B/op" is not a list of figures; e.g. ns/op, or ns/op 8 B/op 1 allocs/op`},
		"in two suites":            {suites(`{"Name": "BenchmarkA", "NsPerOp": 5}]},` + "\n" + `{"Benchmarks": [{"Name": "BenchmarkA", "NsPerOp": 7}`), `log:3:17: a second BenchmarkA of package "" in one run, in another suite; keep one, or give each suite its Pkg`},
		"less than nothing of all": {suites(`{"Name": "BenchmarkA", "NsPerOp": -5}`), "log:2:17: BenchmarkA: -5 ns/op is no measurement; a figure is not negative"},
	} {
		if _, ok, err := foreign.Read("log", []byte(c[0]), made); !ok || err == nil || err.Error() != c[1] {
			t.Errorf("%s: %v, %v\nwant %s", name, ok, err, c[1])
		}
	}
}

// A zero is a measurement only if some benchmark of the suite has a memory figure. Otherwise memory
// was not measured.
func TestZeroOfGobenchdata(t *testing.T) {
	got, _, err := foreign.Read("x", []byte(`[{"Suites":[{"Pkg":"m","Benchmarks":[{"Name":"BenchmarkA","NsPerOp":5,"Mem":{}},{"Name":"BenchmarkB","NsPerOp":5,"Mem":{"BytesPerOp":8,"AllocsPerOp":1}}]},{"Pkg":"n","Benchmarks":[{"Name":"BenchmarkA","NsPerOp":5,"Mem":{}}]}]}]`), made)
	if err != nil || len(got.Results) != 2 {
		t.Fatal(err)
	}
	if with, without := pairs(got.Results[0]), pairs(got.Results[1]); !strings.Contains(with, "BenchmarkA allocs run/one-unit 0 false") || strings.Contains(without, "allocs") {
		t.Errorf("%s\n%s", with, without)
	}
}
