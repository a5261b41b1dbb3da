package build

import (
	"os"
	"path/filepath"
	"testing"
)

// What a leaf is built from decides its sum, and nothing else does.
func TestSum(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := (Leaf{Dir: dir}).Sum()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	first := put("main.go", "package main")
	if put("main_test.go", "package main") != first || put("notes.txt", "x") != first || put("main.go", "package main") != first {
		t.Error("what it is not built from changes its sum")
	}
	if put("go.mod", "module x") == first || put("main.go", "package main // other") == put("main.go", "package main") {
		t.Error("what it is built from does not change its sum")
	}
	if _, err := (Leaf{Dir: filepath.Join(dir, "none")}).Sum(); err == nil {
		t.Error("a directory that is not there has a sum")
	}
}
