package cmdenv

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]int{99: 100, 100: 100, 1000: 100, 10: 11} {
		if src, err := ReadFile(path, most); err != nil || len(src) != want {
			t.Errorf("at most %d: %d bytes, %v", most, len(src), err)
		}
	}
	if runtime.GOOS != "windows" {
		if src, err := ReadFile("/dev/zero", 1000); err != nil || len(src) != 1001 {
			t.Errorf("a file without an end: %d bytes, %v", len(src), err)
		}
	}
	if src, err := ReadAtMost(strings.NewReader("12345"), 5); err != nil || string(src) != "12345" {
		t.Errorf("%q, %v", src, err)
	}
	if _, err := ReadAtMost(strings.NewReader("123456"), 5); err == nil || err.Error() != "more than 5 bytes" {
		t.Errorf("too much: %v", err)
	}
	if _, err := ReadFile(filepath.Join(path, "none"), 1); err == nil {
		t.Error("no file was read")
	}
}
