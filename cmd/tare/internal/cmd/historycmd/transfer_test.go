package historycmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/report"
)

// repeated is a text again and again, and how much of it was read.
type repeated struct {
	text string
	read int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r.text[(r.read+n)%len(r.text):])
	}
	r.read += n
	return n, nil
}

// A stream without an end does not fill the disk, whatever it consists of.
func TestStreamsAreBounded(t *testing.T) {
	var doc bytes.Buffer
	if err := report.JSON(&doc, &tare.Result{Schema: tare.ResultSchema, Study: "s"}); err != nil {
		t.Fatal(err)
	}
	const mostElse, most = 1 << 20, 2 << 20
	for name, tt := range map[string]struct {
		text, want string
		copied     int64 // at most
	}{
		"zeros":     {"\x00", "", mostElse + 1},
		"lines":     {"y\n", "", mostElse + 1},
		"documents": {doc.String(), "x is larger than 2 MiB; save it to a file and import that", most + 1<<16},
		"no result": {"{}\n", `x:1:1: no result: it has no "schema"`, 1 << 16},
		"no JSON":   {"{\n", "x:2:1: no result document: not JSON", 1 << 16},
	} {
		tmp, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer tmp.Close()
		err = copyStream(t.Context(), "x", &repeated{text: tt.text}, tmp, mostElse, most)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want) || cmdenv.ExitCode(err) != cmdenv.ExitUsage) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if info, err := tmp.Stat(); err != nil || info.Size() > tt.copied {
			t.Errorf("%s: %d bytes were copied, %v", name, info.Size(), err)
		}
	}
}

// What can be read only once is imported as a file is.
func TestStreamsAreCopied(t *testing.T) {
	var doc bytes.Buffer
	if err := report.JSON(&doc, &tare.Result{Schema: tare.ResultSchema, Study: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "[" + doc.String() + "]\n\n", strings.Repeat(doc.String(), 50), "BenchmarkA 1 5 ns/op\n", "hello"} {
		tmp, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer tmp.Close()
		if err := copyStream(t.Context(), "x", strings.NewReader(text), tmp, 1<<20, 1<<20); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
		if got, err := os.ReadFile(tmp.Name()); err != nil || string(got) != text {
			t.Errorf("%.40q: %d of %d bytes, %v", text, len(got), len(text), err)
		}
	}
}

// A log beyond its bound is bad input, from a file too.
func TestLogIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(256<<20 + 1); err != nil {
		t.Fatal(err)
	}
	_, done, err := openArchives(t.Context(), cmdenv.Env{Now: time.Now}, []string{name})
	defer done()
	if want := name + " is larger than 256 MiB; "; cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Files of a branch are copied once each, and not without end.
func TestBranchIsBounded(t *testing.T) {
	asked := map[string]int{}
	content := func(to io.Writer, hash string) (int64, error) {
		asked[hash]++
		n, err := to.Write(bytes.Repeat([]byte(hash), 1<<19))
		return int64(n), err
	}
	files := map[string]string{"s/a.json": "a", "s/b.json": "a", "t/a.json": "a", "s/c.json": "b", "README": "c"}
	var to bytes.Buffer
	if err := copyResults(&to, "b of r", files, content, 1<<20); err != nil || to.Len() != 1<<20+2 || len(asked) != 2 || asked["a"] != 1 {
		t.Errorf("%d bytes, %v, %v", to.Len(), asked, err)
	}
	to.Reset()
	files["s/d.json"] = "d"
	err := copyResults(&to, "b of r", files, content, 1<<20)
	if want := "what b of r holds is larger than 1 MiB; "; cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), want) || to.Len() > 3<<19+2 {
		t.Errorf("%d bytes, %v, want %q", to.Len(), err, want)
	}
	broken := errors.New("broken")
	if err := copyResults(io.Discard, "b of r", files, func(io.Writer, string) (int64, error) { return 0, broken }, 1<<20); !errors.Is(err, broken) {
		t.Error(err)
	}
}
