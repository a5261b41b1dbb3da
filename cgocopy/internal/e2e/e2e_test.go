package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// The go command builds the tested packages. These imports make them dependencies of the test, so
	// that a cached result is not used after they have changed.
	_ "github.com/tarebench/tare/cgocopy"
	_ "github.com/tarebench/tare/cgocopy/cgocopytest"
	_ "github.com/tarebench/tare/cgocopy/internal/cli"
)

// tool is the command under test.
var tool string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cgocopy-whole-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		tool = filepath.Join(dir, "cgocopy")
		args := []string{"build", "-ldflags=-w", "-o", tool}
		if os.Getenv("GOCOVERDIR") != "" {
			args = append(args, "-cover", "-coverpkg=github.com/tarebench/tare/cgocopy/...")
		}
		if out, err := exec.Command("go", append(args, "../../cmd/cgocopy")...).CombinedOutput(); err != nil {
			panic(string(out))
		}
		return m.Run()
	}())
}

// skipIfShort skips the test with -short. need is what makes the test slow.
func skipIfShort(t *testing.T, need string) {
	t.Helper()
	if testing.Short() {
		t.Skip("with -short not: it needs " + need)
	}
}

// module makes a directory with these files, and a go.mod that requires this checkout.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module m\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => " + here + "\n"})
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// output runs a program in dir, with settings in addition to the environment of this process, and returns
// its output. It sets -trimpath, so that a build in another directory can use the build cache.
func output(dir string, settings []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath -ldflags=-w -count=1", "GOPROXY=off", "CGO_ENABLED=1", "CC=", "CXX="), settings...)
	text, err := c.CombinedOutput()
	return string(text), err
}

// mustRun runs a program in dir, fails the test if the program fails, and returns its output.
func mustRun(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	text, err := output(dir, nil, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, clip(text))
	}
	return text
}

// mustReject runs cgocopy in dir and returns its output. It reports a test error unless cgocopy fails with
// exit code 1, prints each text in want, and writes nothing.
func mustReject(t *testing.T, dir string, want []string, args ...string) string {
	t.Helper()
	before := listDir(t, dir)
	text, err := output(dir, nil, tool, args...)
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 1 {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, clip(text))
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: nothing of %q in\n%s", strings.Join(args, " "), w, clip(text))
		}
	}
	if after := listDir(t, dir); after != before {
		t.Errorf("%s: there was %s, and is %s", strings.Join(args, " "), before, after)
	}
	return text
}

// listDir returns the names of the files in dir.
func listDir(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// clip shortens a text for an error message.
func clip(s string) string {
	if len(s) > 4000 {
		return s[:4000] + "…"
	}
	return s
}
