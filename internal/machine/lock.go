package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errLocked is returned by tryLock while another process has the lock.
var errLocked = errors.New("held by another process")

// Lock makes sure that one process at a time has path. It waits until path can be locked or ctx
// ends. While another process holds it, waiting (may be nil) is called once with the holder, e.g.
// "pid 4711: tare run json-encode". The lock ends with unlock, or with the process, however that
// ends.
func Lock(ctx context.Context, path string, waiting func(holder string)) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("machine lock %s: %w", path, pathErrorCause(err))
	}
	take := func() (func(), error) {
		f, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		// The name of the holder is for people to read; the lock works without it.
		_ = writeHolder(f, fmt.Sprintf("pid %d: %s\n", os.Getpid(), commandLine(os.Args)))
		return func() {
			_ = writeHolder(f, "")
			_ = f.Close()
		}, nil
	}
	return awaitLock(ctx, path, take, func() string { return readHolder(path) }, waiting)
}

// LockHost is [Lock] for all users and all directories of this machine. name identifies the lock;
// everything that measures uses the same. If the system has no such lock, the error is
// [errors.ErrUnsupported].
func LockHost(ctx context.Context, name string, waiting func(holder string)) (unlock func(), err error) {
	return awaitLock(ctx, name, func() (func(), error) { return tryLockHost(name) }, func() string { return hostHolder(name) }, waiting)
}

// awaitLock takes a lock as soon as it is free.
func awaitLock(ctx context.Context, name string, take func() (func(), error), holder func() string, waiting func(string)) (unlock func(), err error) {
	for told := false; ; {
		unlock, err := take()
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("machine lock %s: %w", name, pathErrorCause(err))
		}
		if !told && waiting != nil {
			waiting(holder())
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("machine lock %s: %w while %s holds it", name, context.Cause(ctx), holder())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// unknown is a holder of whom nothing is known.
const unknown = "another process"

// readHolder reads from path which process locked it.
func readHolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 300))
	if line, _, _ := strings.Cut(string(b), "\n"); line != "" {
		return line
	}
	return unknown // it has locked but not written its name yet
}

func writeHolder(f *os.File, text string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// commandLine returns how this process was called, in one short line.
func commandLine(args []string) string {
	words := append([]string(nil), args...)
	if len(words) > 0 {
		words[0] = filepath.Base(words[0])
	}
	line := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if r := []rune(line); len(r) > 120 {
		line = string(r[:120]) + "…"
	}
	return line
}
