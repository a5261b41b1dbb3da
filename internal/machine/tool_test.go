//go:build unix

package machine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/internal/machine"
)

// A tool that does not run is there and of no use; what is not known is not
// run.
func TestTool(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"cargo":      "echo 'error: rustup could not choose a version of cargo to run' >&2; echo more; exit 1",
		"pkg-config": "exit 1",
		"gcc":        "echo 'gcc: fatal error: cannot execute cc1' >&2; exit 1",
		"rustc":      `test "$*" = --version`,
		"peerd":      "touch ran; exit 1",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(dir)
	for name, want := range map[string]string{
		"cargo": "error: rustup could not choose a version of cargo to run", "pkg-config": "exit status 1",
		"gcc": "gcc: fatal error: cannot execute cc1", "rustc": "", "peerd": "",
	} {
		path, err := machine.Tool(name)
		var broken *machine.BrokenToolError
		switch {
		case want == "" && (err != nil || path != filepath.Join(dir, name)):
			t.Errorf("%s: %s, %v", name, path, err)
		case want != "" && (!errors.As(err, &broken) || broken.Reason != want || path != ""):
			t.Errorf("%s: %s, %v, want %s", name, path, err, want)
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a program that is not known was run")
	}
	if _, err := machine.Tool("no-such-tool"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
}
