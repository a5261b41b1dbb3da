package build

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDirFollowsTheSources(t *testing.T) {
	leaf := tinyLeaf(t, `{"id": "tiny", "kind": "codec", "why": "a test", "modules": []}`, tinyMain)
	b := &Builder{Cache: t.TempDir()}
	dir := func() string {
		t.Helper()
		got, err := b.Dir(t.Context(), leaf)
		if err != nil || filepath.Dir(got) != filepath.Join(b.Cache, "bin") {
			t.Fatalf("%s, %v", got, err)
		}
		return got
	}
	before := dir()
	if again := dir(); again != before {
		t.Errorf("%s, then %s", before, again)
	}
	if err := os.WriteFile(filepath.Join(leaf.Dir, "more.go"), []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := dir(); after == before {
		t.Error("another source, the same directory")
	}
	if entries, err := os.ReadDir(b.Cache); err != nil || len(entries) > 0 {
		t.Errorf("asking left %v in the cache, %v", entries, err)
	}
}
