package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
)

// There is a page for each command, and a completion for each shell, and both
// are the same twice.
func TestWrite(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		if err := writeManual(dir, cli.Commands()); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"man/tare.1": "Jan 2026", "man/tare-run.1": "lockstep rounds", "man/tare-bench.1": "base", "man/tare-gate.1": "base", "man/tare-json.1": "codec",
		"completions/tare.bash": "complete", "completions/_tare": "compdef", "completions/tare.fish": "complete -c tare", "completions/tare.ps1": "Register-ArgumentCompleter",
	} {
		var texts [2]string
		for i, dir := range dirs {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = string(text)
		}
		if !strings.Contains(texts[0], want) {
			t.Errorf("%s does not hold %q", name, want)
		}
		if texts[0] != texts[1] {
			t.Errorf("%s differs from run to run", name)
		}
	}
}
