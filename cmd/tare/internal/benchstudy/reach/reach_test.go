package reach_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/reach"
)

const module = `
-- go.mod --
module example.com/m

go 1.25
-- parse/parse.go --
package parse

import "example.com/m/lex"

type Tree struct{ n int }

// String is called by fmt alone.
func (t Tree) String() string { return "tree" }

func (t Tree) Depth() int { return t.n }

func Parse(s string) Tree { return Tree{lex.Count(s)} }

func Format(t Tree) int { return len(lex.Quote("x")) + t.n }

func Walk[T interface{ Depth() int }](t T) int { return t.Depth() }

func unused() int { return 1 }
-- lex/lex.go --
package lex

var hooks = []func() int{hook}

func hook() int { return 1 }

func Count(s string) int { return len(s) }

func Quote(s string) string { return inner(s) }

func inner(s string) string { return func() string { return s }() }

func Late() int { return hooks[0]() }
-- parse/parse_test.go --
package parse

import (
	"fmt"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		Parse("x")
	}
}

func BenchmarkFormat(b *testing.B) {
	for b.Loop() {
		Format(Tree{})
	}
}

func BenchmarkPrint(b *testing.B) {
	for b.Loop() {
		_ = fmt.Sprint([]Tree{{}})
	}
}
-- parse/outer_test.go --
package parse_test

import (
	"testing"

	"example.com/m/parse"
)

func BenchmarkWalk(b *testing.B) {
	for b.Loop() {
		parse.Walk(parse.Tree{})
	}
}
`

// unpacked writes the module with some texts replaced.
func unpacked(t *testing.T, replace ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(module, "\n-- ") {
		name, text, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(text)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Of each change those benchmarks are reached that can run what changed, through
// calls, closures, generic functions, interfaces and variables, and no others
// where only functions changed.
func TestReached(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	base := unpacked(t)
	all := []string{"parse.BenchmarkFormat", "parse.BenchmarkParse", "parse.BenchmarkPrint", "parse_test.BenchmarkWalk"}
	for _, tt := range []struct {
		name    string
		files   []string
		replace []string
		want    []string
	}{
		{"a call in another package", []string{"lex/lex.go"}, []string{"return len(s)", "return len(s) + 1"}, []string{"parse.BenchmarkParse"}},
		{"inside of a closure", []string{"lex/lex.go"}, []string{"{ return s }()", "{ return s + s }()"}, []string{"parse.BenchmarkFormat"}},
		{"a method that fmt finds in a slice", []string{"parse/parse.go"}, []string{`return "tree"`, `return "a tree"`}, []string{"parse.BenchmarkPrint", "parse_test.BenchmarkWalk"}},
		{"a method of a type parameter", []string{"parse/parse.go"}, []string{"return t.n }", "return t.n + 1 }"}, []string{"parse.BenchmarkPrint", "parse_test.BenchmarkWalk"}},
		{"nothing that runs", []string{"parse/parse.go"}, []string{"func unused() int { return 1 }", "func unused() int { return 2 }"}, nil},
		{"a new function", []string{"parse/parse.go"}, []string{"func unused()", "func more() int { return 3 }\n\nfunc unused()"}, nil},
		{"a comment", []string{"parse/parse.go"}, []string{"is called by fmt alone", "is called by fmt"}, nil},
		{"what a variable holds from the start", []string{"lex/lex.go"}, []string{"func hook() int { return 1 }", "func hook() int { return 2 }"}, all},
		{"a variable", []string{"lex/lex.go"}, []string{"var hooks = []func() int{hook}", "var hooks = []func() int{hook, hook}"}, all},
		{"a directive", []string{"lex/lex.go"}, []string{"func Quote", "//go:noinline\nfunc Quote"}, all},
		{"a new method", []string{"parse/parse.go"}, []string{"func unused()", "func (t Tree) GoString() string { return \"\" }\n\nfunc unused()"}, all},
		{"an init function", []string{"lex/lex.go"}, []string{"func Late()", "func init() { hooks = nil }\n\nfunc Late()"}, all},
		{"a benchmark", []string{"parse/parse_test.go"}, []string{"Format(Tree{})", "Format(Tree{2})"}, []string{"parse.BenchmarkFormat"}},
		{"go.mod", []string{"go.mod"}, nil, all},
		{"a file besides", []string{"lex/testdata/x.txt"}, nil, all},
		{"a text", []string{"README.md"}, nil, nil},
	} {
		head := unpacked(t, tt.replace...)
		deps := map[string][]string{"example.com/m/parse": {filepath.Join(head, "lex"), filepath.Join(head, "parse")}}
		r, err := reach.Find(t.Context(), reach.Query{Base: base, Head: head, Files: tt.files, Deps: deps, Dir: head, Env: os.Environ()})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, id := range all {
			if r.ReachesBenchmark("example.com/m/" + id) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if len(got) > 0 && !r.ReachesPackage("example.com/m/parse") {
			t.Errorf("%s: the package is not reached", tt.name)
		}
	}
}

// Where a head does not compile it goes by packages, and says so.
func TestReachedWithoutTypes(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	head := unpacked(t, "return len(s)", "return len(s) + nothing")
	deps := map[string][]string{"example.com/m/parse": {filepath.Join(head, "lex"), filepath.Join(head, "parse")}}
	r, err := reach.Find(t.Context(), reach.Query{Base: unpacked(t), Head: head, Files: []string{"lex/lex.go"}, Deps: deps, Dir: head, Env: os.Environ()})
	if err == nil || !strings.Contains(err.Error(), "goes by packages") || !r.ReachesBenchmark("example.com/m/parse.BenchmarkPrint") {
		t.Errorf("%v", err)
	}
}
