package counts

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Without a counter one line names the package to install; a Valgrind that does not run
// counts as missing; off says nothing.
func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("Valgrind is looked for on Linux only")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if c, why := FindCounter(t.Context(), Valgrind); c != nil || why != "instructions are not counted: valgrind: it is not installed; install the package "+packageNames {
		t.Errorf("none: %v, %q", c, why)
	}
	for _, choice := range []Choice{Off, ""} {
		if c, why := FindCounter(t.Context(), choice); c != nil || why != "" {
			t.Errorf("%q: %v, %q", choice, c, why)
		}
	}
	for script, want := range map[string]string{
		"#!/bin/sh\necho valgrind-3.21.0\n":         "",
		"#!/bin/sh\necho broken >&2\nexit 1\n":      "does not run: install the package",
		"#!/bin/sh\necho something else entirely\n": "does not run: install the package",
	} {
		if err := os.WriteFile(filepath.Join(dir, "valgrind"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		c, why := FindCounter(t.Context(), Valgrind)
		switch {
		case want == "" && (c == nil || c.String() != "valgrind 3.21.0" || c.BuildTag() != Tag || !c.HasFunctions()):
			t.Errorf("%q: %v, %q", script, c, why)
		case want != "" && (c != nil || !strings.Contains(why, want)):
			t.Errorf("%q: %v, %q", script, c, why)
		}
	}
}

func TestReleases(t *testing.T) {
	valgrind := &Counter{path: "/bin/valgrind"}
	for release, want := range map[string]string{"go1.25.3": "", "go1.24.9": "built with go1.24.9, and Go supports Valgrind since go1.25", "devel go1.27-abc": ""} {
		if got := valgrind.WhyUnsupported(release); got != want {
			t.Errorf("%s: %q, want %q", release, got, want)
		}
	}
	if got := new(Counter).WhyUnsupported("go1.20"); got != "" {
		t.Errorf("hardware counters: %q", got)
	}
}
