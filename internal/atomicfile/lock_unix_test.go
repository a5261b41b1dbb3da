//go:build unix && !solaris && !aix

package atomicfile

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A closed lock is free although a child process that is being started still has the
// file open, for which a duplicate stands here.
func TestClosedLockIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := System{}.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	duplicate, err := syscall.Dup(int(lock.(fileLock).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(duplicate)
	if _, err := (System{}).Lock(path); err == nil {
		t.Fatal("a lock was given twice")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := System{}.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
