package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ask connects anew and asks for one number.
func ask(ctx context.Context, url, query string) (n int, err error) {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	return n, errors.Join(c.QueryRow(ctx, query).Scan(&n), c.Close(ctx))
}

func want(t *testing.T, url, query string, want int) {
	t.Helper()
	if n, err := ask(t.Context(), url, query); err != nil || n != want {
		t.Errorf("%s: %d, error %v; want %d", query, n, err, want)
	}
}

// must skips where there is no server.
func must(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil && os.Getenv("TARE_POSTGRES_REQUIRED") != "1" {
		t.Skipf("no PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestServer(t *testing.T) {
	s := New(t)
	dir := s.dir
	want(t, s.URL(), "SELECT 1", 1)
	if _, err := ask(t.Context(), strings.Replace(s.URL(), s.password, "guessed", 1), "SELECT 1"); err == nil {
		t.Error("a wrong password lets in")
	}
	if _, err := ask(t.Context(), s.URL(), "CREATE TABLE kept AS SELECT 7 AS n"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	url := s.URL()
	for range 2 {
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.Done():
		default:
			t.Error("not done after it was killed")
		}
		if _, err := ask(t.Context(), url, "SELECT 1"); err == nil {
			t.Error("a killed server answers")
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.URL() != url {
			t.Errorf("restarted at %s, was at %s", s.URL(), url)
		}
		want(t, url, "SELECT n FROM kept", 7)
	}

	c, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_, err = c.Exec(t.Context(), "BEGIN; CREATE TABLE half ()")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil { // though somebody is at it
		t.Fatal(err)
	}
	end, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Ping(end); err == nil {
		t.Error("a client of a stopped server is still served")
	}
	_ = c.Close(end)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory after Stop: %v", err)
	}
}

// A directory that was given is kept, and so is what is in it.
func TestServerKeepsItsDirectory(t *testing.T) {
	dir, err := os.MkdirTemp("", "tare-kept-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var log strings.Builder
	for i, query := range []string{"CREATE TABLE kept AS SELECT 7 AS n", "SELECT n FROM kept"} {
		s := must(t, Options{Dir: dir, Sync: i == 1, Log: &log})
		n, err := ask(t.Context(), s.URL(), query)
		if i == 1 && (n != 7 || err != nil) {
			t.Errorf("after another start: %d, error %v", n, err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "ready to accept connections"); n != 2 {
		t.Errorf("the log tells of %d starts, want 2:\n%s", n, log.String())
	}
}

func TestStartRefuses(t *testing.T) {
	if _, err := findPrograms(t.Context()); err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		o    Options
		want string
	}{
		{t.Context(), Options{Port: l.Addr().(*net.TCPAddr).Port}, "could not bind"},
		{ended, Options{}, "context canceled"},
		{t.Context(), Options{Dir: "/dev/null/x"}, "/dev/null"},
	} {
		s, err := Start(c.ctx, c.o)
		if err == nil {
			s.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.o, err, c.want)
		}
	}
}

func TestInstalled(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"half/postgres", "whole/postgres", "whole/initdb", "9.6/bin/postgres", "9.6/bin/initdb", "15/bin/postgres", "15/bin/initdb", "17/bin/postgres"} {
		file := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	for _, c := range []struct{ path, pattern, want string }{
		{list("", root+"/half", root+"/whole"), root + "/*/bin", root + "/whole"},
		{list(root + "/half"), root + "/*/bin", root + "/15/bin"},
		{"", root + "/none/*", ""},
	} {
		dir, ok := findInstalled(c.path, c.pattern)
		if dir != c.want || ok != (c.want != "") {
			t.Errorf("PATH %q, then %s: %q, %v; want %q", c.path, c.pattern, dir, ok, c.want)
		}
	}
}

// log is a T that notes what it is told.
type log struct {
	said  []string
	after []func()
}

func (l *log) Helper()                      {}
func (l *log) Cleanup(f func())             { l.after = append(l.after, f) }
func (l *log) Fatalf(f string, args ...any) { l.say("fatal", f, args) }
func (l *log) Skipf(f string, args ...any)  { l.say("skip", f, args) }
func (l *log) Errorf(f string, args ...any) { l.say("error", f, args) }
func (l *log) say(what, f string, args []any) {
	l.said = append(l.said, what+": "+fmt.Sprintf(f, args...))
	panic(l)
}

// Without a server a test is skipped, unless one is required.
func TestNone(t *testing.T) {
	for required, want := range map[string]string{"": "skip: no PostgreSQL: ", "1": "fatal: no PostgreSQL: "} {
		t.Setenv("TARE_POSTGRES_REQUIRED", required)
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
		t.Setenv("PATH", placeholders(t))
		var l log
		func() {
			defer func() { _ = recover() }()
			New(&l)
		}()
		if len(l.said) != 1 || !strings.HasPrefix(l.said[0], want) {
			t.Errorf("required %q: %q, want %q", required, l.said, want)
		}
	}
	t.Setenv("TARE_POSTGRES", "postgres://elsewhere")
	if url := URL(&log{}); url != "postgres://elsewhere" {
		t.Errorf("URL %s, want that of TARE_POSTGRES", url)
	}
}

// placeholders is a directory with programs that do nothing, so that nothing is downloaded.
func placeholders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
