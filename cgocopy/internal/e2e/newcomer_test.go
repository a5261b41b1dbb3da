package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// TestAllInOneRun checks that one run names all faults of types, members, tags and functions, with the
// paths of files as the user wrote them.
func TestAllInOneRun(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{
		"inc/b.h":   "struct ld { long double x; };\nstruct un { int k; union { int a; float b; } u; union { struct { int lo; }; long all; }; };\nstruct hidden;\nvoid two(void *a, int b);\n",
		"sub/a.go":  "package sub\n\ntype LD struct{ X float64 }\n",
		"broken.h":  "#include \"inc/b.h\"\nstruct x { int a int b; };\n",
		"deep/in.h": "#include \"nowhere.h\"\n",
	})
	text := mustReject(t, dir, []string{
		"no type Missing, nothing in inc/b.h; say the name",
		"type hidden is declared but not defined in inc/b.h; name the header",
		"no function none in inc/b.h; name the header",
		"un.u: free=two: it is no function of one pointer",
		"inc/b.h:1: ld.x (long double) is a number of 16 bytes, for which Go has no type; leave it out with -tag 'ld.x=-'",
		"inc/b.h:2: un.u (union without a name) is counted by kk, which is no number next to it; numbers there: k",
		"inc/b.h:2: un.lo (union without a name) is a union, and C does not say which member holds",
	}, "gen", "-type", "ld,un,Missing,hidden,nothing", "-tag", "un.u=union=kk:0:a,free=two", "-tag", "Missing.x=-", "-func", "none(out)", "inc/b.h")
	if n := strings.Count(text, "\n"); n != 7 {
		t.Errorf("%d lines: %s", n, text)
	}
	mustReject(t, dir, []string{"sub/a.go:3: LD.X (float64) cannot take struct ld.x (long double, inc/b.h:1), which is a number of 16 bytes", "no type Missing in inc/b.h"}, "bind", "-go", "sub", "-type", "LD=ld,LD2=Missing", "inc/b.h")
	mustReject(t, dir, []string{"broken.h:2:18: "}, "gen", "-type", "x", "broken.h")
	mustReject(t, dir, []string{"deep/in.h:1:10: "}, "gen", "-type", "x", "deep/in.h")
	mustRun(t, dir, tool, "gen", "-o", "sub/z_un.go", "-type", "un", "-tag", "un.u=-", "-tag", "un.lo=-", "inc/b.h")
	write(t, dir, map[string]string{"inc/b.h": "struct un { int k; union { int a; float b; } u, v; };\n"})
	if text, err := output(dir, nil, tool, "check"); err == nil || !strings.Contains(text, "sub/z_un.go: inc/b.h:1: un.v (union without a name) is a union") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestCompilers checks that gcc and clang describe a header in the same way, so that check with one
// accepts files that were generated with the other.
func TestCompilers(t *testing.T) {
	skipIfShort(t, "a second compiler builds all again")
	t.Parallel()
	testenv.Programs(t, "gcc", "clang")
	dir := module(t, map[string]string{"a.h": `#include <stddef.h>
#include <stdint.h>
#include <wchar.h>
typedef enum { ONE, TWO } Count;
typedef enum { NONE = -1 } Other;
typedef struct {
	short s; unsigned short us; long l; unsigned long ul; long long ll; unsigned long long ull; signed char sc; unsigned char uc; char c; _Bool b;
	size_t z; wchar_t w; Count n; Other o; unsigned long wide : 40; short part : 3; const char *const *texts; int (*call)(long, unsigned short);
	union { struct { int lo, hi; }; long long whole; }; struct { short a, b; } in[2]; float m[2][3];
} All;
unsigned long long ask(unsigned long a, short b);
`, "a.c": "#include \"a.h\"\nunsigned long long ask(unsigned long a, short b) { return a + b; }\n"})
	mustRun(t, dir, tool, "gen", "-type", "All", "-pkg", "m", "-tag", "All.texts=len=n", "-tag", "All.lo=union=n:0:whole", "-func", "ask(a, b) error", "a.h")
	for _, compiler := range []string{"gcc", "clang"} {
		if text, err := output(dir, []string{"CC=" + compiler}, tool, "check"); err != nil {
			t.Errorf("%s: %v: %s", compiler, err, text)
		}
		if text, err := output(dir, []string{"CC=" + compiler}, "go", "test", "."); err != nil {
			t.Errorf("%s: %v: %s", compiler, err, text)
		}
	}
}

// TestGuard checks that a flat generated type does not compile after an edit, or for a processor with
// another layout, and that ToC does not change omitted members.
func TestGuard(t *testing.T) {
	skipIfShort(t, "a program of its own")
	t.Parallel()
	testenv.Programs(t, "gcc")
	const program = `package main

import (
	"fmt"
	"unsafe"
)

func main() {
	raw := [4]uint64{1, 2, 3, 4}
	var h Hole
	fmt.Println(h.FromC(unsafe.Pointer(&raw)), h.A, h.C)
	h = Hole{A: 9, C: [2]float64{1, 2}}
	fmt.Println(h.ToC(unsafe.Pointer(&raw)), raw[0] == 9|7<<32)
}
`
	dir := module(t, map[string]string{
		"a.h":     "#include <stdint.h>\nstruct flat { int32_t a; int64_t b; uint32_t c[2]; };\nstruct hole { int32_t a; int32_t secret; double c[2]; uint8_t end, more; };\n",
		"main.go": strings.Replace(program, "{1, 2,", "{1 | 7<<32, 2,", 1),
	})
	mustRun(t, dir, tool, "gen", "-type", "flat,hole", "-tag", "hole.secret=-", "-tag", "hole.more=-", "a.h")
	mustRun(t, dir, "go", "test", "-vet=all", ".")
	if text := mustRun(t, dir, "go", "run", "."); text != "<nil> 1 [1e-323 1.5e-323]\n<nil> true\n" {
		t.Error(text)
	}
	made, err := os.ReadFile(filepath.Join(dir, "z_cgocopy.go"))
	if err != nil {
		t.Fatal(err)
	}
	for old, edited := range map[string]string{"B int64 ": "B uint64", "A int32  ": "A int32\nD int32\n", "C [2]uint32": "C [3]uint32"} {
		write(t, dir, map[string]string{"z_cgocopy.go": strings.Replace(string(made), old, edited, 1)})
		if text, err := output(dir, nil, "go", "build", "."); err == nil || !strings.Contains(text, "z_cgocopy.go:") {
			t.Errorf("%s: %v: %s", edited, err, text)
		}
	}
	write(t, dir, map[string]string{"z_cgocopy.go": string(made)})
	if testing.Short() {
		return // what follows needs a standard library for 386
	}
	if text, err := output(dir, []string{"GOARCH=386", "CGO_ENABLED=0"}, "go", "build", "."); err == nil || !strings.Contains(text, "unsafe.Offsetof(Flat{}.B)") {
		t.Errorf("for 386: %v: %s", err, text)
	}
}

// TestElsewhere checks go generate in several directories, with outputs and headers in others, and outputs
// for two processors in a package.
func TestElsewhere(t *testing.T) {
	skipIfShort(t, "builds for two processors")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{
		"include/g.h": "struct g { long n; const char *t; };\n", "a dir/s.h": "struct s { int a, b; };\n",
		"top.go":        "package m\n\n//go:generate " + tool + " gen -type s \"a dir/s.h\" -- \"-Ia dir\"\n//go:generate " + tool + " bind -go sub -type Mine=s s.h -- \"-Ia dir\"\n",
		"sub/sub.go":    "package sub\n\ntype Mine struct{ A, B int }\n\n//go:generate " + tool + " gen -type g ../include/g.h\n//go:generate " + tool + " gen -type g -o in/z_g.go g.h -- -I../include\n",
		"sub/in/in.go":  "package in\n",
		"flags/a.h":     "#ifdef FROM_GO\nstruct a { int x; };\n#endif\n",
		"flags/f.go":    "package flags\n\n// #cgo CFLAGS: -Iown\n// #cgo linux,arm64 CFLAGS: -DFROM_GO\n// #cgo !arm64 CFLAGS: -DFROM_GO\nimport \"C\"\n\nvar _ C.struct_a\n",
		"flags/more.go": "package flags\n\n// #include \"a.h\"\n// #include \"b.h\"\nimport \"C\"\n",
		"flags/own/b.h": "struct b { char c; };\n",
	})
	mustRun(t, dir, "go", "generate", "./...")
	mustRun(t, dir, tool, "gen", "-o", "flags/z_a.go", "-type", "a,b", "flags/a.h", "b.h")
	for _, from := range []string{".", "sub", "sub/in", "flags"} {
		mustRun(t, filepath.Join(dir, from), tool, "check")
	}
	if text := mustRun(t, os.TempDir(), tool, "check", dir); !strings.Contains(text, "5 checked, all up to date") {
		t.Error(text)
	}
	write(t, dir, map[string]string{"flags/more.go": "package flags\n"})
	os.Remove(filepath.Join(dir, "flags", "f.go"))
	mustRun(t, dir, "go", "test", "-vet=all", ".", "./sub/...")
	mustReject(t, dir, []string{"z_linux_arm64.go is for linux && arm64, and the compiler makes code for "}, "gen", "-o", "z_linux_arm64.go", "-type", "s", "a dir/s.h", "--", "-m64")
	const far = "aarch64-linux-gnu-gcc"
	testenv.Programs(t, far)
	if text, err := output(dir, []string{"CC=" + far}, tool, "gen", "-pkg", "in", "-o", "sub/in/z_a_linux_arm64.go", "-type", "s", "a dir/s.h"); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	mustRun(t, dir, tool, "gen", "-pkg", "in", "-o", "sub/in/z_a_linux_amd64.go", "-type", "s", "a dir/s.h")
	mustRun(t, dir, "go", "vet", "./sub/in")
	if text, err := output(dir, []string{"GOARCH=arm64", "CGO_ENABLED=0"}, "go", "vet", "./sub/in"); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := output(dir, []string{"GOARCH=arm64", "CC=" + far}, tool, "check", "sub/in"); err != nil || !strings.Contains(text, "z_a_linux_amd64.go: passed over") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestNothingHalf checks that signals, and directories without write permission, leave all files as they
// were.
func TestNothingHalf(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc", "sh")
	dir := module(t, map[string]string{"a.h": "struct a { int x, y; };\n", "slow": "#!/bin/sh\n: >\"$STARTED\"\nsleep 1\nexec gcc \"$@\"\n", "tmp/keep": "", "z_cgocopy_test.go/keep": ""})
	if err := os.Chmod(filepath.Join(dir, "slow"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustReject(t, dir, []string{"z_cgocopy_test.go: is a directory"}, "gen", "-type", "a", "-pkg", "m", "a.h")
	mustReject(t, dir, []string{"write none/z.go: no such file or directory"}, "gen", "-type", "a", "-pkg", "m", "-o", "none/z.go", "a.h")
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		before := listDir(t, dir)
		c := exec.CommandContext(context.Background(), tool, "gen", "-no-test", "-type", "a", "-pkg", "m", "a.h")
		c.Dir = dir
		started := filepath.Join(t.TempDir(), "started")
		c.Env = append(os.Environ(), "CC="+filepath.Join(dir, "slow"), "TMPDIR="+filepath.Join(dir, "tmp"), "STARTED="+started)
		var said strings.Builder
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(started); err == nil {
				break
			}
		}
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || said.String() != "interrupted: nothing is written\n" {
			t.Errorf("%s: %v: %s", s, err, said.String())
		}
		if after, left := listDir(t, dir), listDir(t, filepath.Join(dir, "tmp")); after != before || left != "keep" {
			t.Errorf("%s: there is %s, and was %s; left behind: %s", s, after, before, left)
		}
	}
	if os.Geteuid() == 0 {
		return // root may write to any directory
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	mustReject(t, dir, []string{"write z_cgocopy.go: permission denied"}, "gen", "-no-test", "-type", "a", "-pkg", "m", "a.h")
}

// TestNotBuilt checks that the error about a missing object file has the go:generate command that builds
// it.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"lib/l.c": "struct l { int a; } one;\n", "lib/l.go": "package lib\n\n//go:generate gcc -g -c l.c\n//go:generate " + tool + " gen -type l -object l.o\n"})
	os.Remove(filepath.Join(dir, "lib", "l.o"))
	mustRun(t, dir, "go", "generate", "./lib")
	mustRun(t, dir, tool, "check")
	os.Remove(filepath.Join(dir, "lib", "l.o"))
	text, err := output(dir, nil, tool, "check")
	if err == nil || text != "lib/z_cgocopy.go: lib/l.o is not there; build it first: gcc -g -c l.c (in lib)\nnot everything could be checked\n" {
		t.Errorf("%v: %s", err, text)
	}
	text, err = output(filepath.Join(dir, "lib"), nil, tool, "check")
	if err == nil || !strings.HasPrefix(text, "z_cgocopy.go: l.o is not there; build it first: gcc -g -c l.c\n") {
		t.Errorf("%v: %s", err, text)
	}
}
