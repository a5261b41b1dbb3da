// Package golden compares output with a file that a person has read and
// agreed to. `go test -update` rewrites the files of the package under test;
// read the difference before committing it.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The flag belongs to the test binary, which parses flags before any test
// runs, so it cannot be a parameter.
var update = flag.Bool("update", false, "rewrite the golden files under testdata") //nolint:gochecknoglobals // go test parses flags before tests run

// Updating reports whether the files of the package under test are written anew.
func Updating() bool { return *update }

// Check compares got with testdata/name.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	if err := compare(filepath.Join("testdata", filepath.FromSlash(name)), got, *update); err != nil {
		t.Errorf("%v; if the new output is right, run go test with -update and read the difference", err)
	}
}

// compare reports how got differs from the file at path, or writes it there.
func compare(path string, got []byte, rewrite bool) error {
	if rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, got, 0o644)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("no golden file: %w", err)
	}
	// A checkout may have turned line ends into those of its system.
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if bytes.Equal(got, want) {
		return nil
	}
	line, was, is := firstDifference(want, got)
	return fmt.Errorf("%s, line %d differs\n  file: %q\n  now:  %q", filepath.ToSlash(path), line, was, is)
}

// firstDifference returns the first line (from 1) in which a and b differ,
// and that line of each; a text that has ended is shown as empty.
func firstDifference(a, b []byte) (line int, inA, inB []byte) {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := 0; i < len(as) || i < len(bs); i++ {
		inA, inB = nil, nil
		if i < len(as) {
			inA = as[i]
		}
		if i < len(bs) {
			inB = bs[i]
		}
		if !bytes.Equal(inA, inB) || i >= len(as) || i >= len(bs) {
			return i + 1, inA, inB
		}
	}
	return 0, nil, nil
}
