package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const producerHeader = `#ifdef __cplusplus
extern "C" {
#endif
struct inner { short a; unsigned char b; };
struct outer { char name[6]; struct inner in[2]; double d; const char *text; unsigned x : 3, y : 9; long n; };
#ifdef __cplusplus
}
#endif
`

// TestFormats checks that object files with every version of DWARF, and archives of them, give the same
// layout, and that files without types are rejected.
func TestFormats(t *testing.T) {
	skipIfShort(t, "twenty object files")
	t.Parallel()
	testenv.Programs(t, "gcc", "ar", "strip")
	dir := module(t, map[string]string{"p.h": producerHeader, "p.c": "#include \"p.h\"\nstruct outer one;\n", "q.c": "int nothing;\n"})
	want := mustRun(t, dir, tool, "layout", "p.h", "outer", "inner")
	if !strings.Contains(want, "outer: ") || !strings.Contains(want, "text  ") {
		t.Fatal(want)
	}
	mustRun(t, dir, "gcc", "-c", "-g0", "q.c")
	for _, flags := range []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -fdebug-types-section", "-g -O2", "-g3", "-g -gz"} {
		mustRun(t, dir, "gcc", append(strings.Fields(flags), "-c", "p.c")...)
		os.Remove(filepath.Join(dir, "p.a"))
		mustRun(t, dir, "ar", "rc", "p.a", "q.o", "p.o")
		for _, file := range []string{"p.o", "p.a"} {
			got, err := output(dir, nil, tool, "layout", file, "outer", "inner")
			if strings.Contains(flags, "types-section") && err != nil {
				continue // what the standard library cannot read is an error
			}
			if err != nil || got != want {
				t.Errorf("%s %s: %v\n%s\nwant\n%s", flags, file, err, got, want)
			}
		}
	}
	mustRun(t, dir, "gcc", "-shared", "-fPIC", "-g", "-o", "p.so", "p.c")
	if got := mustRun(t, dir, tool, "layout", "p.so", "outer", "inner"); got != want {
		t.Errorf("a shared library: %s", got)
	}
	mustRun(t, dir, "strip", "-g", "p.so")
	mustRun(t, dir, "ar", "rcT", "thin.a", "p.o")
	mustRun(t, dir, "ar", "rc", "none.a", "q.o")
	write(t, dir, map[string]string{"text.o": "this is no object file", "empty.o": ""})
	for file, says := range map[string]string{
		"q.o":     "q.o: no DWARF in it; compile it with -g",
		"p.so":    "p.so: no DWARF in it; compile it with -g",
		"none.a":  "none.a: no DWARF in it; compile it with -g",
		"thin.a":  "thin.a: a thin archive, which only names its objects",
		"text.o":  "text.o: no object file: neither ELF nor Mach-O nor PE",
		"empty.o": "empty.o: no object file",
		"no.o":    "no.o is not there; build it first",
	} {
		mustReject(t, dir, []string{says}, "gen", "-object", file, "-type", "outer", "-pkg", "m")
	}
	mustReject(t, dir, []string{"no type outre in p.o"}, "gen", "-object", "p.o", "-type", "outre", "-pkg", "m")
}

// TestTwoOfOneName checks that different types with the same name are rejected, and that the types of a
// shared header are merged.
func TestTwoOfOneName(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc", "ar")
	dir := module(t, map[string]string{
		"c/h.h": "struct shared { int a, b; };\nstruct far;\nstruct user { struct shared s; struct far *far; };\n",
		"c/a.c": "#include \"h.h\"\nstruct user u;\nstruct own { int a; } o;\n",
		"c/b.c": "#include \"h.h\"\nstruct far { struct shared s; } f;\nstruct own { double a; } o2;\n",
	})
	mustRun(t, dir, "gcc", "-g", "-c", "c/a.c", "c/b.c")
	mustRun(t, dir, "ar", "rc", "l.a", "a.o", "b.o")
	mustReject(t, dir, []string{"l.a: own is declared in two ways: ", "a.c:3 (4 bytes) and ", "b.c:3 (8 bytes)"}, "gen", "-object", "l.a", "-type", "own", "-pkg", "m")
	mustRun(t, dir, tool, "gen", "-object", "l.a", "-type", "user", "-tag", "user.far=,depth=1", "-pkg", "m")
	mustRun(t, dir, "go", "vet", ".")
	data, err := os.ReadFile(filepath.Join(dir, "z_cgocopy.go"))
	if err != nil || !strings.Contains(string(data), "type Far struct {\n\tS Shared // s") {
		t.Errorf("%v: %s", err, data)
	}
}

// TestCXX checks that C++ types that C could declare, and classes with plain bases, are copied, and that
// one run rejects all types with hidden members.
func TestCXX(t *testing.T) {
	skipIfShort(t, "a C++ compiler")
	t.Parallel()
	testenv.Programs(t, "g++")
	dir := module(t, map[string]string{"p.hpp": `#include <cstdint>
#include <array>
#include <atomic>
#include <utility>
namespace geo { struct Point { double x, y; double length() const { return x; } static int count; }; }
struct Base { int32_t id; bool on; };
class Child : public Base { public: geo::Point at; char name[8]; private: int secret; enum class Colour : uint8_t { Red, Blue = 200 } colour; };
struct Virtual { virtual ~Virtual(); int a; };
struct Far : virtual Base { int b; };
struct Ref { int &r; int n; };
struct Holds { Virtual v; };
struct Member { int Base::*p; int n; };
struct Header { std::array<int, 4> parts; std::pair<short, double> range; uint32_t length; };
struct Counts { std::atomic<int> hits; std::atomic_flag busy; std::atomic_bool on; std::array<std::atomic<char>, 2> each; int n; };
`})
	mustRun(t, dir, tool, "gen", "-c++", "-type", "Child,geo::Point,Header", "-pkg", "m", "p.hpp")
	if text := mustRun(t, dir, "go", "test", "-vet=all", "-v", "-run", "Cgocopy", "."); !strings.Contains(text, "PASS: TestCgocopy/Child") {
		t.Error(text)
	}
	dir2 := module(t, map[string]string{"p.hpp": mustRun(t, dir, "cat", "p.hpp")})
	mustReject(t, dir2, []string{
		"p.hpp:8: Virtual (struct Virtual) has virtual functions; give it",
		"p.hpp:9: Far (struct Far) has virtual functions or a hidden base; give it",
		"p.hpp:10: Ref.r (type without a name) is a C++ reference; leave it out with -tag 'Ref.r=-'",
		"p.hpp:12: Member.p (type without a name) is a pointer to a C++ member",
		"p.hpp:14: Counts.hits (struct std::atomic<int>) is std::atomic: a copy could be torn; leave it out with -tag 'Counts.hits=-'",
		"p.hpp:14: Counts.busy (struct std::atomic_flag) is std::atomic_flag: a copy could be torn; ",
		"p.hpp:14: Counts.on (", "(struct std::atomic<char>",
	}, "gen", "-c++", "-type", "Virtual,Far,Ref,Holds,Member,Counts", "-pkg", "m", "p.hpp")
}

// TestProcessors checks the layouts of other processors for which a compiler is installed, and that
// bit-fields of a big-endian processor are rejected.
func TestProcessors(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{
		"p.h":     "struct plain { char c; long long wide; char *text; long n; double d; };\n",
		"b.h":     "struct bits { unsigned a : 3; int n; };\n",
		"empty.c": "struct empty { int a; } e;\n",
	})
	layout := func(cc, flags string) (string, bool) {
		words := strings.Fields(cc)
		if err := testenv.Missing(words[0]); err != nil {
			t.Log(err)
			return "", false
		}
		if text, err := output(dir, nil, words[0], append(strings.Fields(flags), "-g", "-c", "empty.c")...); err != nil {
			t.Logf("%s %s: %s", cc, flags, clip(text))
			return "", false
		}
		text, err := output(dir, []string{"CC=" + cc}, tool, append([]string{"layout", "p.h", "plain", "--"}, strings.Fields(flags)...)...)
		if err != nil {
			t.Errorf("%s %s: %v: %s", cc, flags, err, text)
		}
		return text, true
	}
	if text, ok := layout("gcc", "-m32"); ok && !strings.Contains(text, "plain: 28 bytes") {
		t.Errorf("386: %s", text)
	}
	if text, ok := layout("aarch64-linux-gnu-gcc", ""); ok && !strings.Contains(text, "plain: 40 bytes") {
		t.Errorf("arm64: %s", text)
	}
	if text, ok := layout("s390x-linux-gnu-gcc", ""); ok {
		if !strings.Contains(text, "plain: 40 bytes") {
			t.Errorf("s390x: %s", text)
		}
		text, err := output(dir, []string{"CC=s390x-linux-gnu-gcc"}, tool, "gen", "-type", "bits", "-pkg", "m", "b.h")
		if err == nil || !strings.Contains(text, "b.h:1: bits.a (unsigned int) is a bit-field of a processor that puts the highest byte first") {
			t.Errorf("s390x: %v: %s", err, text)
		}
	}
	if text, ok := layout("x86_64-w64-mingw32-gcc", ""); ok && !strings.Contains(text, "plain: 40 bytes") {
		t.Errorf("windows: %s", text)
	}
}

// TestGenerated386 checks that code for 386 runs, if the C compiler supports that processor.
func TestGenerated386(t *testing.T) {
	skipIfShort(t, "a standard library for 386")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{
		"p.h":     "struct plain { char c; long long wide; long n; double d; struct { char t; long long w; } in[2]; };\n",
		"empty.c": "int e;\n",
		"main.go": `package main

import (
	"fmt"
	"unsafe"
)

func main() {
	var p [SizeofPlain]byte
	p[4], p[11], p[12], p[SizeofPlain-1] = 1, 2, 3, 4
	var d Plain
	err := d.FromC(unsafe.Pointer(&p))
	fmt.Printf("%d %x %d %x %v", SizeofPlain, d.Wide, d.N, d.In[1].W, err)
}
`,
	})
	if text, err := output(dir, nil, "gcc", "-m32", "-c", "empty.c"); err != nil {
		t.Skip(text)
	}
	mustRun(t, dir, tool, "gen", "-no-test", "-type", "plain", "-build", "386", "p.h", "--", "-m32")
	text, err := output(dir, []string{"CGO_ENABLED=0", "GOARCH=386", "GOOS=linux"}, "go", "run", ".")
	if strings.Contains(text, "exec format error") {
		t.Skip(text)
	}
	if err != nil || text != "48 200000000000001 3 400000000000000 <nil>" {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := output(dir, nil, tool, "check"); err != nil || !strings.Contains(text, "z_cgocopy.go: passed over: it is for 386") || !strings.Contains(text, "0 checked, all up to date; 1 passed over") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestNoCgo checks that generated code works without cgo, on memory that Go allocated.
func TestNoCgo(t *testing.T) {
	skipIfShort(t, "two programs")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"p.h": producerHeader, "main.go": `package main

import (
	"fmt"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

func main() {
	text := []byte("text\x00")
	b := make([]uint64, SizeofOuter/8)
	p := unsafe.Pointer(&b[0])
	copy(unsafe.Slice((*byte)(p), 6), "namely")
	*(*int16)(unsafe.Add(p, 6)) = -3
	*(*float64)(unsafe.Add(p, 16)) = 2.5
	*(*unsafe.Pointer)(unsafe.Add(p, 24)) = unsafe.Pointer(&text[0])
	o, err := cgocopy.Copy[Outer](p)
	fmt.Println(o.Name, o.In[0].A, o.D, o.Text, err)
}
`})
	mustRun(t, dir, tool, "gen", "-type", "outer", "-no-test", "p.h")
	for _, args := range [][]string{{"vet", "."}, {"run", "."}, {"run", "-gcflags=-d=checkptr", "."}} {
		text, err := output(dir, []string{"CGO_ENABLED=0", "PATH=" + filepath.Dir(goTool(t))}, goTool(t), args...)
		if err != nil || args[0] == "run" && text != "namely -3 2.5 text <nil>\n" {
			t.Errorf("go %s: %v: %s", strings.Join(args, " "), err, text)
		}
	}
}

func goTool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefusedEarly checks that errors before the types are read have positions too, and leave no files.
func TestRefusedEarly(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"bad.h": "\nstruct a { int x int y; };\n", "good.h": "struct b;\nstruct a { int x; struct b *p; long double l; };\n", "m.go": "package m\n"})
	mustReject(t, dir, []string{"bad.h:2:"}, "gen", "-type", "a", "bad.h")
	mustReject(t, dir, []string{"none.h: No such file or directory"}, "gen", "-type", "a", "none.h")
	mustReject(t, dir, []string{"no type c in good.h"}, "gen", "-type", "a,c", "good.h")
	mustReject(t, dir, []string{"good.h:2: a.p (struct b *)", "good.h:2: a.l (long double)"}, "gen", "-type", "a", "good.h")
	mustReject(t, dir, []string{"no function gone in good.h"}, "gen", "-type", "a", "-tag", "a.p=,depth=1,free=gone", "good.h")
	text, err := output(dir, []string{"CC=no-such-compiler"}, tool, "gen", "-type", "a", "good.h")
	if err == nil || !strings.Contains(text, "compiler no-such-compiler: no C compiler found: install gcc or clang") {
		t.Errorf("%v: %s", err, text)
	}
	text, err = output(dir, []string{"PATH=" + dir}, tool, "gen", "-type", "a", "good.h")
	if err == nil || !strings.Contains(text, "no C compiler found") {
		t.Errorf("%v: %s", err, text)
	}
	if got := listDir(t, dir); got != "bad.h go.mod good.h m.go" {
		t.Error(got)
	}
}

// TestClang checks that a bit-field that clang does not describe completely is rejected.
func TestClang(t *testing.T) {
	skipIfShort(t, "a second compiler")
	t.Parallel()
	clang := ""
	for _, name := range []string{"clang", "clang-14"} {
		if testenv.Missing(name) == nil {
			clang = name
			break
		}
	}
	if clang == "" {
		t.Skip("no clang")
	}
	dir := module(t, map[string]string{"p.h": producerHeader, "b.h": "struct __attribute__((packed)) b { unsigned char z : 3; signed short f : 16; unsigned char w : 5; };\n", "m.go": "package m\n"})
	text, err := output(dir, []string{"CC=" + clang}, tool, "gen", "-type", "b", "b.h")
	if err == nil || !strings.Contains(text, "b.h:1: struct b.f (short) is a bit-field as wide as its type, which this compiler does not describe as one; leave it out with a tag -, or name another compiler in CC") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := output(dir, []string{"CC=" + clang}, tool, "gen", "-type", "outer", "p.h"); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := output(dir, []string{"CC=" + clang}, "go", "test", "-v", "."); err != nil || !strings.Contains(text, "PASS: TestCgocopy/Outer") {
		t.Errorf("%v: %s", err, text)
	}
}
