package session

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/format"
)

// BuildFor builds the stack of a command that is tare serve, and does nothing for
// any other command. A command has 30 s to accept connections, which is enough to
// start a stack and not to compile one. The error is one line.
func (w *Session) BuildFor(ctx context.Context, command []string) error {
	if len(command) < 2 || strings.TrimSuffix(filepath.Base(command[0]), ".exe") != "tare" && !isSelf(command[0]) || command[1] != "serve" {
		return nil
	}
	w.Progress.Status("build", "building what "+strings.Join(append([]string{"tare"}, command[1:min(3, len(command))]...), " ")+" starts")
	cmd := exec.CommandContext(ctx, command[0], slices.Concat([]string{"serve", "--build-only", "--quiet"}, command[2:])...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if text := format.Line(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "tare: "), 0); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}

// isSelf reports whether path is the running program, whatever its name.
func isSelf(path string) bool {
	self, err := findProgram("tare")
	return err == nil && path == self
}
