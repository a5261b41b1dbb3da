package build

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// What lies in or above the directory of temporary files says nothing about the
// toolchain, and what the go command writes to standard error is no answer.
func TestModuleAmongTemporaryFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("TMPDIR is of Unix")
	}
	above := t.TempDir()
	tmp := filepath.Join(above, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("GOTOOLCHAIN", "auto")
	for _, path := range []string{filepath.Join(tmp, "go.mod"), filepath.Join(above, "go.mod"), filepath.Join(above, "go.work")} {
		if err := os.WriteFile(path, []byte("module example.com/m\n\ngo 1.999.0\n\ntoolchain go1.999.0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tool, err := (&Builder{Cache: t.TempDir()}).loadToolchain(t.Context())
		if err != nil || tool.env["GOVERSION"] == "" {
			t.Errorf("with %s: %v", path, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}
