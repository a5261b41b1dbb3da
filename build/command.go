package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// outputLimit is how much of a command's output is kept, in bytes. The first
// error is what is reported, so the beginning is what matters.
const outputLimit = 1 << 20

// command runs the go command in its own process group and returns what it
// wrote. When ctx ends, the whole group is killed: go build's compilers too.
func (b *Builder) command(ctx context.Context, path, dir string, env []string, args ...string) (string, error) {
	if b.Log != nil {
		b.Log("go " + strings.Join(args, " "))
	}
	out := &head{limit: outputLimit}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 2 * time.Second // for a pipe kept open by a process that left the group
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	err := cmd.Run()
	return out.String(), err
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

var (
	positioned = regexp.MustCompile(`^(.*?\.[A-Za-z]+):(\d+)(:\d+)?: (.*)$`)
	noSpace    = regexp.MustCompile(`(?i)no space left on device|not enough space on the disk`)
	noGOCACHE  = regexp.MustCompile(`failed to initialize build cache at (.*)`)
)

// compileError makes one line of what go build wrote: the first line with a
// position, its path made to start at base; else the first that says anything.
func compileError(out string, err error, dir, base string) error {
	if m := noGOCACHE.FindStringSubmatch(out); m != nil {
		return fmt.Errorf("%w of the go command at %s", ErrCache, strings.TrimSpace(m[1]))
	}
	if m := noSpace.FindString(out); m != "" {
		return fmt.Errorf("%w: %s", ErrCache, m)
	}
	for line := range strings.Lines(out) {
		if m := positioned.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !strings.HasPrefix(line, "go: ") {
			return errors.New(relative(m[1], dir, base) + ":" + m[2] + m[3] + ": " + m[4])
		}
	}
	return fmt.Errorf("%s: %s", relative(".", dir, base), firstLine(out, err))
}

// relative is file, which is relative to dir, as seen from base.
func relative(file, dir, base string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if rel, err := filepath.Rel(base, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

// firstLine is the first line of out that is a message: not a "# package"
// heading and not the bare name of a package, which go build -v prints.
func firstLine(out string, err error) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, " ") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading ") {
			return line
		}
	}
	if err != nil {
		return err.Error()
	}
	return "no message"
}
