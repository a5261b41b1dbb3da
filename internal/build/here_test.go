package build

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A release is installed if it is the machine's own, or was downloaded before.
func TestReleasesThatAreHere(t *testing.T) {
	cache := t.TempDir()
	b := &Builder{}
	b.tool = toolchain{path: "go", env: map[string]string{"GOVERSION": "go1.26.8", "GOMODCACHE": cache}}
	fetched := filepath.Join(cache, "golang.org", fmt.Sprintf("toolchain@v0.0.1-go1.27.2.%s-%s", runtime.GOOS, runtime.GOARCH))
	if err := os.MkdirAll(fetched, 0o755); err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string]bool{"go1.26.8": true, "go1.27.2": true, "go1.25.5": false} {
		if got := b.IsInstalled(t.Context(), release); got != want {
			t.Errorf("%s is here: %v, want %v", release, got, want)
		}
	}
}
