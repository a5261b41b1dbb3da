package build

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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

// Experiments are part of a toolchain's name and reach the go command as GOEXPERIMENT. Those of the
// user's environment do not.
func TestExperiments(t *testing.T) {
	b := &Builder{Env: []string{"GOEXPERIMENT=arenas", "GOTOOLCHAIN=local"}}
	installed := toolchain{env: map[string]string{"GOVERSION": "go1.26.8", "GOTOOLCHAIN": "local"}}
	keys := map[string]string{} // names of toolchains by their part of the key
	for _, tt := range []struct {
		name string
		env  []string // variables that begin with GOTOOLCHAIN or GOEXPERIMENT
	}{
		{"", []string{"GOTOOLCHAIN=local"}},
		{"go1.26.8", []string{"GOTOOLCHAIN=go1.26.8"}},
		{"go1.26.8+jsonv2", []string{"GOTOOLCHAIN=go1.26.8", "GOEXPERIMENT=jsonv2"}},
		{"go1.27.2+nojsonv2+simd", []string{"GOTOOLCHAIN=go1.27.2", "GOEXPERIMENT=nojsonv2,simd"}},
	} {
		tool := installed.withRelease(tt.name)
		var got []string
		for _, kv := range b.buildEnv(tool, t.TempDir()) {
			if strings.HasPrefix(kv, "GOTOOLCHAIN=") || strings.HasPrefix(kv, "GOEXPERIMENT=") {
				got = append(got, kv)
			}
		}
		if !slices.Equal(got, tt.env) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.env)
		}
		if other, ok := keys[tool.settingsText()]; ok {
			t.Errorf("%q and %q have one key", tt.name, other)
		}
		keys[tool.settingsText()] = tt.name
	}
	if strings.Contains(installed.settingsText(), "GOEXPERIMENT") {
		t.Error("a toolchain without experiments has another key than before there were any")
	}
	for goVersion, want := range map[string]string{
		"go1.26.8": "go1.26.8", "go1.26.8-X:jsonv2": "go1.26.8", "go1.25.5 X:jsonv2": "go1.25.5", "go1.27rc1": "go1.27rc1",
	} {
		if got := releaseOf(goVersion); got != want {
			t.Errorf("%s: %s", goVersion, got)
		}
	}
	for name, want := range map[string]bool{"go1.26.8+jsonv2": true, "go1.26.8": true, "go1.26.8+": false, "go1.26.8+a,b": false, "go1.26+jsonv2": false} {
		if err := (Pin{Go: name}).checkFits(Leaf{}, leafModule{}); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
