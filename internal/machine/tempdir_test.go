package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// A directory is listed until it is removed, and locked for as long as it is used.
func TestTempDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	for _, other := range []string{"tare-other", "x"} {
		if err := os.Mkdir(filepath.Join(os.TempDir(), other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x", filepath.Join(os.TempDir(), tempPrefix+"link")); err != nil {
		t.Log(err)
	}
	dir, remove, err := TempDir("test")
	if err != nil {
		t.Fatal(err)
	}
	if dirs, err := TempDirs(); err != nil || len(dirs) != 1 || dirs[0] != dir {
		t.Errorf("%q, %v; want %s", dirs, err, dir)
	}
	if _, ok := LockDir(dir); ok == CanLockDirs {
		t.Errorf("another process could lock it: %v", ok)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	remove()
	if dirs, err := TempDirs(); err != nil || len(dirs) != 0 {
		t.Errorf("removed: %q, %v", dirs, err)
	}
}

// A file lies in a directory of its own, which goes with it.
func TestTempFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	f, remove, err := TempFile("pull")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if dirs, err := TempDirs(); err != nil || len(dirs) != 1 || filepath.Dir(f.Name()) != dirs[0] {
		t.Errorf("%s in %q, %v", f.Name(), dirs, err)
	}
	remove()
	if dirs, err := TempDirs(); err != nil || len(dirs) != 0 {
		t.Errorf("removed: %q, %v", dirs, err)
	}
	if _, err := f.WriteString("x"); err == nil {
		t.Error("it is open")
	}
}
