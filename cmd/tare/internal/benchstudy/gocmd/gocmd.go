// Package gocmd runs the go command for code that tare generates from the user's code and data.
package gocmd

import (
	"bytes"
	"cmp"
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

const commandTimeout = 5 * time.Minute

// ErrTooLong reports that a go command reached its timeout.
var ErrTooLong = errors.New("took too long and was ended")

// Go runs the go command.
type Go struct {
	Tag   string    // value of TARE_RUN, which marks the processes of a run; may be ""
	Stdin io.Reader // nil for no input

	Env     []string      // NAME=value, in addition to the environment
	Timeout time.Duration // 0 means commandTimeout
}

// In runs a go command in a directory of the cache, without workspace and without the user's flags.
func (g Go) In(ctx context.Context, dir string, args ...string) (string, error) {
	return g.runCommand(ctx, dir, []string{"GOWORK=off", "GOFLAGS="}, args...)
}

// AsUser runs a go command in a directory of the user, with their environment.
func (g Go) AsUser(ctx context.Context, dir string, args ...string) (string, error) {
	return g.runCommand(ctx, dir, nil, args...)
}

// runCommand runs the go command with env in addition to tare's environment, and returns the
// standard output. The error is one line: a Complaint, [ErrTooLong], [build.ErrNoToolchain] or the
// error of ctx.
func (g Go) runCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	timeout := cmp.Or(g.Timeout, commandTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd, remove := build.GoCommand(limited, dir, args...)
	defer remove()
	cmd.Stdin = g.Stdin
	cmd.Env = append(append(cmd.Env, env...), g.Env...)
	if g.Tag != "" {
		cmd.Env = append(cmd.Env, "TARE_RUN="+g.Tag)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", build.MissingGo("go")
	case limited.Err() != nil:
		return "", fmt.Errorf("go %s %w after %v", args[0], ErrTooLong, timeout)
	case err != nil:
		return out.String(), errors.New(Complaint(errOut.String()+"\n"+out.String(), err))
	}
	return out.String(), nil
}

// Complaint returns the first line of a failed go command's output that is not about progress, or
// else the text of err. A line that ends in a colon continues in the next one.
func Complaint(output string, err error) string {
	best := ""
	for line := range strings.Lines(output) {
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

// WriteAll writes files below dir and makes their directories. The keys are slash-separated paths.
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
