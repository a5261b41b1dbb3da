package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// TestCheckManyOutputs checks that check compares several outputs in and below a package, skips outputs
// for other machines, and compares the rest if it cannot compare one.
func TestCheckManyOutputs(t *testing.T) {
	skipIfShort(t, "many builds")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{
		"a.h": "struct a { int x, y; struct { short p, q; } in[2]; };\n", "inc/b.h": "struct b { char t[WIDE]; enum { B_ONE = 1 } e; enum colour { RED = 3 } c; union { int i; float f; } u; };\n", "o.c": "struct o { long v; } one;\n",
		"a.go": "package m\n", "sub/sub.go": "package sub\n",
	})
	mustRun(t, dir, "gcc", "-g", "-c", "o.c")
	os.Remove(filepath.Join(dir, "o.c"))
	mustRun(t, dir, tool, "gen", "-type", "a", "a.h")
	mustRun(t, dir, tool, "gen", "-type", "b", "-o", "z_b.go", "-tag", "b.u=,union=e:1:i,2:f", "inc/b.h", "--", "-Iinc", "-DWIDE=8")
	mustRun(t, dir, tool, "gen", "-type", "o", "-o", "z_o.go", "-object", "o.o")
	mustRun(t, dir, tool, "gen", "-type", "b", "-o", "sub/z_cgocopy.go", "-tag", "b.u=-", "inc/b.h", "--", "-DWIDE=4")
	mustRun(t, dir, tool, "gen", "-type", "a", "-o", "z_far.go", "-build", "plan9 && cgo", "a.h")
	mustRun(t, dir, tool, "gen", "-type", "a", "-o", "z_tagged.go", "-build", "special", "a.h")
	mustRun(t, dir, tool, "gen", "-type", "a", "-o", "z_named_freebsd.go", "-no-test", "a.h")
	text := mustRun(t, dir, "go", "test", "-vet=all", "-v", "./...")
	for _, want := range []string{"PASS: TestCgocopy/A", "PASS: TestCgocopyB/B", "ok  \tm/sub"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q in %s", want, text)
		}
	}
	text = mustRun(t, dir, tool, "check")
	for _, want := range []string{"z_far.go: passed over: it is for plan9 && cgo", "z_named_freebsd.go: passed over: it is for the system in its name", "5 checked, all up to date; 2 passed over"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q in %s", want, text)
		}
	}
	// Some outputs have drifted, and one cannot be compared: check reports both.
	write(t, dir, map[string]string{
		"a.h":     "struct a { int y, x; struct { short q, p; } in[2]; };\n",
		"inc/b.h": "struct b { char t[WIDE]; enum { B_ONE = 1 } e; enum colour { RED = 4 } c; union { int i; double f; } u; };\n",
	})
	os.Remove(filepath.Join(dir, "o.o"))
	text, err := output(dir, nil, tool, "check")
	for _, want := range []string{
		"z_cgocopy.go: struct a.x moved from 0 to 4", "z_cgocopy.go: a.in.p moved from 0 to 2", "z_tagged.go: struct a.y moved",
		"z_b.go: enum colour.RED is value 4, not value 3", "z_b.go: struct b.u.f is double, not float", "sub/z_cgocopy.go: enum colour.RED",
		"z_o.go: ", "o.o is not there; build it first", "not everything could be checked", "run go generate",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q in %s", want, text)
		}
	}
	if err == nil {
		t.Error("it passes")
	}
	// A swap in a struct without a name is noticed by the compiler too.
	if text, err := output(dir, nil, "go", "build", "."); err == nil || !strings.Contains(text, "struct a.in[0].p moved; run go generate") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestBeside checks the files next to the first output: gen removes files that are no longer needed, it
// does not touch files of the user, and check reports missing and changed files.
func TestBeside(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"a.h": "struct a { int x; };\n", "m.go": "package m\n"})
	mustRun(t, dir, tool, "gen", "-type", "a", "a.h")
	if got := listDir(t, dir); got != "a.h go.mod m.go z_cgocopy.go z_cgocopy_assert.go z_cgocopy_test.go" {
		t.Error(got)
	}
	mustRun(t, dir, tool, "gen", "-no-test", "-type", "a", "a.h")
	if got := listDir(t, dir); got != "a.h go.mod m.go z_cgocopy.go z_cgocopy_assert.go" {
		t.Error(got)
	}
	write(t, dir, map[string]string{"z_cgocopy_test.go": "package m\n"})
	mustRun(t, dir, tool, "gen", "-no-test", "-type", "a", "a.h")
	write(t, dir, map[string]string{"a.c": "int a;\n"})
	for args, want := range map[string]string{"-type a a.h": "z_cgocopy_test.go", "-type a -o m.go a.h": "m.go", "-type a -no-test -abi a.c a.h": "a.c"} {
		mustReject(t, dir, []string{want + " is there, and cgocopy did not generate it; move it away"}, append([]string{"gen"}, strings.Fields(args)...)...)
	}
	for name, want := range map[string]string{"z_cgocopy_test.go": "package m\n", "m.go": "package m\n", "a.c": "int a;\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("a file of the user's own: %q, %v", data, err)
		}
	}
	write(t, dir, map[string]string{"z_cgocopy_assert.go": "package m\n"})
	if text, err := output(dir, nil, tool, "check"); err == nil || !strings.Contains(text, "z_cgocopy_assert.go next to it is not what is generated") {
		t.Errorf("%v: %s", err, text)
	}
	os.Remove(filepath.Join(dir, "z_cgocopy_assert.go"))
	if text, err := output(dir, nil, tool, "check"); err == nil || !strings.Contains(text, "z_cgocopy_assert.go is missing next to it") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestFilled checks that the generated test fails after a change of the C declaration, and is skipped if
// there is no compiler.
func TestFilled(t *testing.T) {
	skipIfShort(t, "many builds")
	t.Parallel()
	testenv.Programs(t, "gcc")
	header := "#include <stdint.h>\nstruct a { const int32_t x; int32_t y; uint8_t small[3][2]; char text[1], more[2][3]; unsigned b : 4; int s : 1; _Bool on; void *p; int n; char *list; union { int i; float f; }; int kind; };\n"
	dir := module(t, map[string]string{"a.h": header, "a.go": "package m\n"})
	mustRun(t, dir, tool, "gen", "-type", "a", "-tag", "a.list=,len=n", "-tag", "a.i=,union=kind:3:i,4:f", "a.h")
	os.Remove(filepath.Join(dir, "z_cgocopy_assert.go"))
	if text := mustRun(t, dir, "go", "test", "-v", "."); !strings.Contains(text, "PASS: TestCgocopy/A2") {
		t.Error(text)
	}
	if text, err := output(dir, []string{"CC=no-such-compiler"}, "go", "test", "-v", "."); err != nil || !strings.Contains(text, "SKIP: TestCgocopy") || !strings.Contains(text, "no-such-compiler") {
		t.Errorf("without a compiler: %v: %s", err, text)
	}
	// Where the package does not compile, its test does not pass either.
	if _, err := output(dir, []string{"GOARCH=386", "CGO_ENABLED=0"}, "go", "build", "."); err == nil {
		if text, err := output(dir, []string{"GOARCH=386", "CGO_ENABLED=0"}, "go", "test", "-v", "."); err == nil && !strings.Contains(text, "TestCgocopy") {
			t.Errorf("for another processor: %s", text)
		}
	}
	write(t, dir, map[string]string{"a.h": strings.Replace(header, "const int32_t x; int32_t y;", "int32_t y; const int32_t x;", 1)})
	text, err := output(dir, nil, "go", "test", ".")
	if err == nil || !strings.Contains(text, "X is ") || !strings.Contains(text, "as C filled it") {
		t.Errorf("%v: %s", err, text)
	}
	write(t, dir, map[string]string{"a.h": strings.Replace(header, "int n;", "int n; char more_of_it[64];", 1)})
	text, err = output(dir, nil, "go", "test", ".")
	if err == nil || !strings.Contains(text, "run go generate") {
		t.Errorf("%v: %s", err, text)
	}
}
