package cmdenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/build"
)

// Toolchain describes the go command, or has the reason why it cannot be used.
type Toolchain struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

// FindToolchain finds the go command and its version. The error wraps [build.ErrNoToolchain].
func FindToolchain(ctx context.Context) (Toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return Toolchain{}, fmt.Errorf("%w: %q was not found; install Go from https://go.dev/dl/ or put it in PATH", build.ErrNoToolchain, "go")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "env", "GOVERSION")
	dir, remove := build.OutsideModules()
	defer remove()
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return Toolchain{Path: path}, fmt.Errorf("%w: %s does not say its version: %w", build.ErrNoToolchain, path, err)
	}
	return Toolchain{Path: path, Version: strings.TrimSpace(string(out))}, nil
}
