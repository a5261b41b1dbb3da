// Package golden compares output with a file under testdata that a person has read and approved.
// `go test -update` rewrites the files of the package under test. Read the difference before you commit
// it.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// update cannot be a parameter, because the test binary parses flags before any test runs.
var update = flag.Bool("update", false, "rewrite the golden files under testdata") //nolint:gochecknoglobals // go test parses flags before tests run

// Updating reports whether the test rewrites the files of its package.
func Updating() bool { return *update }

// Check fails the test if got differs from testdata/name. With -update it writes got there.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	if err := compare(filepath.Join("testdata", filepath.FromSlash(name)), got, *update); err != nil {
		t.Errorf("%v; if the new output is right, run go test with -update and read the difference", err)
	}
}

// compare returns an error if got differs from the file at path. If rewrite is set it writes got there.
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
	// Git may have converted the line ends of the file.
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if bytes.Equal(got, want) {
		return nil
	}
	line, inFile, inGot := firstDifference(want, got)
	return fmt.Errorf("%s, line %d differs\n  file: %q\n  now:  %q", filepath.ToSlash(path), line, inFile, inGot)
}

// firstDifference returns the number, from 1, of the first line in which a and b differ, and this line of
// each text. A line is nil if its text has fewer lines.
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
