package server

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An access log says who asked for what: it is for its owner.
func TestLogIsForItsOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions of Unix")
	}
	path := filepath.Join(t.TempDir(), "access.log")
	for range 2 {
		w, end, err := openLog(LogFile, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "a line\n"); err != nil {
			t.Fatal(err)
		}
		end()
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 14 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestOneLine: what a client sends cannot begin a line of the log.
func TestOneLine(t *testing.T) {
	var b strings.Builder
	w := OneLine(&b)
	for _, line := range []string{"GET|/a\n", "GET|/a\n2026-01-01|200|GET|/forged\r\x1b[2K\x7f\n", "no end"} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%q: %d, %v", line, n, err)
		}
	}
	const want = "GET|/a\nGET|/a\\x0a2026-01-01|200|GET|/forged\\x0d\\x1b[2K\\x7f\nno end\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
