package gatecmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// A part may be as large as the bound, and no larger.
func TestPartsAreBounded(t *testing.T) {
	const most = 1 << 20
	path := filepath.Join(t.TempDir(), "part.json")
	for size, want := range map[int]string{most: "", most + 1: path + " is larger than 1 MiB"} {
		document := `{"schema":"` + gate.Schema + `"}`
		if err := os.WriteFile(path, []byte(document+strings.Repeat(" ", size-len(document))), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readPart(path, most)
		switch {
		case want == "" && err != nil:
			t.Errorf("%d bytes: %v", size, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || cmdenv.ExitCode(err) != cmdenv.ExitUsage):
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}

// A report of a few bytes that takes much memory is refused before it is decoded.
func TestReportMemoryIsBounded(t *testing.T) {
	src := `{"results":[{"trials":[` + strings.Repeat("1,", 4<<20) + "1]}]}"
	if _, err := readReport("x", []byte(src)); err == nil || err.Error() != "x is no report of tare gate: its values take more than 768 MiB of memory" {
		t.Error(err)
	}
}
