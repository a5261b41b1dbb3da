package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what only another system's file has wrong is found, in tests too, and what
// is right there is not called wrong.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.org/p\n\ngo 1.25\n",
		"p.go":              "package p\n\nimport \"net/http\"\n\nvar Get = http.Get\n",
		"p_windows.go":      "package p\n\nvar wrong int = \"on Windows\"\n",
		"p_windows_test.go": "package p\n\nvar _ = missing\n",
		"p_darwin.go":       "package p\n\nimport \"syscall\"\n\nvar Kqueue = syscall.Kqueue\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	for goos, want := range map[string][]string{"darwin": nil, "windows": {"p_windows.go:3:17", "p_windows_test.go:3:9"}} {
		_, faults, err := checkPackages(dir, goos, "amd64", "./...")
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) != len(want) {
			t.Errorf("%s: %v, want %d errors", goos, faults, len(want))
			continue
		}
		for i, f := range faults {
			if !strings.Contains(f.Pos, want[i]) {
				t.Errorf("%s: %v, want one at %s", goos, f, want[i])
			}
		}
	}
}
