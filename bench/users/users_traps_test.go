package users_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

// What was published wrong, one mistake at a time and all at once: a line with a
// dagger (†) repeats it on purpose, and is not to be compared with anything but
// the same face without it. The mistake is not REST's: a client that throws its
// connections away pays for them over any protocol.

func BenchmarkTrap_GinCreateUser(b *testing.B) { trapped(b, ginFace, create) }
func BenchmarkTrap_GinGetUser(b *testing.B)    { trapped(b, ginFace, get) }

// BenchmarkTrap_GRPCCreateUser has a store that looks at every user, as
// published: it cost gRPC as much, and grew with the iterations.
func BenchmarkTrap_GRPCCreateUser(b *testing.B) {
	b.Run("linear†", func(b *testing.B) { measure(b, grpcFace().over(users.Linear()), seeded, create) })
}

// trapped runs an operation as each of the mistakes has it.
func trapped(b *testing.B, of func() face, do operation) {
	b.Run("fresh†", func(b *testing.B) { measure(b, of().fresh(), seeded, do) })
	b.Run("logged†", func(b *testing.B) { measure(b, of().logged(logFile(b)), seeded, do) })
	b.Run("linear†", func(b *testing.B) { measure(b, of().over(users.Linear()), seeded, do) })
	b.Run("all†", func(b *testing.B) {
		measure(b, of().fresh().logged(logFile(b)).over(users.Linear()), seeded, do)
	})
}

// fresh is the face asked over a new connection for each request, as by an HTTP
// client that closes a body it has not read.
func (f face) fresh() face {
	f.policy = rpc.Fresh
	return f
}

// logged is the face with a line of log for each request. Published was one to a
// terminal, which costs more: a file is the nearest that a benchmark has.
func (f face) logged(to io.Writer) face {
	f.log = to
	return f
}

// over is the face over another store.
func (f face) over(store users.Repository) face {
	f.store = store
	return f
}

func logFile(tb testing.TB) io.Writer {
	f, err := os.Create(filepath.Join(tb.TempDir(), "access.log"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

// TestTraps: what they are labelled with is what they do.
func TestTraps(t *testing.T) {
	const calls = 20
	for name, f := range map[string]face{"kept": ginFace(), "fresh": ginFace().fresh()} {
		log := logFile(t)
		s := f.logged(log).over(users.Linear()).serve(t, seeded)
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
