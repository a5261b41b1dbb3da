package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store/postgrestest"
)

// A server that takes in connections and says nothing is left with the context.
func TestPostgresSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := Open(ctx, fmt.Sprintf("postgres://a:b@%s/c?sslmode=disable", l.Addr()), 1)
	if err == nil {
		r.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// The tests of a server in trouble share one that is theirs.
func TestPostgresInTrouble(t *testing.T) {
	server := postgrestest.New(t)
	t.Run("killed and restarted", func(t *testing.T) { killedAndRestarted(t, server) })
	t.Run("hangs", func(t *testing.T) { hangs(t, server) })
}

// While the server is gone calls fail at once, and none hangs. When it is back all
// that was created is there, and calls work.
func killedAndRestarted(t *testing.T, server *postgrestest.Server) {
	r := open(t, users.Temporary+server.URL(), 100) // as it is, without the kind of the store before it
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var next, failed atomic.Int64
	var mu sync.Mutex
	created := map[int64]bool{}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				u, err := r.Create(ctx, users.Draft{Name: "Ada Lund", Email: fmt.Sprintf("%d@example.com", next.Add(1))}, time.Unix(1, 0))
				if errors.Is(err, context.DeadlineExceeded) {
					t.Error("a call hung")
					return
				}
				if err != nil {
					failed.Add(1)
					continue
				}
				mu.Lock()
				created[u.ID] = true
				mu.Unlock()
			}
		})
	}
	soon := func(what string, n *atomic.Int64) {
		t.Helper()
		for from := n.Load(); n.Load() < from+20; {
			if ctx.Err() != nil {
				t.Fatal(what)
			}
			time.Sleep(time.Millisecond)
		}
	}
	soon("nobody is created", &next)
	for range 2 {
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		soon("no call fails without a server", &failed)
		if _, err := r.Get(ctx, users.FirstID); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("get without a server: error %v, want one line", err)
		}
		if err := server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Get(ctx, users.FirstID); err != nil {
			t.Errorf("get from the server that is back: %v", err)
		}
	}
	close(stop)
	all.Wait()
	for id := range created {
		if _, err := r.Get(ctx, id); err != nil {
			t.Fatalf("user %d of %d who were created: %v", id, len(created), err)
		}
	}

	// Nobody called while it was away: one call finds that out, or a reset, which
	// tries again by itself.
	for range 2 {
		if err := errors.Join(server.Kill(), server.Restart(ctx)); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Get(ctx, users.FirstID)
		if _, err := r.Get(ctx, users.FirstID); err != nil {
			t.Errorf("the second call: %v", err)
		}
	}
	// A store that opens meanwhile waits for it.
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		other, err := Open(ctx, users.Temporary+server.URL(), 100)
		if err == nil {
			err = other.Close()
		}
		opened <- err
	}()
	time.Sleep(150 * time.Millisecond) // it is refused at least once
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("open while the server is being restarted: %v", err)
	}
	if err := r.Reset(ctx, 100); err != nil {
		t.Errorf("reset on the server that is back: %v", err)
	}
	if _, total, err := r.List(ctx, "", 0, 1); err != nil || total != 100 {
		t.Errorf("%d users, error %v; want 100", total, err)
	}
}

// A server that stops in the middle is waited for until the context ends, and for
// its grace. The next call is not kept waiting by it.
func hangs(t *testing.T, server *postgrestest.Server) {
	r := open(t, users.Temporary+with(server.URL(), "pool_max_conns=1"), 100)
	var pid int // of the process that serves the only connection
	if err := r.(*postgres).pool.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	freeze(t, pid)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Get(ctx, users.FirstID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	next, cancel := context.WithTimeout(t.Context(), 10*time.Second) // pgx alone would keep the place of the former connection for longer
	defer cancel()
	if u, err := r.Get(next, users.FirstID); err != nil || u != users.Seeded(0) {
		t.Errorf("the next call: %v, error %v", u, err)
	}
}
