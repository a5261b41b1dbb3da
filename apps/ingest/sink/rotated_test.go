package sink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// A file that was given up, and could not be cut back, is when it is opened again.
func TestTornFileIsSettled(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "e")
	for name, text := range map[string]string{
		"e": "four\n", "e.1": "one\n", "e.2.torn@4": "two\nlost\nlo", "e.20010909T014640Z.3.torn@6": "three\n",
		"e.bak.9": "theirs", "e.9.torn@x": "theirs", "e.0": "theirs", "e.-7": "theirs", "ee.8": "theirs",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := mustOpen(t, p, Options{Fsync: true, Rotate: 5})
	mustKeep(t, f, "five\n")
	want := map[string]string{
		"e": "five\n", "e.1": "one\n", "e.2": "two\n", "e.20010909T014640Z.3": "three\n", "e.4": "four\n", "e.lock": "",
		"e.bak.9": "theirs", "e.9.torn@x": "theirs", "e.0": "theirs", "e.-7": "theirs", "ee.8": "theirs",
	}
	if got := read(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %q\nwant %q", got, want)
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func TestRotationUnderLoad(t *testing.T) {
	const callers, batches, rotate = 8, 100, 4000
	dir := t.TempDir()
	now := func() time.Time { return time.Unix(1e9, 0) }
	f := mustOpen(t, filepath.Join(dir, "e"), Options{Rotate: rotate, Now: now})
	var wg sync.WaitGroup
	for c := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range batches {
				if err := f.Keep(context.Background(), fmt.Appendf(nil, "%d-%d-a\n%d-%d-b\n", c, i, c, i), 2); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	seen := map[string]int{}
	sizes := 0
	for name, text := range read(t, dir) {
		if len(text) > rotate || name != "e" && name != "e.lock" && !strings.HasPrefix(name, "e.20010909T014640Z.") {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		sizes += len(text)
		for line := range strings.Lines(text) {
			seen[line]++
		}
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%q is there %d times", line, n)
		}
	}
	if len(seen) != callers*batches*2 {
		t.Errorf("%d lines, want %d", len(seen), callers*batches*2)
	}
	if got := int(f.Stats().Rotations); got < sizes/rotate-1 {
		t.Errorf("%d rotations for %d bytes", got, sizes)
	}
}

// Lines matter more than how long the file becomes.
func TestFileThatCannotBePutAwayIsWrittenOn(t *testing.T) {
	d := atomicfiletest.NewDisk(1)
	f := mustOpen(t, path, Options{Rotate: 8, Fsync: true, files: noRename{d}})
	for _, line := range []string{"one\n", "two\n", "three\n", "four\n"} {
		mustKeep(t, f, line)
	}
	wantContent(t, d, map[string]string{"events.ndjson": "one\ntwo\nthree\nfour\n"})
	if s := f.Stats(); s.Failures != 2 || s.Rotations != 0 {
		t.Errorf("%+v", s)
	}
}

type noRename struct{ *atomicfiletest.Disk }

func (noRename) RenameNew(string, string) error { return atomicfiletest.ErrIO }

// A batch that is longer than a file may be has one for itself, and numbers
// that are taken are passed over.
func TestRotationOfLongBatches(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "e")
	f := mustOpen(t, p, Options{Rotate: 4})
	mustKeep(t, f, "long enough\n")
	if err := os.WriteFile(p+".1", []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustKeep(t, f, "a\n")
	mustKeep(t, f, "b\n")
	mustKeep(t, f, "c\n")
	want := map[string]string{"e": "c\n", "e.1": "theirs", "e.2": "long enough\n", "e.3": "a\nb\n", "e.lock": ""}
	if got := read(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %q\nwant %q", got, want)
	}
}

func TestOpenCutsOffWhatIsNoLine(t *testing.T) {
	p := filepath.Join(t.TempDir(), "e")
	for _, c := range []struct {
		text string
		kept string
	}{
		{"", ""},
		{"one\ntwo\n", "one\ntwo\n"},
		{"one\ntwo", "one\n"},
		{"one", ""},
		{"one\ntw\x00\nthree\n", "one\n"},
		{"\x00\x00\x00", ""},
		{strings.Repeat("x", 3*blockSize) + "\n" + strings.Repeat("y", 2*blockSize), strings.Repeat("x", 3*blockSize) + "\n"},
		{strings.Repeat("x\n", blockSize) + "\x00" + strings.Repeat("y\n", blockSize), strings.Repeat("x\n", blockSize)},
	} {
		if err := os.WriteFile(p, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, cut, err := Open(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustKeep(t, f, "next\n")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		got, err := os.ReadFile(p)
		if want := c.kept + "next\n"; err != nil || string(got) != want || cut != int64(len(c.text)-len(c.kept)) {
			t.Errorf("%.20q: %d bytes (%d cut, %v), want %d", c.text, len(got), cut, err, len(want))
		}
	}
}
