//go:build unix

package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMissing checks that a program that does not run counts as missing, and the reason.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"cargo":      "echo 'error: rustup could not choose a version of cargo to run' >&2; echo more; exit 1",
		"pkg-config": "exit 1",
		"gcc":        "echo 'gcc: fatal error: cannot execute cc1' >&2; exit 1",
		"clang-14":   `for last; do :; done; grep -q main "$last"`,
		"far-gcc":    `for last; do :; done; grep -q none "$last"`,
		"g++":        `for last; do :; done; test "$last" = a.cc`,
		"strip":      "exit 1",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, want := range map[string]string{
		"cargo":      "no cargo that runs: error: rustup could not choose a version of cargo to run",
		"pkg-config": "no pkg-config that runs: exit status 1",
		"gcc":        "no gcc that runs: gcc: fatal error: cannot execute cc1",
		"far-gcc":    "no far-gcc that runs: exit status 1",
		"clang-14":   "", "g++": "",
		"strip":        "", // only looked for
		"no-such-tool": "no no-such-tool",
	} {
		got := ""
		if err := Missing(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	t.Run("need", func(t *testing.T) {
		Programs(t, "strip", "cargo")
		t.Error("it goes on without a cargo that runs")
	})
}
