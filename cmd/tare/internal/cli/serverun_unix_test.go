//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

// dummy is a program that says how it was started and what signal ends it. Its
// log says how it is to behave: deaf to signals, or ending by itself.
const dummy = `package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 9)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	all := strings.Join(os.Args, " ")
	fmt.Fprintln(os.Stderr, "on stderr")
	fmt.Printf("%d: %s, sink %q\n", os.Getpid(), all, os.Getenv("TARE_SINK"))
	if strings.Contains(all, "-log=ends") {
		os.Exit(3)
	}
	for s := range signals {
		fmt.Println("got", s)
		if !strings.Contains(all, "-log=deaf") {
			os.Exit(7)
		}
	}
}
`

// shelf is a catalog with the dummy, and with one that cannot be built.
func shelf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dummy/contender.json":  `{"id": "dummy", "kind": "server", "variants": ["plain", "loud"], "apps": ["ingest"]}`,
		"dummy/go.mod":          "module example.com/dummy\n\ngo 1.25\n",
		"dummy/main.go":         dummy,
		"broken/contender.json": `{"id": "broken", "kind": "server", "trap": true, "why": "nobody wrote it", "apps": ["ingest"]}`,
		"broken/go.mod":         "module example.com/broken\n\ngo 1.25\n",
		"broken/main.go":        "package main\n\nfunc main() { nowhere() }\n",
	} {
		path := filepath.Join(dir, "server", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serving is a tare that serves the dummy.
type serving struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr *safe
	dummy  int // its process
	said   string
}

// safe is a buffer that another goroutine fills.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// line is the next line on stdout; empty: there is none.
func (s *serving) line() string {
	text, err := s.lines.ReadString('\n')
	if err != nil && err != io.EOF {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

// send sends tare a signal.
func (s *serving) send(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// code is tare's exit code; -1: a signal ended it.
func (s *serving) code() int {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// gone waits until nothing is left of the dummy.
func (s *serving) gone() {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); syscall.Kill(s.dummy, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("process %d is still there", s.dummy)
		}
	}
}

func TestServes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	tare, err := exec.LookPath("tare-real")
	if err != nil {
		t.Fatal(err)
	}
	catalog, cache := shelf(t), t.TempDir()
	command := func(stack string, flags ...string) (*exec.Cmd, *safe) {
		cmd := exec.Command(tare, append([]string{"serve", "ingest", "--catalog", catalog, "--stack", stack}, flags...)...)
		cmd.Env = append(os.Environ(), "TARE_CACHE="+cache, "TARE_SINK=from outside", "GORACE=atexit_sleep_ms=0")
		cmd.Dir = t.TempDir()
		var stderr safe
		cmd.Stderr = &stderr
		testtare.Bind(cmd)
		return cmd, &stderr
	}
	serve := func(t *testing.T, stack string, flags ...string) *serving {
		s := &serving{t: t}
		s.cmd, s.stderr = command(stack, flags...)
		out, err := s.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		s.lines = bufio.NewReader(out)
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.cmd.Process.Kill() })
		pid, said, ok := strings.Cut(s.line(), ": ")
		if s.dummy, err = strconv.Atoi(pid); err != nil || !ok {
			s.cmd.Wait()
			t.Fatalf("%q %q: %s", pid, said, s.stderr)
		}
		s.said = said
		return s
	}

	t.Run("what it is told", func(t *testing.T) {
		s := serve(t, "dummy-loud", "--limit", "3", "--fsync", "--sink", "file:events", "--log", "ends")
		const want = `dummy-loud -app=ingest -log=ends -limit=3 -sink=file:events -fsync=true -variant=loud, sink "from outside"`
		if s.said != want {
			t.Errorf("%s\nwant %s", s.said, want)
		}
		if code := s.code(); code != 3 {
			t.Errorf("exit code %d, want the program's 3", code)
		}
		if text := s.stderr.String(); text != "building dummy-loud\non stderr\n" {
			t.Errorf("stderr: %q", text)
		}
	})
	for sig, want := range map[syscall.Signal]string{syscall.SIGINT: "got interrupt", syscall.SIGTERM: "got terminated", syscall.SIGHUP: "got terminated"} {
		t.Run(sig.String(), func(t *testing.T) {
			if sig == syscall.SIGHUP && signal.Ignored(sig) { // by whoever runs the tests, and so by tare
				t.Skip("ignored here")
			}
			s := serve(t, "dummy")
			s.send(sig)
			if got := s.line(); got != want {
				t.Errorf("the program %s, want %s", got, want)
			}
			if code := s.code(); code != 7 {
				t.Errorf("exit code %d, want the program's 7", code)
			}
			if text := s.stderr.String(); text != "on stderr\n" { // built before
				t.Errorf("stderr: %q", text)
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		s := serve(t, "dummy", "--log", "deaf")
		s.send(syscall.SIGINT)
		if got := s.line(); got != "got interrupt" {
			t.Errorf("%q", got)
		}
		s.send(syscall.SIGINT)
		if code := s.code(); code != 128+int(syscall.SIGKILL) {
			t.Errorf("exit code %d", code)
		}
		s.gone()
	})
	t.Run("killed", func(t *testing.T) {
		s := serve(t, "dummy", "--log", "deaf")
		s.send(syscall.SIGKILL)
		s.code()
		s.gone()
	})
	t.Run("not built", func(t *testing.T) {
		cmd, stderr := command("broken")
		cmd.Run()
		if code, text := cmd.ProcessState.ExitCode(), stderr.String(); code != 1 || !strings.HasPrefix(text, "broken repeats a published mistake: nobody wrote it\nbuilding broken\ntare: stack broken cannot be built: ") || strings.Count(text, "\n") != 3 {
			t.Errorf("exit code %d: %s", code, text)
		}
	})
}
