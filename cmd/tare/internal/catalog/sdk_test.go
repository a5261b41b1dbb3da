package catalog

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestSDKVersion(t *testing.T) {
	other := &debug.Module{Path: "github.com/a/b", Version: "v9.0.0", Sum: "h1:x"}
	for _, c := range []struct {
		name, want string
		published  bool
		info       *debug.BuildInfo
	}{
		{"installed", "v0.4.0", true, &debug.BuildInfo{Deps: []*debug.Module{other, {Path: modulePath, Version: "v0.4.0", Sum: "h1:y"}}}},
		{"from the repository", unpublished, false, &debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "v0.0.0", Replace: &debug.Module{Path: "../.."}}, other}}},
		{"from its workspace", unpublished, false, &debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "(devel)"}}}},
		{"without build info", unpublished, false, nil},
	} {
		if got, published := findVersion(c.info); got != c.want || published != c.published {
			t.Errorf("%s: %s %v, want %s %v", c.name, got, published, c.want, c.published)
		}
	}
}

func TestSDK(t *testing.T) {
	root := small(t)
	c, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	carryArchive(t)
	cache := t.TempDir()
	if dir, err := SDK(c, cache); err != nil || dir != root {
		t.Errorf("of a repository: %s %v", dir, err)
	}
	for _, c := range []Catalog{{}, {Dir: t.TempDir()}} {
		dir, err := SDK(c, cache)
		if err != nil || dir != Unpacked(cache) {
			t.Errorf("of %q: %s %v", c.Dir, dir, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "contender", "codec")); err != nil {
			t.Error(err)
		}
	}
}
