package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/report"
)

func sample() *tare.Result {
	return &tare.Result{
		Schema: tare.ResultSchema, Study: "s", Run: tare.Run{Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, Measured: tare.Measured{RoundsDone: 8},
		Design: tare.Design{
			Metrics:    []string{"time"},
			Contenders: []tare.Contender{{ID: "old", Role: tare.RoleBaseline}, {ID: "new", Role: tare.RoleContender}},
			Workloads:  []tare.Workload{{ID: "w", Fixture: "devices", Op: "marshal"}},
		},
		Record: tare.Record{Trials: []tare.Trial{{Round: 1, Tau: 1, Contender: "new", Samples: map[string]tare.Sample{"w": {"time_ns_per_op": 1}}}}},
	}
}

func document(t testing.TB, r *tare.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	doc := document(t, sample())
	for name, src := range map[string][]byte{
		"one": doc, "with a mark": append([]byte("\ufeff"), doc...), "list": append(append([]byte("[\n"), doc...), ']'),
	} {
		got, err := Parse("x", src)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d results, %v", name, len(got), err)
		}
		if again := document(t, got[0]); !bytes.Equal(again, doc) {
			t.Errorf("%s: another document:\n%s", name, again)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	const begin = `{"schema": "tare.result/1", "study": "s", `
	for src, want := range map[string]string{
		"":                                      "x: empty; a result is",
		" \n":                                   "x: empty; a result is",
		"null":                                  `x: no result: it has no "schema"; a result is`,
		"[]":                                    "x: an empty list of results",
		"[null]":                                `x: no result: it has no "schema"`,
		"7":                                     "x:1:1: it is a JSON number, but must be an object",
		"[7]":                                   "x:1:2: it is a JSON number, but must be an object",
		`{"schema": 1}`:                         "x:1:12: schema is a JSON number, but must be a string",
		`{"schema": "tare.x/1"}`:                `x: schema "tare.x/1" is not tare.result/1`,
		`{"schema": "tare.result/1"}`:           "x: a result that names no study",
		`{"schema": "tare.result/10"}`:          "x: schema tare.result/10 is newer than this tare reads (tare.result/1); ",
		`{"schema": "tare.result/0"}`:           `x: schema "tare.result/0" is not tare.result/1`,
		`{"schema": "tare.result/next"}`:        `x: schema "tare.result/next" is not tare.result/1`,
		begin + `"seconds": "many"}`:            "x:1:59: seconds is a JSON string, but must be a number",
		begin + "\n\"metrics\": {}}":            "x:2:12: metrics is a JSON object, but must be a list",
		begin + "\n\"rounds_done\": 1.5}":       "x:2:18: rounds_done is a JSON number 1.5, but must be an integer",
		begin + "\"started\": \"yesterday\"}":   "x: parsing time",
		begin + "\n  \"metrics\": [\"é\", tru]": "x:2:23: not JSON: ",
		begin + "\n\"a\":":                      "x:2:4: the document ends in the middle",
		begin + "\"a\": 1}\n\n {}":              "x:3:2: more than one document; put them into a list",
		`{"head":{"format":"tare.journal/1"}}`:  "x: a run's journal, not its result; name the result.json next to it",
		"\x00":                                  "x:1:1: not JSON: ",
	} {
		_, err := Parse("x", []byte(src))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v\nwant %s", src, err, want)
		}
	}
}

func TestFrom(t *testing.T) {
	broken := errors.New("unplugged")
	if _, err := ReadFrom("x", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a broken stream: %v", err)
	}
	var e *Error
	if _, err := readFrom("x", spaces{}, 1<<20); !errors.As(err, &e) || e.What != "larger than 1 MiB" {
		t.Errorf("a stream without end: %v", err)
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A document that would take much memory, although it has few bytes, is refused before the memory
// is used. This holds for every form of a document.
func TestMemoryIsBounded(t *testing.T) {
	ones := strings.Repeat("1,", 4<<20) + "1]"
	for name, src := range map[string]string{
		"trials":  `{"schema":"tare.result/1","study":"s",` + "\n" + ` "trials":[` + ones + "}",
		"a list":  "\n[" + ones,
		"results": "\n[" + `{"schema":"tare.result/1","study":"s","contenders":[` + ones + "}]",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("x", []byte(src))
		errScan := Scan("x", strings.NewReader(src), func(DocumentInfo, []byte) error { return nil })
		runtime.ReadMemStats(&after)
		for _, err := range []error{err, errScan} {
			var e *Error
			if !errors.As(err, &e) || e.Line != 2 || e.What != "its values take more than 768 MiB of memory up to here" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 20*uint64(len(src)) {
			t.Errorf("%s: %d bytes were taken for %d", name, took, len(src))
		}
	}
}

// A result of 100,000 trials with ten workloads each is within the limit. The test checks a tenth
// of it against a tenth of the limit.
func TestLargeResultHasRoom(t *testing.T) {
	samples := strings.TrimSuffix(strings.Repeat(`"encode-large":{"time_ns_per_op":123.25,"cpu_ns_per_op":120.5,"bytes_per_op":320,"allocs_per_op":2},`, 10), ",")
	for i := range 10 {
		samples = strings.Replace(samples, "-large", fmt.Sprintf("-%d", i), 1)
	}
	trial := `{"round":12,"tau":3,"contender":"encoding-json","seconds":1.25,"samples":{` + samples + `},"evidence":{}},`
	src := `{"schema":"tare.result/1","study":"s","trials":[` + strings.Repeat(trial, 10_000) + "{}]}"
	if err := footprint.Check([]byte(src), reflect.TypeFor[tare.Result](), footprint.Most/10); err != nil {
		t.Errorf("%d bytes: %v", len(src), err)
	}
}

// spaces is a reader of spaces without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestRuns(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"a/20260301T120000Z-1/journal.ndjson": "{}", "a/20260301T120000Z-1/result.json": "{}",
		"a/20260303T120000Z-1/journal.ndjson": "{}",
		"a/20260304T120000Z-1/input-1.ndjson": "{}",
		"a/notes.txt":                         "mine",
		"b/20260302T120000Z-9/result.json":    "{}",
		"b/20260302T120000Z-9-2/result.json":  "{}",
		"b/by-hand/result.json":               "{}",
		"stray.json":                          "{}",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Runs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		name := r.Study + "/" + filepath.Base(r.Dir)
		if !r.Whole {
			name += " unfinished"
		}
		got = append(got, name)
	}
	want := []string{"a/20260303T120000Z-1 unfinished", "b/20260302T120000Z-9-2", "b/20260302T120000Z-9", "a/20260301T120000Z-1", "b/by-hand"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !runs[0].Begun.Equal(time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)) || !runs[4].Begun.IsZero() {
		t.Errorf("begun %v and %v", runs[0].Begun, runs[4].Begun)
	}
	if runs, err := Runs(filepath.Join(dir, "nowhere")); err != nil || len(runs) != 0 {
		t.Errorf("no directory: %v, %v", runs, err)
	}
	if runs, err := RunsOf(filepath.Join(dir, "stray.json")); err != nil || len(runs) != 0 {
		t.Errorf("a file: %v, %v", runs, err)
	}
}

// FuzzParse: for any file Parse either returns results that every format can print, or an error in
// one line with a position inside the file.
func FuzzParse(f *testing.F) {
	doc := document(f, sample())
	f.Add(doc)
	f.Add(append(append([]byte("["), doc...), ']'))
	for _, s := range []string{"", "null", "[", `{"schema":"tare.result/1","study":"s","metrics":["x"],"workloads":[{}],"contenders":[{}],"trials":[{"samples":{"":{"time_ns_per_op":1e308}}}]}`,
		`{"schema":"tare.result/1","study":"|","claims":[{"outcome":"holds","why":"\n"}],"comparisons":[{"ratio":-1,"low":1e300}]}`, `[{"schema":"tare.result/2"}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		results, err := Parse("f.json", src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%T: %q", err, err)
			}
			lines := bytes.Split(src, []byte("\n"))
			if e.Line > len(lines) || e.Line > 0 && (e.Col < 1 || e.Col > len(lines[e.Line-1])+1) {
				t.Fatalf("%d:%d in %q", e.Line, e.Col, src)
			}
			return
		}
		for _, r := range results {
			for _, format := range report.Formats() {
				if err := format.Write(io.Discard, r, report.Style{}); err != nil {
					var limit *json.UnsupportedValueError
					if !errors.As(err, &limit) {
						t.Fatalf("%s: %v", format.Name, err)
					}
				}
			}
		}
	})
}
