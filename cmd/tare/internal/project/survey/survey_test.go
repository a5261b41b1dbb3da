package survey_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/project/survey"
)

// lay makes a tree of files; benchmarks in test files come as their names.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if strings.HasSuffix(name, "_test.go") && !strings.Contains(text, "package") {
			text = "package x\n\nimport \"testing\"\n\nfunc " + text + "(b *testing.B) {}\n"
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func look(t *testing.T, files map[string]string) survey.Survey {
	t.Helper()
	dir := lay(t, files)
	s, err := survey.Look(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBenchmarksBelongToTheirModules(t *testing.T) {
	s := look(t, map[string]string{
		"go.work": "use (\n\t.\n\t./tools\n)\n", "go.mod": "module example.com/top\n", "a_test.go": "BenchmarkTop", "in/b_test.go": "BenchmarkIn",
		"tools/go.mod": "module \"example.com/tools\"\n", "tools/x/c_test.go": "BenchmarkTools", "in/_skip/d_test.go": "BenchmarkNot", "in/.hid/d_test.go": "BenchmarkNot",
		"in/e_windows_test.go": "BenchmarkThere", "in/f_test.go": "//go:build never && ever\n\npackage x\n\nfunc BenchmarkNever(b *testing.B) {}\n",
	})
	var got []string
	for _, b := range s.Benchmarks {
		got = append(got, fmt.Sprintf("%s %s:%d %s", b.ID(), b.File, b.Line, b.Needs))
	}
	want := []string{
		"example.com/tools/x.BenchmarkTools tools/x/c_test.go:5 ",
		"example.com/top.BenchmarkTop a_test.go:5 ",
		"example.com/top/in.BenchmarkIn in/b_test.go:5 ",
		"example.com/top/in.BenchmarkThere in/e_windows_test.go:5 another platform",
		"example.com/top/in.BenchmarkNever in/f_test.go:5 never && ever",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []survey.Module{{Dir: ".", Path: "example.com/top"}, {Dir: "tools", Path: "example.com/tools"}}; !reflect.DeepEqual(s.Modules, want) {
		t.Errorf("modules %v", s.Modules)
	}
	p, err := project.Parse("tare.yaml", s.Draft())
	if err != nil || !slices.Equal(p.Bench.Packages, []string{"./...", "./tools/..."}) {
		t.Errorf("packages %q, %v", p.Bench.Packages, err)
	}
}

// Tags are suggested if a user can set them: no platforms, and nothing of the toolchain.
func TestTagsThatAUserCanSet(t *testing.T) {
	files := map[string]string{"go.mod": "module example.com/top\n"}
	for i, tag := range []string{"windows", "plan9", "riscv64", "ignore", "unix", "go1.99", "boringcrypto", "integration", "my_linux"} {
		files[fmt.Sprintf("f%d_test.go", i)] = "//go:build " + tag + "\n\npackage x\n\nfunc BenchmarkX(b *testing.B) {}\n"
	}
	if draft := string(look(t, files).Draft()); !strings.Contains(draft, "# tags: [integration, my_linux]\n") {
		t.Errorf("tags of\n%s", draft)
	}
}

func TestFixturesAreTheLargestOfTests(t *testing.T) {
	files := map[string]string{"package.json": strings.Repeat("x", 9999), "testdata/small.json": "{}"}
	for i := range 7 {
		files[fmt.Sprintf("a/fixtures/%d.json", i)] = strings.Repeat("x", 1000+i)
	}
	s := look(t, files)
	if len(s.JSON) != 5 || s.JSON[0] != (survey.Fixture{Path: "a/fixtures/6.json", Bytes: 1006}) || s.JSON[4].Bytes != 1002 {
		t.Errorf("%v", s.JSON)
	}
}

func TestLargeFilesAreLeftOut(t *testing.T) {
	fill := strings.Repeat("\n", 1<<20)
	if s := look(t, map[string]string{"go.mod": "module m\n" + fill}); len(s.Modules) != 0 {
		t.Errorf("%+v", s)
	}
	fill = fill[100:]
	if s := look(t, map[string]string{"go.mod": "module m\n" + fill}); len(s.Modules) != 1 {
		t.Errorf("%+v", s)
	}
}

// Whatever a repository is like, its draft is a project that asks for what
// tare would have asked for without it.
func TestDraftsParse(t *testing.T) {
	many := map[string]string{"go.mod": "module m\n"}
	for i := range 12 {
		many[fmt.Sprintf("p%02d/x_test.go", i)] = "BenchmarkX"
	}
	for name, files := range map[string]map[string]string{
		"nothing":        {},
		"one":            {"go.mod": "module m\n", "x_test.go": "BenchmarkX"},
		"many packages":  many,
		"needs a tag":    {"go.mod": "module m\n", "x_test.go": "//go:build integration\n\npackage x\n\nfunc BenchmarkX(b *testing.B) {}\n"},
		"odd names":      {"go.mod": "module m\n", "a b: [c]\n#/x_test.go": "BenchmarkX", "testdata/a\n- b.json": strings.Repeat("x", 999)},
		"a branch":       {".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/feature/#1\n"},
		"no such branch": {".git/refs/remotes/origin/HEAD": "0123456789\n"},
		"studies":        {"a.yaml": "---\n# x\nstudy: a\n", "b c.yml": "study: b\n", "d.yaml": "kind: Deployment\n"},
		"a server":       {"go.mod": "module m\n", "cmd/api/main.go": "// Command api.\npackage main\n\nfunc main() { http.ListenAndServe(addr, nil) }\n", "api/openapi.yaml": "openapi: 3.1.0\n"},
		"a bad go.mod":   {"go.mod": "modul\n", "x_test.go": "BenchmarkX"},
	} {
		s := look(t, files)
		p, err := project.Parse("tare.yaml", s.Draft())
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, s.Draft())
			continue
		}
		want := project.Default(".")
		want.File = "tare.yaml"
		if s.Branch != "" {
			want.Gate.Base += " " + s.Branch
		}
		if !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %+v\nwant %+v", name, p, want)
		}
	}
	if s := look(t, many); !strings.Contains(string(s.Draft()), "#   and 4 packages more\n") {
		t.Errorf("not all packages are counted\n%s", s.Draft())
	}
}

// Commands that listen and OpenAPI documents are found; libraries, commands
// that do not listen and other YAML are not.
func TestServersAndRoutes(t *testing.T) {
	const serves = "\nfunc main() { http.ListenAndServe(addr, nil) }\n"
	s := look(t, map[string]string{
		"go.mod": "module m\n", "main.go": "package main\n" + serves, "cmd/a/serve.go": "// Command a.\npackage main\n" + serves, "cmd/b/main.go": "package main\n", "cmd/c/c.go": "package c\n" + serves,
		"internal/x.go": "package main\n" + serves, "testdata/cmd/d/main.go": "package main\n" + serves,
		"api/v1.yml": "# ours\nopenapi: 3.0.0\n", "docs/swagger.json": "{}", "deploy.yaml": "kind: Deployment\n", "testdata/openapi.yaml": "openapi: 3.0.0\n",
	})
	if !slices.Equal(s.Servers, []string{"cmd/a", "."}) || !slices.Equal(s.Routes, []string{"api/v1.yml", "docs/swagger.json"}) {
		t.Errorf("servers %q, routes %q", s.Servers, s.Routes)
	}
	for _, want := range []string{"# found: cmd/a, .\n", "#   - program: cmd/a\n", "# found: api/v1.yml, docs/swagger.json\n# routes: [api/v1.yml]\n"} {
		if draft := string(s.Draft()); !strings.Contains(draft, want) {
			t.Errorf("%q is not in the draft\n%s", want, draft)
		}
	}
}
