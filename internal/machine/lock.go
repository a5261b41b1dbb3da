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

// This file lets one process at a time measure on a machine. Others wait for the lock.

// errLocked is the error of tryLock and tryLockHost while another process has the lock.
var errLocked = errors.New("held by another process")

// Lock locks the file at path, so that one process at a time has it. It waits for the lock until ctx
// ends. If it waits, it calls waiting once with a description of the holder, e.g. "pid 4711: tare run
// json-encode". waiting may be nil.
//
// The lock ends when unlock is called, or with the process.
func Lock(ctx context.Context, path string, waiting func(holder string)) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("machine lock %s: %w", path, pathErrorCause(err))
	}
	take := func() (func(), error) {
		f, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		// The text is only for messages of other processes, so errors do not matter.
		_ = writeHolder(f, fmt.Sprintf("pid %d: %s\n", os.Getpid(), commandLine(os.Args)))
		return func() {
			_ = writeHolder(f, "")
			_ = f.Close()
		}, nil
	}
	return awaitLock(ctx, path, take, func() string { return readHolder(path) }, waiting)
}

// LockHost is like [Lock], but for all users of this machine. name identifies the lock, and all
// processes that measure use the same one. If the system has no such lock, the error is
// [errors.ErrUnsupported].
func LockHost(ctx context.Context, name string, waiting func(holder string)) (unlock func(), err error) {
	return awaitLock(ctx, name, func() (func(), error) { return tryLockHost(name) }, func() string { return hostHolder(name) }, waiting)
}

// awaitLock calls take again and again while take returns errLocked, until ctx ends. holder returns a
// description of the process that has the lock.
func awaitLock(ctx context.Context, name string, take func() (func(), error), holder func() string, waiting func(string)) (unlock func(), err error) {
	notified := false
	for {
		unlock, err := take()
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("machine lock %s: %w", name, pathErrorCause(err))
		}
		if !notified && waiting != nil {
			waiting(holder())
		}
		notified = true
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("machine lock %s: %w while %s holds it", name, context.Cause(ctx), holder())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const unknownHolder = "another process"

// readHolder reads the description that the process with the lock has written into the file.
func readHolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return unknownHolder
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 300))
	if line, _, _ := strings.Cut(string(b), "\n"); line != "" {
		return line
	}
	return unknownHolder // the description is not written yet
}

func writeHolder(f *os.File, text string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// commandLine returns args in one short line, without the program's directory.
func commandLine(args []string) string {
	words := append([]string(nil), args...)
	if len(words) > 0 {
		words[0] = filepath.Base(words[0])
	}
	line := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	const maxLength = 120
	if r := []rune(line); len(r) > maxLength {
		line = string(r[:maxLength]) + "…"
	}
	return line
}
