package twice

import (
	"os"
	"testing"
)

var backend string
var sink int

// The benchmarks run once for each backend.
func TestMain(m *testing.M) {
	code := 0
	for _, backend = range []string{"a", "b"} {
		code = max(code, m.Run())
	}
	os.Exit(code)
}

func BenchmarkBackend(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += len(backend)
	}
}
