// Package postgrestest starts a PostgreSQL server for a test, on loopback and in a temporary directory:
//
//	func TestStore(t *testing.T) {
//		url := postgrestest.URL(t)
//
// The first available of these is used:
//
//   - for [URL], the server at the URL in TARE_POSTGRES, which keeps running;
//   - postgres and initdb of PATH or of /usr/lib/postgresql/*/bin, as in Debian;
//   - programs downloaded from Maven Central, which are stored for the next time.
//
// PostgreSQL does not run as root, so root starts it as the user postgres or nobody. Without a server the
// test is skipped, or fails if TARE_POSTGRES_REQUIRED is 1.
package postgrestest

import (
	"context"
	"os"
	"time"
)

// T contains the methods of testing.TB that this package uses.
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Errorf(format string, args ...any)
}

// URL returns the URL of a server until the test ends, for pgx and libpq. With TARE_POSTGRES other tests may
// share it.
func URL(t T) string {
	t.Helper()
	if url := os.Getenv("TARE_POSTGRES"); url != "" {
		return url
	}
	return New(t).URL()
}

// New starts a server that only this test uses. The test may stop it.
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
