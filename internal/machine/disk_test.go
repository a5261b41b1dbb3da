package machine

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestFreeDisk(t *testing.T) {
	dir := t.TempDir()
	n, known := FreeDisk(dir)
	if known != (runtime.GOOS == "linux" || runtime.GOOS == "darwin") || known && (n <= 0 || n > 1<<60) {
		t.Errorf("free: %d, known: %v", n, known)
	}
	if _, known := FreeDisk(filepath.Join(dir, "none")); known {
		t.Error("the free space of a directory that does not exist is known")
	}
}
