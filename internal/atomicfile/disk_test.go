package atomicfile

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
	var system System
	write := func(flag int, text string, at func(Handle) error) {
		t.Helper()
		f, err := system.OpenFile(a, flag)
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
	write(Append, "one", func(f Handle) error { _, err := f.Write([]byte("one")); return err })
	write(Append, "two", func(f Handle) error { _, err := f.Write([]byte("two")); return err })
	write(Overwrite, "T", func(f Handle) error { _, err := f.WriteAt([]byte("T"), 3); return err })
	write(Append, "cut", func(f Handle) error { return f.Truncate(5) })
	got, err := os.ReadFile(a)
	if err != nil || string(got) != "oneTw" {
		t.Errorf("%q %v", got, err)
	}
	if info, err := os.Stat(a); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	if _, err := system.OpenFile(b, os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(b, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := system.RenameNew(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("renamed over a file: %v", err)
	}
	if err := system.RenameNew(a, filepath.Join(b, "c")); runtime.GOOS == "linux" && !errors.As(err, new(*fs.PathError)) { // of looking
		t.Errorf("renamed where it cannot look: %v", err)
	}
	if names, err := system.List(dir); err != nil || len(names) != 2 {
		t.Errorf("%q %v", names, err)
	}
	if err := errors.Join(system.Remove(b), system.RenameNew(a, b), system.SyncDir(dir)); err != nil {
		t.Error(err)
	}
}
