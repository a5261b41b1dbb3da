// Package postgrestest starts a PostgreSQL server for tests, on loopback, in a
// directory of its own, and ends it with them:
//
//	func TestStore(t *testing.T) {
//		url := postgrestest.URL(t)
//
// The server is the first of these that can be had:
//
//   - for [URL], the one at TARE_POSTGRES, which is left as it is;
//   - the programs postgres and initdb of PATH or of /usr/lib/postgresql/*/bin,
//     where Debian puts them;
//   - programs downloaded from Maven Central, which are kept for the next time.
//
// PostgreSQL refuses to run as root: root starts it as the user postgres or, where
// there is none, as nobody. Where none can be had the test is skipped, with the
// reason; where TARE_POSTGRES_REQUIRED is 1 it fails.
package postgrestest

import (
	"context"
	"os"
	"time"
)

// T is what is needed of a testing.TB.
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Errorf(format string, args ...any)
}

// URL is that of a server for as long as the test runs, as pgx and libpq take it.
// Others may use the same one.
func URL(t T) string {
	t.Helper()
	if url := os.Getenv("TARE_POSTGRES"); url != "" {
		return url
	}
	return New(t).URL()
}

// New starts a server that belongs to the test, which may end it.
func New(t T) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s, err := Start(ctx, Options{})
	if err != nil {
		if os.Getenv("TARE_POSTGRES_REQUIRED") == "1" {
			t.Fatalf("no PostgreSQL: %v", err)
		}
		t.Skipf("no PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return s
}
