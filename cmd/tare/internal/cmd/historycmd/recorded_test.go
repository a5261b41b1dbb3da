package historycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// What go test -bench printed may be as long as the bound, and no longer.
func TestRecordedIsBounded(t *testing.T) {
	const printed = "goos: linux\ngoarch: amd64\npkg: example.com/m\nBenchmarkX-8   \t 1000\t 120 ns/op\nPASS\n"
	path := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(path, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, refused := range map[int64]bool{int64(len(printed)): false, int64(len(printed)) - 1: true} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := recorded("bench.txt", f, most, t.Cleanup, time.Now())
		switch {
		case refused && (cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), "cannot read bench.txt: more than ")):
			t.Errorf("at most %d: %v", most, err)
		case !refused && (err != nil || out == f):
			t.Errorf("at most %d: nothing was made of it, %v", most, err)
		}
		f.Close()
	}
}
