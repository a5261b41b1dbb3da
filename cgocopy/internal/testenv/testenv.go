// Package testenv checks which compilers and other programs for tests run on this machine. A program that
// does not run counts as missing.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit is the time limit for a program to show that it runs, about a hundred times the usual time.
const limit = 20 * time.Second

// compiler matches the names of C and C++ compilers, e.g. clang++ or aarch64-linux-gnu-gcc-13.
var compiler = regexp.MustCompile(`^(.*-)?(gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(-[0-9]+)?$`)

// versioned lists the programs that are run with --version. Other programs need only be installed, except
// compilers.
var versioned = []string{"cargo", "rustc", "pkg-config"}

// Programs skips the test with the reason if one of the programs does not run.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		check := func() error { return Missing(name) }
		if name == "gcc" {
			check = missingGCC
		}
		if err := check(); err != nil {
			t.Skip(err)
		}
	}
}

// missingGCC calls Missing("gcc") once: most tests need gcc.
var missingGCC = sync.OnceValue(func() error { return Missing("gcc") })

// Missing returns why a program cannot be used: it is not installed, or does not run. A compiler has to
// compile an empty program.
func Missing(name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("no %s", name)
	}
	if err := checkRuns(name, path); err != nil {
		return fmt.Errorf("no %s that runs: %w", name, err)
	}
	return nil
}

func checkRuns(name, path string) error {
	dir, err := os.MkdirTemp("", "cgocopy-tool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch {
	case compiler.MatchString(filepath.Base(name)):
		const empty = "#include <stdlib.h>\nint main(void) { return 0; }\n"
		source := "a.c"
		if strings.Contains(name, "++") {
			source = "a.cc"
		}
		if err := os.WriteFile(filepath.Join(dir, source), []byte(empty), 0o600); err != nil {
			return err
		}
		return runProgram(path, dir, "-o", "a.out", source)
	case slices.Contains(versioned, name):
		return runProgram(path, dir, "--version")
	}
	return nil
}

// runProgram runs a program in dir. Its error is the first line of the output, if any.
func runProgram(path, dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s took longer than %v", strings.Join(args, " "), limit)
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); line != "" {
		return errors.New(line)
	}
	return err
}
