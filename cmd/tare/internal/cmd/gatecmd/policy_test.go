package gatecmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

func TestReviewsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reviews")
	for size, want := range map[int64]string{maxReviews: "", maxReviews + 1: fmt.Sprintf("%s is larger than 16 MiB", path)} {
		if err := os.WriteFile(path, []byte("accepted\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		text, err := readReviews(path)
		switch {
		case want == "" && (err != nil || int64(len(text)) != size || !strings.HasPrefix(text, "accepted\n")):
			t.Errorf("%d bytes: %d are read, %v", size, len(text), err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || cmdenv.ExitCode(err) != cmdenv.ExitUsage):
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}
