// Package examples_test checks that the examples print the text in their want.txt, and that their
// generated files are up to date.
package examples_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/cli"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// examples has the directory of each example, and what it needs in addition to a C compiler.
var examples = []struct {
	dir      string
	tags     string   // build tags
	programs []string // programs that must run
	header   string   // header that must be in /usr/include
	part     string   // program of gcc that must be installed
	linux    bool     // the system must be linux on amd64
}{
	{dir: "person"},
	{dir: "gameobject"},
	{dir: "devicelist"},
	{dir: "frame"},
	{dir: "ring"},
	{dir: "rustlib", tags: "rustlib", programs: []string{"cargo", "rustc"}},
	{dir: "objc", tags: "objc", part: "cc1obj"}, // package gobjc
	{dir: "stat", linux: true},
	{dir: "sqlite", tags: "sqlite", header: "sqlite3.h", programs: []string{"pkg-config"}},
}

// TestExamples copies each example without its generated files, generates them again, compares, and runs
// the program.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a lot")
	}
	for _, e := range examples {
		t.Run(e.dir, func(t *testing.T) {
			testenv.Programs(t, append([]string{"gcc"}, e.programs...)...)
			if _, err := os.Stat(filepath.Join("/usr/include", e.header)); e.header != "" && err != nil {
				t.Skipf("no %s", e.header)
			}
			if e.part != "" && !filepath.IsAbs(strings.TrimSpace(command(t, ".", "gcc", "-print-prog-name="+e.part))) {
				t.Skipf("gcc has no %s", e.part)
			}
			if e.linux && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
				t.Skip("not the system it is for")
			}
			module, err := filepath.Abs("..")
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), e.dir)
			copyFiles(t, dir, e.dir)
			mod := "module " + e.dir + "\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => " + module + "\n"
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
				t.Fatal(err)
			}
			generate(t, dir)
			compareGenerated(t, dir, e.dir)
			got := command(t, dir, "go", "run", "-tags", e.tags, ".")
			want, err := os.ReadFile(filepath.Join(e.dir, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if !matchesOutput(string(want), got) {
				t.Errorf("it prints\n%swant\n%s", got, want)
			}
		})
	}
}

// copyFiles copies the files that are not generated.
func copyFiles(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "target":
			return fs.SkipDir
		case d.IsDir():
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o750)
		case strings.HasPrefix(d.Name(), "z_"):
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// generate runs the commands of the go:generate lines in dir. It calls cgocopy in this process.
func generate(t *testing.T, dir string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		line, ok := strings.CutPrefix(line, "//go:generate ")
		if !ok {
			continue
		}
		args := words(t, line)
		if args[0] != "go" {
			command(t, dir, args[0], args[1:]...)
			continue
		}
		previous, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		var out strings.Builder
		if code := cli.Main(context.Background(), args[3:], &out, &out); code != 0 {
			t.Fatalf("code %d: %s", code, out.String())
		}
		t.Chdir(previous)
	}
}

// words splits the command of a go:generate line, in which words may be quoted.
func words(t *testing.T, line string) []string {
	t.Helper()
	var list []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, rest, _ := strings.Cut(line, " ")
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatal(err)
			}
			rest = line[len(quoted):]
			if word, err = strconv.Unquote(quoted); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, word)
		line = rest
	}
	return list
}

// compareGenerated compares the generated files in dir with those in copied, which were generated now.
func compareGenerated(t *testing.T, copied, dir string) {
	t.Helper()
	names := map[string]bool{}
	for _, d := range []string{copied, dir} {
		list, err := filepath.Glob(filepath.Join(d, "z_*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			names[filepath.Base(path)] = true
		}
	}
	for name := range names {
		fresh, err1 := os.ReadFile(filepath.Join(copied, name))
		existing, err2 := os.ReadFile(filepath.Join(dir, name))
		if err1 != nil || err2 != nil || string(fresh) != string(existing) {
			t.Errorf("%s is out of date: run go generate in %s (%v %v)", name, dir, err1, err2)
		}
	}
	if len(names) == 0 {
		t.Errorf("nothing was generated in %s", dir)
	}
}

// command runs a program and returns its output. It sets -trimpath, so that a build in another directory
// can use the build cache.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath -ldflags=-w -count=1", "GOPROXY=off", "CGO_ENABLED=1")
	var messages strings.Builder
	c.Stderr = &messages
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, messages.String())
	}
	return string(out)
}

// matchesOutput reports whether got equals want, in which an N means any number.
func matchesOutput(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "N", `[0-9.]+`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}
