package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestSystem(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(open func(string) (File, error), text string, at func(File) error) {
		t.Helper()
		f, err := open(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := at(f); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	var system System
	write(system.Open, "one", func(f File) error { _, err := f.Write([]byte("one")); return err })
	write(system.Open, "two", func(f File) error { _, err := f.Write([]byte("two")); return err })
	write(system.Overwrite, "T", func(f File) error { _, err := f.WriteAt([]byte("T"), 3); return err })
	write(system.Open, "cut", func(f File) error { return f.Truncate(5) })
	got, err := os.ReadFile(a)
	if err != nil || string(got) != "oneTw" {
		t.Errorf("%q %v", got, err)
	}
	if info, err := os.Stat(a); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	if _, err := system.Read(b); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(b, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := system.Rename(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("renamed over a file: %v", err)
	}
	if err := system.Rename(a, filepath.Join(b, "c")); runtime.GOOS == "linux" && !errors.As(err, new(*fs.PathError)) { // of looking
		t.Errorf("renamed where it cannot look: %v", err)
	}
	if names, err := system.List(dir); err != nil || len(names) != 2 {
		t.Errorf("%q %v", names, err)
	}
	if err := errors.Join(system.Remove(b), system.Rename(a, b), system.SyncDir(dir)); err != nil {
		t.Error(err)
	}
}
