package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
)

// commandLimit is how long one go command may take that resolves modules or
// generates code.
const commandLimit = 5 * time.Minute

// goCommand runs the go command.
type goCommand struct {
	tag string // TARE_RUN of every process; empty: none
}

// in runs it in a directory of the cache, where neither a workspace nor the
// user's flags have a say.
func (g goCommand) in(ctx context.Context, dir string, args ...string) (string, error) {
	return g.run(ctx, dir, []string{"GOWORK=off", "GOFLAGS="}, args...)
}

// asUser runs it in a directory of the user's as they would.
func (g goCommand) asUser(ctx context.Context, dir string, args ...string) (string, error) {
	return g.run(ctx, dir, nil, args...)
}

// run returns what was printed. The error is one line.
func (g goCommand) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := build.Command(limited, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "PWD="+dir)...)
	if g.tag != "" {
		cmd.Env = append(cmd.Env, "TARE_RUN="+g.tag)
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
		return "", fmt.Errorf("go %s took longer than %v and was ended", args[0], commandLimit)
	case err != nil:
		return out.String(), errors.New(complaint(said.String()+"\n"+out.String(), err))
	}
	return out.String(), nil
}

// complaint is the line of what a go command printed that says most.
func complaint(said string, err error) string {
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

// writeAll writes files, by slash path, below dir.
func writeAll(dir string, files map[string]string) error {
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
