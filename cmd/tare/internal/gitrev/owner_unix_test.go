//go:build unix

package gitrev_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// TestForeignRepository finds a repository of another user, which git does not trust.
func TestForeignRepository(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	dir := repository(t)
	t.Setenv("HOME", t.TempDir()) // without a safe.directory of the user
	const nobody = 65534
	for _, path := range []string{dir, dir + "/.git"} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Skip(err)
		}
	}
	if _, err := gitrev.Find(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "git config --global --add safe.directory "+dir) {
		t.Errorf("error %v, want one with the command that trusts the repository", err)
	}
}
