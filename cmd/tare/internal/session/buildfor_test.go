package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// BuildFor runs tare serve with --build-only before the other flags, returns what it
// complains of as one line, and leaves other commands alone.
func TestBuildFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for tare is a shell script")
	}
	dir := t.TempDir()
	program, record := filepath.Join(dir, "tare"), filepath.Join(dir, "arguments")
	script := func(text string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$*\" >> "+record+"\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() string {
		text, _ := os.ReadFile(record)
		_ = os.Remove(record)
		return string(text)
	}
	env := cmdenv.Env{Err: io.Discard, Getenv: func(string) string { return "" }, Lab: cmdenv.Lab{Terminal: func(any) (int, int, bool) { return 0, 0, false }}}
	w := &Session{Progress: NewProgress(env, true)}

	script("")
	t.Setenv("GOPROXY", "https://proxy.example")
	t.Setenv("GOGC", "200") // would change how the service runs
	for _, command := range [][]string{
		{program, "serve", "ingest", "--addr", "127.0.0.1:$PORT"},
		{"env", "A=b", "C=d", program, "serve", "ingest", "--addr", "127.0.0.1:$PORT"},
	} {
		env, err := w.BuildFor(t.Context(), command)
		if err != nil || !slices.Contains(env, "GOPROXY=https://proxy.example") || slices.Contains(env, "GOGC=200") {
			t.Errorf("%q: environment %q, %v", command, env, err)
		}
		if got, want := asked(), "serve --build-only --quiet ingest --addr 127.0.0.1:$PORT\n"; got != want {
			t.Errorf("%q ran tare %q, want %q", command, got, want)
		}
	}
	for _, other := range [][]string{nil, {program}, {program, "version"}, {"env"}, {"env", "A=b", program}, {"echo", program, "serve"}, {filepath.Join(dir, "missing"), "serve", "ingest"}} {
		if _, err := w.BuildFor(t.Context(), other); err != nil || asked() != "" {
			t.Errorf("%q was run: %v", other, err)
		}
	}
	script("echo 'tare: stack nethttp cannot be built: no' >&2; exit 1")
	if _, err := w.BuildFor(t.Context(), []string{program, "serve", "ingest"}); err == nil || err.Error() != "stack nethttp cannot be built: no" {
		t.Errorf("%v, want its complaint without the name", err)
	}
	script("exit 7")
	if _, err := w.BuildFor(t.Context(), []string{program, "serve", "ingest"}); err == nil || !strings.Contains(err.Error(), "7") {
		t.Errorf("%v, want the exit status", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.BuildFor(stopped, []string{program, "serve", "ingest"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was interrupted", err)
	}
}
