package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// in runs tare in a directory.
func (b bench) in(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := b.command(args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// large is an array of so many bytes, about, of objects with so much text each:
// the less, the longer codecs take for it.
func large(size, text int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id":%d,"name":%q,"price":%d.25,"tags":["a","b"],"seen":{"by":null,"ok":true}}`, i, strings.Repeat("x", text), i%1000)
	}
	return b.String() + "]"
}

// TestCodecInAnotherLanguage has the real program measure a codec that a study starts by
// its command, and refuse commands that it would not.
func TestCodecInAnotherLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("measures a codec in Python")
	}
	if out, err := exec.Command("python3", "--version").CombinedOutput(); err != nil {
		t.Skipf("no python3 that runs: %v %s", err, out)
	}
	t.Parallel()
	program, err := filepath.Abs("../../../../contender/contendertest/testdata/python/codec.py")
	if err != nil {
		t.Fatal(err)
	}
	b, dir := newBench(t), t.TempDir()
	write := func(name, contender string) {
		text := fmt.Sprintf("study: %s\nkind: codec\nbaseline: encoding-json\ncontenders: [encoding-json, %s]\nmetrics: [time, cpu]\n"+
			"workloads: [{id: devices-5/marshal, fixture: devices, n: 5, op: marshal}, {id: devices-5/any, fixture: devices, n: 5, op: any}]\n", name, contender)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("python", fmt.Sprintf("{id: python, command: [python3, %q]}", program))
	out, errs, code := b.in(t, dir, "run", "python.yaml", "--rounds", "2", "--json", "--no-lock")
	var r tare.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("%v, exit code %d: %s", err, code, errs)
	}
	measured := map[string]bool{}
	for _, c := range r.Comparisons {
		if c.Contender == "python" && c.Metric == "time" && c.Value > 0 {
			measured[c.Workload] = true
		}
	}
	for _, f := range r.Findings {
		if f.Contender == "python" && f.Severity == tare.Void {
			t.Errorf("%s: %s", f.Check, f.Message)
		}
	}
	if len(measured) != 2 {
		t.Errorf("measured %v: %+v", measured, r.Comparisons)
	}
	for name, c := range map[string][2]string{
		"port": {`{id: x, command: [python3, codec.py, $PORT]}`, `use of $PORT, path, files or delivers by contender "x": the command of a codec speaks the contender protocol`},
		"path": {`{id: x, command: [python3, codec.py], path: /x}`, `use of $PORT, path, files or delivers by contender "x"`},
		"url":  {`{id: x, url: "http://127.0.0.1:1"}`, `way to run contender "x": a codec is a program or a command, not a url`},
	} {
		write(name, c[0])
		if _, errs, code := b.in(t, dir, "run", name+".yaml", "--rounds", "1", "--no-lock"); code != 2 || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
}

// TestDocumentsOfAllSorts has the real program measure documents of all sorts in a
// directory of their own. With TARE_SOAK=1 all codecs of the catalog are, in the
// inferred type as well.
func TestDocumentsOfAllSorts(t *testing.T) {
	if testing.Short() {
		t.Skip("measures codecs on four documents")
	}
	t.Parallel()
	b := newBench(t)
	soak := os.Getenv("TARE_SOAK") == "1"
	text := 50_000
	if soak {
		text = 8
	}
	for _, tt := range []struct {
		name, file, text string
		typed            bool // without soak too
	}{
		{"5 MB", "large.json", large(5<<20, text), false},
		{"NDJSON", "lines.ndjson", "\xef\xbb\xbf{\"a\":1,\"b\":\"é\"}\r\n\n{\"a\":2.5}\r\n", false},
		{"40 deep", "deep.json", strings.Repeat(`{"a":[`, 20) + `7` + strings.Repeat(`]}`, 20), false},
		{"mixed types", "mixed.ndjson", "{\"v\":1,\"V\":\"x\",\"3d\":null}\n{\"v\":\"s\",\"V\":{\"w\":[]}}\n{\"v\":[1,null],\"V\":false,\"3d\":[{}]}\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"json", tt.file, "--rounds", "1", "--json", "--quiet", "--no-lock"}
			works := []string{"any/decode", "any/encode"}
			switch {
			case soak || tt.typed:
				works = append(works, "typed/decode", "typed/encode")
			default:
				args = append(args, "--op", "any")
			}
			if !soak {
				args = append(args, "--only", "goccy")
			}
			stdout, stderr, code := b.in(t, dir, args...)
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			published(t, stdout)
			var r tare.Result
			if err := json.Unmarshal([]byte(stdout), &r); err != nil {
				t.Fatal(err)
			}
			for _, id := range works {
				for _, who := range []string{"encoding-json", "goccy"} {
					if !slices.ContainsFunc(r.Values, func(v tare.Value) bool {
						return v.Workload == id && v.Contender == who && v.Metric == "time" && v.Value > 0
					}) {
						t.Errorf("%s was not measured on %s", who, id)
					}
				}
			}
			for _, f := range r.Findings { // what a busy machine does to one round is none of the documents'
				if slices.Contains([]string{"build", "trial", "wrong-answer", "error-in-loop", "negative-probe"}, f.Check) && (f.Contender == "encoding-json" || f.Contender == "goccy") {
					t.Errorf("%+v", f)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("beside the document there is %v, %v", left, err)
			}
		})
	}
	b.nothingLeft(t, "after the documents")
}

// TestUntimedOperations: a budget that has no time to measure encoding leaves its answers to be asked
// for all the same: segmentio encodes a time.Duration as a text.
func TestUntimedOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("builds codecs for a type")
	}
	t.Parallel()
	b, dir := newBench(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/wait")); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := b.in(t, dir, "json", "wait.ndjson", "--type", "./.T", "--only", "segmentio", "--budget", "5s", "--json", "--quiet", "--no-lock")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == "any/encode" }) {
		t.Errorf("five seconds leave time for all operations: %+v", r.Workloads)
	}
	for _, s := range r.Semantics {
		if s.Cases != 8 {
			t.Errorf("%s was asked for %d cases, want two documents in four operations", s.Contender, s.Cases)
		}
		told := slices.ContainsFunc(s.Differences, func(d tare.Difference) bool {
			return d.Case == "typed/encode wait.ndjson:1" && d.Reference == "1500" && d.Got == `"1.5µs"` && d.Class == tare.DiffersInValue
		})
		if told != (s.Contender == "segmentio") {
			t.Errorf("%s: %+v", s.Contender, s.Differences)
		}
	}
	if f := r.Findings; !slices.ContainsFunc(f, func(f tare.Finding) bool {
		return f.Check == "semantic-diff" && f.Contender == "segmentio" && strings.Contains(f.Message, `encodes $.wait: 1500 as "1.5µs"`)
	}) {
		t.Errorf("no finding names segmentio: %+v", f)
	}
}

// TestDocumentsThatAreNone: what cannot be measured is one line with the place
// and what would be right.
func TestDocumentsThatAreNone(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	for _, tt := range []struct {
		file string
		text []byte // nil: a directory
		want string
	}{
		{"empty.json", []byte{}, "empty.json:1:1: there is no JSON in it; a document, or one on each line"},
		{"blank.ndjson", []byte("\n \r\n"), "blank.ndjson:1:1: there is no JSON in it; a document, or one on each line"},
		{"invalid.json", []byte("{\n  \"a\": [1, 2,]\n}"), "invalid.json:2:14: not JSON: invalid character ']' looking for beginning of value; no comma before a closing bracket"},
		{"cut.ndjson", []byte("{\"a\":1}\n{\"a\":"), "cut.ndjson:2:6: the JSON ends too early; the last line is cut off: leave it out, e.g. by sed '$d'"},
		{"latin1.json", []byte("{\n \"name\": \"caf\xe9\"}"), "latin1.json:2:14: byte 0xe9 (at offset 15) is not UTF-8, which JSON is; convert the file, e.g. iconv -f ISO-8859-1 -t UTF-8"},
		{"deep.json", []byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), "deep.json:1:1001: nested more than 1000 deep; codecs reject such documents or take minutes for one, so they are not measured"},
		{"packed.json.gz", []byte("\x1f\x8b\x08\x00\x00"), "cannot read packed.json.gz: the file is damaged or cut off (gzip: unexpected EOF); name a file of JSON or NDJSON, or - for stdin"},
		{"number.json", []byte("[1,\n1e400]"), "number.json:2:1: 1e400 is larger than any float64, which no codec can read into a number; write it as a string"},
		{"directory", nil, "cannot read directory: is a directory; name a file of JSON or NDJSON, or - for stdin"},
	} {
		path := filepath.Join(dir, tt.file)
		err := os.Mkdir(path, 0o700)
		if tt.text != nil {
			os.Remove(path)
			err = os.WriteFile(path, tt.text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := b.in(t, dir, "json", tt.file)
		if code != 2 || stdout != "" || stderr != "tare: "+tt.want+"\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q\nwant 2 and %s", tt.file, code, stdout, stderr, tt.want)
		}
	}
}

// TestReleases has the real program build encoding/json in both implementations with the installed
// toolchain. The answers to documents are equal, as the release notes of Go 1.27 promise; texts of errors
// are not, as they announce.
func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds encoding/json with an experiment")
	}
	release := runtime.Version()
	if !version.IsValid(release) {
		t.Skipf("%s is not a release that can be named", release)
	}
	t.Parallel()
	former, latter := release, release+"+jsonv2"
	if version.Compare(release, "go1.27") >= 0 {
		former, latter = release+"+nojsonv2", release
	}
	b, dir := newBench(t), t.TempDir()
	const doc = `{"id":7,"name":"é","tags":["a","b"],"price":1.5,"ok":true,"by":{"n":null}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "x.ndjson"), []byte(doc+doc), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := b.in(t, dir, "json", "x.ndjson", "--go", former+","+latter, "--rounds", "1", "--json", "--quiet", "--no-lock")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r tare.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	for id, experiment := range map[string]string{former: "nojsonv2", latter: "jsonv2"} {
		c, ok := r.Contender(id)
		if goVersion, _, isNamed := strings.Cut(id, "+"); !ok || !strings.HasPrefix(c.Go, goVersion) || isNamed != strings.HasSuffix(c.Go, "X:"+experiment) {
			t.Errorf("%s was built by %q", id, c.Go)
		}
	}
	texts := 0
	for _, s := range r.Semantics {
		for _, d := range s.Differences {
			switch {
			case s.Contender == former:
				t.Errorf("the baseline differs from itself: %+v", d)
			case strings.Contains(d.Case, "code x.ndjson"):
				t.Errorf("a document has another value: %+v", d)
			case d.Property == "texts of errors":
				texts++
			}
		}
	}
	if texts == 0 {
		t.Errorf("no error has another text: %+v", r.Semantics)
	}
	for args, want := range map[string]string{
		"go1.26":                              "is one release, which there is nothing to compare with",
		former + "," + release + "+nosuchone": "--go " + release + "+nosuchone: ",
	} {
		if _, stderr, code := b.in(t, dir, "json", "x.ndjson", "--op", "any", "--go", args, "--quiet", "--no-lock"); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("--go %s: exit code %d: %s", args, code, stderr)
		}
	}
}
