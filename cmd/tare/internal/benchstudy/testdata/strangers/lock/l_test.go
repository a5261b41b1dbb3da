package lock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

var sink int

// It waits until no other process has the file, as databases do.
func TestMain(m *testing.M) {
	name := filepath.Join(os.TempDir(), "tare-strangers.lock")
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = file.Close()
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	code := m.Run()
	_ = os.Remove(name)
	os.Exit(code)
}

func BenchmarkStore(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += i
	}
}
