package users_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

// The Trap benchmarks repeat the published mistakes on purpose, one at a time and all
// together. Compare a line with a dagger (†) only with the same face without the mistake.
// The mistakes do not belong to REST: a client that does not reuse connections pays for
// them with any protocol.

func BenchmarkTrap_GinCreateUser(b *testing.B) { measureTraps(b, ginFace, create) }
func BenchmarkTrap_GinGetUser(b *testing.B)    { measureTraps(b, ginFace, get) }

// BenchmarkTrap_GRPCCreateUser uses a store that compares every user, as published. The
// store cost gRPC as much as REST, and more with each iteration.
func BenchmarkTrap_GRPCCreateUser(b *testing.B) {
	b.Run("linear†", func(b *testing.B) { measure(b, grpcFace().withStore(users.Linear()), seeded, create) })
}

// measureTraps measures an operation with each of the mistakes.
func measureTraps(b *testing.B, newFace func() face, do operation) {
	b.Run("fresh†", func(b *testing.B) { measure(b, newFace().withFreshConnections(), seeded, do) })
	b.Run("logged†", func(b *testing.B) { measure(b, newFace().withLog(logFile(b)), seeded, do) })
	b.Run("linear†", func(b *testing.B) { measure(b, newFace().withStore(users.Linear()), seeded, do) })
	b.Run("all†", func(b *testing.B) {
		measure(b, newFace().withFreshConnections().withLog(logFile(b)).withStore(users.Linear()), seeded, do)
	})
}

// withFreshConnections returns f with a new connection for each request, as an HTTP client
// needs that closes a body before it has read it.
func (f face) withFreshConnections() face {
	f.policy = rpc.Fresh
	return f
}

// withLog returns f with a log line for each request. The published servers logged through
// testing.B, several lines for each request.
func (f face) withLog(log io.Writer) face {
	f.log = log
	return f
}

// withStore returns f with another store.
func (f face) withStore(store users.Repository) face {
	f.store = store
	return f
}

// logFile returns a log file that is closed and removed when the test ends.
func logFile(tb testing.TB) io.Writer {
	f, err := os.Create(filepath.Join(tb.TempDir(), "access.log"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

// TestTraps checks that the settings of the Trap benchmarks do what their labels say.
func TestTraps(t *testing.T) {
	const calls = 20
	for name, f := range map[string]face{"kept": ginFace(), "fresh": ginFace().withFreshConnections()} {
		log := logFile(t)
		s := f.withLog(log).withStore(users.Linear()).serve(t, seeded)
		c := s.dial(t, 1)
		for n := range int64(calls) {
			if err := create(t.Context(), c, n); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]int64{"kept": 1, "fresh": calls}[name]
		if n := s.accepted.Load(); n != want {
			t.Errorf("%s: %d connections for %d calls, want %d", name, n, calls, want)
		}
		written, err := os.ReadFile(log.(*os.File).Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, b := range written {
			if b == '\n' {
				lines++
			}
		}
		if lines != calls {
			t.Errorf("%s: %d lines of log for %d calls", name, lines, calls)
		}
		if p, err := c.List(t.Context(), users.Query{Limit: 1}); err != nil || p.Total != seeded+calls {
			t.Errorf("%s: %d users, %v", name, p.Total, err)
		}
	}
}
