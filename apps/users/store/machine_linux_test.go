package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// freeze stops a process until the test ends.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // or it has ended
}

// smallDisk is a directory on a disk of its own, half full of ballast.
func smallDisk(t *testing.T) string {
	t.Helper()
	const size = "size=2m"
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, size); err != nil {
		t.Skipf("no small disk: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
