//go:build unix

package build

import (
	"os"
	"path/filepath"
	"testing"
)

// TestACompilerThatDoesNotRun: the go command would try it and fail.
func TestACompilerThatDoesNotRun(t *testing.T) {
	bin := t.TempDir()
	broken := filepath.Join(bin, "brokencc")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, kv := range os.Environ() {
		if len(kv) < 12 || kv[:12] != "CGO_ENABLED=" {
			env = append(env, kv)
		}
	}
	for _, c := range []struct {
		settings []string
		want     string
	}{
		{[]string{"CC=" + broken}, "0"},
		{[]string{"CC=" + broken, "CGO_ENABLED=1"}, "1"}, // whoever sets it gets the compiler's own message
	} {
		b := &Builder{Cache: t.TempDir(), Env: append(env[:len(env):len(env)], c.settings...)}
		tool, err := b.loadToolchain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := tool.env["CGO_ENABLED"]; got != c.want {
			t.Errorf("%v: CGO_ENABLED=%s, want %s", c.settings, got, c.want)
		}
	}
}
