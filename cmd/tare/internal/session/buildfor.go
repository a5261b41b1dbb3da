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

// BuildFor prepares a study's command if it is tare serve, perhaps after env NAME=value. It builds the server
// first: commands must accept connections within 30 s, too short to compile. env leads the command to the
// build.
func (w *Session) BuildFor(ctx context.Context, command []string) (env []string, err error) {
	i := indexOfTare(command)
	if i < 0 {
		return nil, nil
	}
	w.Progress.Status("build", "building what "+strings.Join(command[i:min(i+3, len(command))], " ")+" starts")
	args := slices.Concat(command[1:i+1], []string{"serve", "--build-only", "--quiet"}, command[i+2:])
	cmd := build.Command(ctx, command[0], args...)
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

// indexOfTare returns the index of the word before serve: tare, or the path of this program. It returns -1 for
// other commands.
func indexOfTare(command []string) int {
	i := 0
	if len(command) > 0 && filepath.Base(command[0]) == "env" {
		i = 1
		for i < len(command) && strings.Contains(command[i], "=") { // NAME=value
			i++
		}
	}
	if i+1 >= len(command) || command[i+1] != "serve" {
		return -1
	}
	isNamed := strings.TrimSuffix(filepath.Base(command[i]), ".exe") == "tare"
	self, err := findProgram("tare")
	if isThis := err == nil && command[i] == self; isNamed || isThis {
		return i
	}
	return -1
}
