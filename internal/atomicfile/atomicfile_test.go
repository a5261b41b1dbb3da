package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

func TestNoFaultTearsAFile(t *testing.T) {
	texts := map[bool][]byte{true: bytes.Repeat([]byte("new "), 100), false: []byte("old")}
	atomicfiletest.Sweep(t, func(d atomicfile.Disk, dir string, fresh bool) (string, error) {
		path := filepath.Join(dir, "f")
		return path, atomicfile.Write(d, path, texts[fresh], 0o644)
	})
}

func TestNoFaultTearsANewFile(t *testing.T) {
	atomicfiletest.SweepNew(t, func(d atomicfile.Disk, dir string) (string, error) {
		path := filepath.Join(dir, "f")
		return path, atomicfile.WriteNew(d, path, []byte("the first"), 0o600)
	})
}

// unlinked is a file system without links.
type unlinked struct{ atomicfile.System }

func (unlinked) Link(_, _ string) error { return errors.ErrUnsupported }

func TestWhatWasThereFirstStays(t *testing.T) {
	for _, d := range []atomicfile.Disk{atomicfile.System{}, unlinked{}} {
		path := filepath.Join(t.TempDir(), "f")
		if err := atomicfile.WriteNew(d, path, []byte("first"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.WriteNew(d, path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("written again: %v", err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
			t.Errorf("%q, %v", text, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

func TestReadFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if src, err := atomicfile.ReadFile(path, 5); err != nil || string(src) != "12345" {
		t.Errorf("%q, %v", src, err)
	}
	for path, most := range map[string]int64{path: 4, dir: 1 << 20} {
		want := fmt.Sprintf("%s: not a file of at most %d bytes", path, most)
		if src, err := atomicfile.ReadFile(path, most); err == nil || err.Error() != want {
			t.Errorf("%q, %v, want %q", src, err, want)
		}
	}
	if _, err := atomicfile.ReadFile(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestReadStartIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]int{99: 100, 100: 100, 1000: 100, 10: 11} {
		if src, err := atomicfile.ReadStart(path, most); err != nil || len(src) != want {
			t.Errorf("at most %d: %d bytes, %v", most, len(src), err)
		}
	}
	if runtime.GOOS != "windows" {
		if src, err := atomicfile.ReadStart("/dev/zero", 1000); err != nil || len(src) != 1001 {
			t.Errorf("a file without an end: %d bytes, %v", len(src), err)
		}
	}
	if _, err := atomicfile.ReadStart(filepath.Join(path, "none"), 1); err == nil {
		t.Error("no file was read")
	}
}

func TestDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := atomicfile.Create(atomicfile.System{}, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := atomicfile.Write(atomicfile.System{}, path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := atomicfile.Write(atomicfile.System{}, filepath.Join(path, "under a file"), nil, 0o600); err == nil {
		t.Error("written where nothing can be")
	}
}

// What MakeDir says of a disk that fails is in the command's TestMakeDirOnDeadDisk.
func TestMakeDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := atomicfile.MakeDir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.MakeDir(filepath.Join(file, "c"), 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("below a file: %v", err)
	}
}

// syncs notes the directories that are synced.
type syncs struct {
	atomicfile.System
	dirs []string
	err  error
}

func (s *syncs) SyncDir(dir string) error {
	s.dirs = append(s.dirs, dir)
	return s.err
}

// The name of each directory that is made is on stable storage, and not that of one
// that was there.
func TestMakeDirSyncs(t *testing.T) {
	there := t.TempDir()
	dir := filepath.Join(there, "a", "b", "c")
	d := &syncs{}
	for range 2 {
		if err := atomicfile.MakeDirOn(d, dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{filepath.Join(there, "a", "b"), filepath.Join(there, "a"), there}; !slices.Equal(d.dirs, want) {
		t.Errorf("synced %q, want %q", d.dirs, want)
	}
	broken := errors.New("input/output error")
	if err := atomicfile.MakeDirOn(&syncs{err: broken}, filepath.Join(dir, "d"), 0o700); !errors.Is(err, broken) {
		t.Errorf("where a sync fails: %v", err)
	}
}
