package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// BuildFor builds the stack of a command that is tare serve, also after env NAME=value, and does
// nothing for any other command. A command has 30 s to accept connections, which is enough to start
// a stack and not to compile one. It returns the environment by which the command finds the build.
// The error is one line.
func (w *Session) BuildFor(ctx context.Context, command []string) (env []string, err error) {
	at := indexOfTare(command)
	if at < 0 {
		return nil, nil
	}
	words := slices.Concat(command[1:at+1], []string{"serve", "--build-only", "--quiet"}, command[at+2:])
	w.Progress.Status("build", "building what "+strings.Join(command[at:min(at+3, len(command))], " ")+" starts")
	cmd := build.Command(ctx, command[0], words...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if text := format.Line(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "tare: "), 0); err != nil && text != "" {
		err = errors.New(text)
	}
	return build.Settings(os.Environ()), err
}

// indexOfTare returns the index of the word that runs tare in a command that is tare
// serve, otherwise -1.
func indexOfTare(command []string) int {
	at := 0
	if len(command) > 0 && filepath.Base(command[0]) == "env" {
		for at = 1; at < len(command) && strings.Contains(command[at], "="); at++ {
		}
	}
	if at+1 >= len(command) || command[at+1] != "serve" {
		return -1
	}
	self, err := findProgram("tare")
	if strings.TrimSuffix(filepath.Base(command[at]), ".exe") == "tare" || err == nil && command[at] == self {
		return at
	}
	return -1
}
