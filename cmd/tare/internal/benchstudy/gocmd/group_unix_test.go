//go:build unix

package gocmd

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What the go command starts ends with it when a run is stopped: here a compiler that
// would go on for a minute.
func TestStoppedGoCommandLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	told := filepath.Join(dir, "pid")
	script := "#!/bin/sh\nsleep 60 &\necho $! > " + told + ".new\nmv " + told + ".new " + told + "\nwait\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Go{}.AsUser(ctx, dir, "build")
		ended <- err
	}()
	var compiler int
	for compiler == 0 {
		text, _ := os.ReadFile(told)
		compiler, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	for end := time.Now().Add(time.Minute / 2); syscall.Kill(compiler, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is left", compiler)
		}
	}
}
