// Package postgrestest starts a PostgreSQL server for tests, on loopback, in a
// directory of its own, and ends it with them:
//
//	func TestStore(t *testing.T) {
//		url := postgrestest.URL(t)
//
// The server is the first available one of these:
//
//   - for [URL], the one at TARE_POSTGRES, which stays as it is;
//   - the programs postgres and initdb of PATH or of /usr/lib/postgresql/*/bin,
//     where Debian puts them;
//   - programs downloaded from Maven Central, which are stored for the next time.
//
// PostgreSQL does not run as root: root starts it as the user postgres or, if that does
// not exist, as the user nobody. If no server is available the test is skipped, with the reason;
// if TARE_POSTGRES_REQUIRED is 1 it fails.
package postgrestest

import (
	"context"
	"os"
	"time"
)

// T contains the needed methods of testing.TB.
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Errorf(format string, args ...any)
}

// URL returns the URL of a server for as long as the test runs, as pgx and libpq take it. Other
// tests may use the same one.
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
