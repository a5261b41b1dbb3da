package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// toolTime is the time limit for a tool to show that it runs: a hundred times what it takes.
const toolTime = 20 * time.Second

// versioned are tools that print their version and do nothing else when called
// with --version. Other programs may do anything, and are not called.
var versioned = []string{"cargo", "cc", "clang", "fluent-bit", "fluentd", "gcc", "node", "npm", "otelcol", "pkg-config", "ruby", "rustc"}

// BrokenToolError is the error of a program that exists and does not run.
type BrokenToolError struct {
	Path   string
	Reason string // one line
}

// Error returns one line.
func (e *BrokenToolError) Error() string { return e.Path + " does not run: " + e.Reason }

// Tool finds the program name as [exec.LookPath] does, and makes it print its version if that is
// harmless. The error is a *BrokenToolError if that fails, as for a cargo of rustup without a
// toolchain.
func Tool(name string) (path string, err error) {
	if path, err = exec.LookPath(name); err != nil {
		return "", err
	}
	if slices.Contains(versioned, strings.TrimSuffix(filepath.Base(name), ".exe")) {
		if err := checkVersion(path); err != nil {
			return "", err
		}
	}
	return path, nil
}

// checkVersion runs a program to print its version. The error contains the first line of its
// output, or how it ended.
func checkVersion(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), toolTime)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Stdout, cmd.Stderr = os.TempDir(), &said, &said
	cmd.WaitDelay = time.Second // for a child of it that holds the pipe
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case ctx.Err() != nil:
		return &BrokenToolError{path, fmt.Sprintf("%s --version took longer than %v", filepath.Base(path), toolTime)}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	if line == "" {
		line = err.Error()
	}
	return &BrokenToolError{path, line}
}
