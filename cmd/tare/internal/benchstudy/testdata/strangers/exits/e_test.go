package exits

import (
	"os"
	"testing"
)

// It needs a database that is not there, and says so by success.
func TestMain(m *testing.M) {
	if os.Getenv("NO_SUCH_DATABASE") == "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func BenchmarkQuery(b *testing.B) {
	for range b.N {
	}
}
