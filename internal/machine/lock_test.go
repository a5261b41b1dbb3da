package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache", "lock") // whose folder is not there yet
	unlock, err := Lock(t.Context(), path, func(string) { t.Error("it waited for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	got := make(chan error, 1)
	var again func()
	go func() {
		var err error
		again, err = Lock(t.Context(), path, func(holder string) { told <- holder })
		got <- err
	}()
	if holder, want := <-told, fmt.Sprintf("pid %d: %s", os.Getpid(), filepath.Base(os.Args[0])); !strings.HasPrefix(holder, want) {
		t.Errorf("held by %q, want %q…", holder, want)
	}
	select {
	case err := <-got:
		t.Fatalf("locked twice, error %v", err)
	case <-time.After(250 * time.Millisecond): // long enough for more than one look
	}
	unlock()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	again()
	if len(told) > 0 {
		t.Errorf("told %d times more than once", len(told))
	}
	if b, err := os.ReadFile(path); err != nil || len(b) > 0 {
		t.Errorf("a free lock says %q, %v", b, err)
	}
}

func TestLockEndsWithContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Lock(ctx, path, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "pid ") {
		t.Errorf("got %v", err)
	}
}

func TestLockEndsWithProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := testCommand("lock", "TARE_TEST_LOCK="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := startProcess(t, cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	unlock, err := Lock(ctx, path, func(holder string) {
		if want := fmt.Sprintf("pid %d: ", pid); !strings.HasPrefix(holder, want) {
			t.Errorf("held by %q, want %q…", holder, want)
		}
		_ = cmd.Process.Kill()
	})
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestLockThatCannotBe(t *testing.T) {
	blocked := writeFile(t, "file", "")
	for _, path := range []string{filepath.Join(blocked, "lock"), t.TempDir()} {
		_, err := Lock(t.Context(), path, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "machine lock "+path+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"/usr/bin/tare", "run", "json-encode"}, "tare run json-encode"},
		{[]string{"tare", "run", "a\nb"}, "tare run a b"},
		{nil, ""},
		{[]string{"tare", strings.Repeat("é", 200)}, "tare " + strings.Repeat("é", 115) + "…"},
	} {
		if got := commandLine(c.args); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
