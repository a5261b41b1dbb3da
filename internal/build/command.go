package build

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// This file runs the go command, and ends it together with its compilers.

// Stored bytes of a command's output. Of messages only the first is needed; data must be complete.
const (
	maxMessageBytes = 1 << 20
	maxDataBytes    = 64 << 20
)

// runCombined runs the go command in dir and returns its output, with that on standard error. When
// ctx ends, the command is killed together with its compilers.
func (b *Builder) runCombined(ctx context.Context, path, dir string, env []string, args ...string) (string, error) {
	out := &head{limit: maxMessageBytes}
	err := b.runGo(ctx, path, dir, env, out, out, args)
	return out.String(), err
}

// runSplit is like runCombined, but returns standard output and standard error separately.
func (b *Builder) runSplit(ctx context.Context, path, dir string, env []string, args ...string) (out, errText string, err error) {
	stdout, stderr := &head{limit: maxDataBytes}, &head{limit: maxMessageBytes}
	err = b.runGo(ctx, path, dir, env, stdout, stderr, args)
	return stdout.String(), stderr.String(), err
}

func (b *Builder) runGo(ctx context.Context, path, dir string, env []string, stdout, stderr io.Writer, args []string) error {
	if b.Log != nil {
		b.Log("go " + strings.Join(args, " "))
	}
	cmd := Command(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd.Run()
}

// Command returns a command in a new process group. When ctx ends, the entire group is killed, with
// the processes that the command has started.
func Command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = 2 * time.Second // a process outside the group may hold a pipe open
	setGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	return cmd
}

// GoCommand returns a [Command] that runs the go command in dir with the user's environment. remove
// deletes the directory of its temporary files.
func GoCommand(ctx context.Context, dir string, args ...string) (cmd *exec.Cmd, remove func()) {
	cmd = Command(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(Environment(os.Environ()), "PWD="+dir)
	tmp, remove, err := machine.TempDir("go")
	if err != nil {
		return cmd, func() {} // the go command reports the error if it needs temporary files
	}
	cmd.Env = append(cmd.Env, TempEnv(tmp)...)
	return cmd, remove
}

// head is a writer that stores the first limit bytes and discards the rest.
type head struct {
	bytes.Buffer
	limit int
}

// Write stores as much of p as fits, and never fails.
func (h *head) Write(p []byte) (int, error) {
	if free := h.limit - h.Len(); free > 0 {
		h.Buffer.Write(p[:min(free, len(p))])
	}
	return len(p), nil
}
