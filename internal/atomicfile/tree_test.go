package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// sealed is a directory with some files, sealed.
func sealed(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	for name, text := range map[string]string{"go.mod": "module x\n", "a/b.go": "package a\n", "a/empty": ""} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if atomicfile.Sealed(dir) {
		t.Fatal("sealed without a sum")
	}
	if err := atomicfile.Seal(atomicfile.System{}, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whatever is lost, added or changed in a sealed directory shows.
func TestSealed(t *testing.T) {
	if dir := sealed(t); !atomicfile.Sealed(dir) {
		t.Error("not sealed")
	}
	for what, damage := range map[string]func(at func(string) string) error{
		"a file is empty":   func(at func(string) string) error { return os.Truncate(at("a/b.go"), 0) },
		"a file is changed": func(at func(string) string) error { return os.WriteFile(at("go.mod"), []byte("module y\n"), 0o644) },
		"a file is missing": func(at func(string) string) error { return os.Remove(at("a/empty")) },
		"a file is renamed": func(at func(string) string) error { return os.Rename(at("a/b.go"), at("a/c.go")) },
		"a file is added":   func(at func(string) string) error { return os.WriteFile(at("a/c.go"), nil, 0o644) },
		"a part is missing": func(at func(string) string) error { return os.RemoveAll(at("a")) },
		"the sum is empty":  func(at func(string) string) error { return os.Truncate(at(".tare-sum"), 0) },
		"no sum":            func(at func(string) string) error { return os.Remove(at(".tare-sum")) },
		"nothing is there":  func(at func(string) string) error { return os.RemoveAll(at("")) },
	} {
		dir := sealed(t)
		if err := damage(func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }); err != nil {
			t.Fatal(err)
		}
		if atomicfile.Sealed(dir) {
			t.Errorf("%s, and the directory counts as sealed", what)
		}
	}
}

func TestNoFaultTearsASeal(t *testing.T) {
	atomicfiletest.SweepNew(t, func(d atomicfile.Disk, dir string) (string, error) {
		return filepath.Join(dir, ".tare-sum"), atomicfile.Seal(d, dir)
	})
}

// What is damaged gives way to what is made; what is right stays.
func TestPlace(t *testing.T) {
	for what, c := range map[string]struct {
		there   func(dir string) error
		replace bool
	}{
		"nothing":           {os.RemoveAll, true},
		"an empty one":      {func(dir string) error { return os.Remove(filepath.Join(dir, ".tare-sum")) }, true},
		"one with a change": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o644) }, true},
		"a right one":       {func(string) error { return nil }, false},
	} {
		done, dir := sealed(t), sealed(t)
		if err := c.there(dir); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Place(done, dir, atomicfile.Sealed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(done); !atomicfile.Sealed(dir) || os.IsNotExist(err) != c.replace {
			t.Errorf("%s: sealed %v, what was made is left: %v", what, atomicfile.Sealed(dir), err)
		}
	}
	if err := atomicfile.Place(sealed(t), filepath.Join(t.TempDir(), "no", "such"), atomicfile.Sealed); err == nil {
		t.Error("placed where nothing can be")
	}
}
