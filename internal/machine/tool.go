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

// This file finds programs such as cargo or cc, and checks that they run.

// versionTimeout is the longest time for a tool to print its version. Tools take about a hundredth of
// that.
const versionTimeout = 20 * time.Second

// versionTools are the tools that print their version, and do nothing else, if they are called with
// --version. Other programs may do anything, so Tool does not call them.
var versionTools = []string{"cargo", "cc", "clang", "fluent-bit", "fluentd", "gcc", "node", "npm", "otelcol", "pkg-config", "ruby", "rustc"}

// BrokenToolError is the error of a program that exists but does not run.
type BrokenToolError struct {
	Path   string
	Reason string // has no line breaks
}

// Error returns the message, in one line.
func (e *BrokenToolError) Error() string { return e.Path + " does not run: " + e.Reason }

// Tool returns the path of a program, like [exec.LookPath]. If name is in versionTools, Tool also
// checks that the program prints its version. For a cargo without a toolchain, for example, it
// returns a *BrokenToolError.
func Tool(name string) (path string, err error) {
	if path, err = exec.LookPath(name); err != nil {
		return "", err
	}
	if slices.Contains(versionTools, strings.TrimSuffix(filepath.Base(name), ".exe")) {
		if err := checkVersion(path); err != nil {
			return "", err
		}
	}
	return path, nil
}

// checkVersion makes a program print its version. If that fails, the error has the first line of its
// output. If there is no output, it has the exit status.
func checkVersion(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Stdout, cmd.Stderr = os.TempDir(), &output, &output
	cmd.WaitDelay = time.Second // if the program leaves a child that holds the pipe open
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // the program itself succeeded
		return nil
	case ctx.Err() != nil:
		return &BrokenToolError{Path: path, Reason: fmt.Sprintf("%s --version took longer than %v", filepath.Base(path), versionTimeout)}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(output.String()), "\n")
	if line == "" {
		line = err.Error()
	}
	return &BrokenToolError{Path: path, Reason: line}
}
