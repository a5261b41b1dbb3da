package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "page.txt")
	if err := compare(path, []byte("one\ntwo\n"), false); err == nil || !strings.Contains(err.Error(), "no golden file") {
		t.Fatalf("a missing file: got %v", err)
	}
	if err := compare(path, []byte("one\ntwo\n"), true); err != nil {
		t.Fatalf("rewriting: %v", err)
	}
	if err := compare(path, []byte("one\ntwo\n"), false); err != nil {
		t.Fatalf("the same text: %v", err)
	}
	for got, says := range map[string]string{
		"one\n2\n":          "line 2 differs",
		"one\ntwo\nthree\n": "line 3 differs",
		"one\n":             "line 2 differs",
		"":                  "line 1 differs",
	} {
		if err := compare(path, []byte(got), false); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want %q", got, err, says)
		}
	}
	if err := os.WriteFile(path, []byte("one\r\ntwo\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := compare(path, []byte("one\ntwo\n"), false); err != nil {
		t.Errorf("line ends of another system: %v", err)
	}
}
