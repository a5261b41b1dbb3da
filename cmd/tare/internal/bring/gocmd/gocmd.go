// Package gocmd runs the go command for what is made of the user's own code and data.
package gocmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
)

// limit is how long one go command may take that resolves modules or generates
// code.
const limit = 5 * time.Minute

// ErrTooLong says that a go command reached the limit.
var ErrTooLong = fmt.Errorf("took longer than %v and was ended", limit)

// Go runs the go command.
type Go struct {
	Tag   string    // TARE_RUN of every process; empty: none
	Stdin io.Reader // nil: nothing
}

// In runs it in a directory of the cache, where neither a workspace nor the
// user's flags have a say.
func (g Go) In(ctx context.Context, dir string, args ...string) (string, error) {
	return g.run(ctx, dir, []string{"GOWORK=off", "GOFLAGS="}, args...)
}

// AsUser runs it in a directory of the user's as they would.
func (g Go) AsUser(ctx context.Context, dir string, args ...string) (string, error) {
	return g.run(ctx, dir, nil, args...)
}

// run returns what was printed. The error is one line.
func (g Go) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd, remove := build.GoCommand(limited, dir, args...)
	defer remove()
	cmd.Stdin = g.Stdin
	cmd.Env = append(cmd.Env, env...)
	if g.Tag != "" {
		cmd.Env = append(cmd.Env, "TARE_RUN="+g.Tag)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: %q was not found; install Go from https://go.dev/dl/ or put it in PATH", build.ErrNoToolchain, "go")
	case limited.Err() != nil:
		return "", fmt.Errorf("go %s %w", args[0], ErrTooLong)
	case err != nil:
		return out.String(), errors.New(Complaint(said.String()+"\n"+out.String(), err))
	}
	return out.String(), nil
}

// Complaint is the line of what a go command printed that says most.
func Complaint(said string, err error) string {
	best := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "go: downloading "), strings.HasPrefix(line, "go: finding "),
			strings.HasPrefix(line, "go: added "), strings.HasPrefix(line, "exit status"), strings.HasPrefix(line, "go: updates to go.mod needed"):
			continue
		case best == "":
			best = strings.TrimPrefix(line, "go: ")
		case strings.HasSuffix(best, ":"):
			best += " " + line
		}
	}
	if best == "" {
		return err.Error()
	}
	return best
}

// WriteAll writes files, by slash path, below dir.
func WriteAll(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
