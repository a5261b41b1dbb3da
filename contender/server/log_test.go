package server

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
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
