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

// outputLimit is the number of bytes of a command's output that are stored. The first error is the
// reported one, so only the beginning is needed.
const outputLimit = 1 << 20

// answerLimit is the same for an answer that is read by a program.
const answerLimit = 64 << 20

// runCombined runs the go command in its own process group and returns its output. When ctx ends,
// the entire group is killed, including go build's compilers.
func (b *Builder) runCombined(ctx context.Context, path, dir string, env []string, args ...string) (string, error) {
	out := &head{limit: outputLimit}
	err := b.runGo(ctx, path, dir, env, out, out, args)
	return out.String(), err
}

// runSplit is runCombined with separate outputs: out is the standard output, said the standard
// error.
func (b *Builder) runSplit(ctx context.Context, path, dir string, env []string, args ...string) (out, said string, err error) {
	stdout, stderr := &head{limit: answerLimit}, &head{limit: outputLimit}
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

// Command returns a command in its own process group. When ctx ends the entire group is killed,
// including processes of the go command, e.g. compilers.
func Command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = 2 * time.Second // for a pipe held open by a process that left the group
	setGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	return cmd
}

// GoCommand returns the go command in dir with the user's environment, as [Command]. Its
// temporary files, and those of its compilers, are in a directory that remove removes.
func GoCommand(ctx context.Context, dir string, args ...string) (cmd *exec.Cmd, remove func()) {
	cmd = Command(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(Environment(os.Environ()), "PWD="+dir)
	tmp, remove, err := machine.TempDir("go")
	if err != nil {
		return cmd, func() {} // the go command will report it, if it needs one
	}
	cmd.Env = append(cmd.Env, TempEnv(tmp)...)
	return cmd, remove
}

// head keeps the first bytes written to it and takes the rest.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.limit - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
