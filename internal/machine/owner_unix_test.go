//go:build unix

package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// Root also owns what belongs to the user who called sudo; nobody else does.
func TestIsCaller(t *testing.T) {
	for _, c := range []struct {
		owner  uint32
		caller int
		sudo   string
		want   bool
	}{
		{1000, 1000, "", true}, {1000, 1001, "", false}, {0, 1000, "", false}, {0, 0, "", true}, {1000, 0, "", false},
		{1000, 0, "1000", true}, {1001, 0, "1000", false}, {0, 0, "1000", true}, {1000, 1001, "1000", false}, {0, 1000, "0", false},
		{1000, 0, "1000x", false}, {1000, 0, "-1", false}, {4294967295, 0, "4294967295", true}, {0, -1, "", false},
	} {
		if got := isCaller(c.owner, c.caller, c.sudo); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestForeignOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := ForeignOwner(info); got != "" {
		t.Errorf("of the caller: %s", got)
	}
	if err := os.Chown(file, 12345, -1); err != nil {
		t.Skip(err)
	}
	if info, err = os.Lstat(file); err != nil {
		t.Fatal(err)
	}
	if got := ForeignOwner(info); got != "user 12345" {
		t.Errorf("of another: %q", got)
	}
}
