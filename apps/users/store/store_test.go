package store

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/userstest"
)

func open(t *testing.T, name string, n int) users.Repository {
	t.Helper()
	r, err := Open(t.Context(), name, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	})
	return r
}

func TestSQLiteConforms(t *testing.T) {
	templates := t.TempDir()
	userstest.Repository(t, func(t *testing.T) users.Repository {
		return open(t, "sqlite:"+filepath.Join(t.TempDir(), "users.db")+"?template="+templates, 0)
	})
}

func TestOpen(t *testing.T) {
	for _, name := range []string{"memory", "linear", "sqlite:" + filepath.Join(t.TempDir(), "a b%20?c#d.db")} {
		r := open(t, name, 3)
		found, total, err := r.List(t.Context(), "", 0, 10)
		if err != nil || total != 3 || len(found) != 3 || found[2] != users.Seeded(2) {
			t.Errorf("%s: %v, %d in all, error %v; want 3 seeded users", name, found, total, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"redis:here":                       "no such store",
		"sqlite":                           "names no file",
		"sqlite:":                          "names no file",
		"sqlite::memory:":                  "names no file",
		"sqlite:/nowhere/at/all/x.db":      "open SQLite file /nowhere/at/all/x.db",
		"sqlite:" + t.TempDir():            "open SQLite file",
		"postgres:what is this":            "open PostgreSQL",
		"postgres://a:b@127.0.0.1:1/x?y=z": "open PostgreSQL",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a server that refuses is waited for
		r, err := Open(ctx, name, 1)
		cancel()
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want a line with %q", name, err, want)
		}
	}
	if r, err := Open(t.Context(), "memory", -1); err == nil {
		r.Close()
		t.Error("-1 users are no error")
	}
}

// closed wants that nothing works after Close, and that it can be called again.
func closed(t *testing.T, r users.Repository) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, at := context.Background(), users.Seeded(0).CreatedAt
	_, created := r.Create(ctx, users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, at)
	_, got := r.Get(ctx, users.FirstID)
	_, updated := r.Update(ctx, users.FirstID, users.Draft{Name: "Ada Lund", Email: "ada@example.com"}, at)
	_, _, listed := r.List(ctx, "", 0, 10)
	for call, err := range map[string]error{"create": created, "get": got, "update": updated, "list": listed, "delete": r.Delete(ctx, users.FirstID), "reset": r.Reset(ctx, 1)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after close: %v, want ErrClosed", call, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

// leavesNothingRunning wants that f leaves no goroutine, those aside that are about to end.
func leavesNothingRunning(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	f()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, were %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
