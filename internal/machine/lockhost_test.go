package machine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lockName returns the name of a lock that no other process uses.
func lockName(t *testing.T) string {
	name := fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())
	unlock, err := LockHost(t.Context(), name, nil)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no such lock on this system")
	}
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	return name
}

func TestHostLockEndsWithProcess(t *testing.T) {
	onLinux(t)
	name := lockName(t)
	cmd := testCommand("lock host", "TARE_TEST_LOCK="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := startProcess(t, cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	want := fmt.Sprintf("pid %d: %s", pid, filepath.Base(os.Args[0]))
	_, err = LockHost(ctx, name, func(holder string) {
		if holder != want {
			t.Errorf("held by %q, want %q", holder, want)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) {
		t.Errorf("while it is held: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	unlock, err := LockHost(ctx, name, func(string) { _ = cmd.Process.Kill() })
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Ten processes that want the lock at once have it one after the other.
func TestHostLockOfMany(t *testing.T) {
	name := lockName(t)
	log := filepath.Join(t.TempDir(), "log")
	var all []*exec.Cmd
	for range 10 {
		cmd := testCommand("take turns", "TARE_TEST_LOCK="+name, "TARE_TEST_LOG="+log)
		var said bytes.Buffer
		cmd.Stderr = &said
		startProcess(t, cmd)
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stderr)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 20 {
		t.Fatalf("%d lines, want 20", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		begin, end := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if begin[1] != "begins" || end[1] != "ends" || begin[0] != end[0] {
			t.Errorf("turn %d: %q, then %q", i/2, lines[i], lines[i+1])
		}
	}
}

// takeTurns takes the lock and writes into a log when it has it.
func takeTurns() error {
	unlock, err := LockHost(context.Background(), os.Getenv("TARE_TEST_LOCK"), nil)
	if err != nil {
		return err
	}
	defer unlock()
	for _, word := range []string{"begins", "ends"} {
		f, err := os.OpenFile(os.Getenv("TARE_TEST_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, os.Getpid(), word)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // or nobody would come between
	}
	return nil
}

func TestLockDir(t *testing.T) {
	onLinux(t)
	dir := t.TempDir()
	unlock, ok := LockDir(dir)
	if !ok {
		t.Fatal("nobody has it")
	}
	if _, ok := LockDir(dir); ok {
		t.Error("locked twice")
	}
	unlock()
	if unlock, ok = LockDir(dir); !ok {
		t.Error("it is free")
	}
	unlock()
	if _, ok := LockDir(filepath.Join(dir, "nowhere")); !ok {
		t.Error("what is not there is locked")
	}
}
