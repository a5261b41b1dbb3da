package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module returns the go.mod of a test module that requires this checkout.
func module(t *testing.T, name string) string {
	t.Helper()
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return "module " + name + "\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => " + here + "\n"
}

// goRun runs the go command in dir. It sets -trimpath, so that a build in another directory can use the
// build cache.
func goRun(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath -ldflags=-w -count=1", "CGO_ENABLED=1", "GOPROXY=off")
	text, err := c.CombinedOutput()
	return string(text), err
}

// TestBindFills checks that values that C wrote arrive in the user's own types, for most kinds of members,
// and that bind prints the members that no field takes.
func TestBindFills(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C")
	}
	needsC(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": module(t, "world"), "main.go": worldGo, "world.h": worldHeader, "world.c": worldC})
	code, out, messages := run(t, dir, "bind", "-type", "Game=GameObject,Brief=item", "world.h")
	if code != 0 || out != "" {
		t.Fatalf("code %d: %s%s", code, out, messages)
	}
	for _, want := range []string{
		"world.h:31: GameObject.spare (char [3]) is taken by no field of Game",
		"struct item.weight (double) is taken by no field of Item",
		"struct item.label (char [10]) is taken by no field of Brief",
	} {
		if !strings.Contains(messages, want) {
			t.Errorf("nothing of %q in\n%s", want, messages)
		}
	}
	if n := strings.Count(messages, "note: "); n != 4 {
		t.Errorf("%d notes: %s", n, messages)
	}
	got, err := goRun(t, dir, "run", ".")
	if err != nil || got != worldWant {
		t.Fatalf("%v: got\n%s\nwant\n%s", err, got, worldWant)
	}
	if text, err := goRun(t, dir, "test", "."); err != nil {
		t.Errorf("the generated test: %v: %s", err, text)
	}
	if code, out, messages := run(t, dir, "check"); code != 0 {
		t.Errorf("code %d: %s%s", code, out, messages)
	}
	write(t, dir, map[string]string{"world.h": strings.Replace(worldHeader, "char spare[3]", "char spare[2]", 1)})
	if code, out, _ := run(t, dir, "check"); code != 1 || !strings.Contains(out, "GameObject.spare (char [2]) is taken by no field") {
		t.Errorf("code %d: %s", code, out)
	}
	write(t, dir, map[string]string{"world.h": strings.Replace(worldHeader, "char grade;", "char grade;\n\tint more[2];", 1)})
	if code, out, _ := run(t, dir, "check"); code != 1 || !strings.Contains(out, "bytes, not") {
		t.Errorf("code %d: %s", code, out)
	}
}

const oddHeader = `typedef struct { double x, y, z; } Point3D;
typedef struct {
	int n;
	double d;
	Point3D point;
} Odd;
`

// TestBindAllAtOnce checks that one run names all faults, and writes nothing.
func TestBindAllAtOnce(t *testing.T) {
	needsC(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"odd.h":  oddHeader,
		"odd.go": "package odd\n\ntype Odd struct {\n\tN int16\n\tD float32\n\tMissing int\n\tPoint Small\n}\n\ntype Small struct{ X, Y float64; Z float32 }\n",
	})
	code, _, messages := run(t, dir, "bind", "-type", "Odd,Other=Odd,Nowhere=Point3D", "odd.h")
	for _, want := range []string{"odd.go:4: Odd.N", "odd.go:5: Odd.D", "odd.go:6: Odd.Missing", "odd.go:10: Small.Z", "odd.h:1)", "Other (Odd) is not declared in package odd", "Nowhere (Point3D) is not declared"} {
		if !strings.Contains(messages, want) {
			t.Errorf("nothing of %q in\n%s", want, messages)
		}
	}
	if n := strings.Count(messages, "\n"); code != 1 || n != 6 {
		t.Errorf("code %d, %d lines:\n%s", code, n, messages)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("something was written: %v %v", list, err)
	}
	for args, want := range map[string]string{
		"-type Odd=Nothing odd.h":        "no type Nothing",
		"-type Odd nothing.h":            "nothing.h",
		"-go sub -type Odd ../missing.h": "missing.h",
		"-go empty -type Odd odd.h":      "read the package in empty",
	} {
		if code, _, messages := run(t, dir, append([]string{"bind"}, strings.Fields(args)...)...); code != 1 || !strings.Contains(messages, want) {
			t.Errorf("%s: code %d: %s", args, code, messages)
		}
	}
}

// TestBindGuard checks that a flat type does not compile after a change of its layout.
func TestBindGuard(t *testing.T) {
	needsC(t)
	const good = "type Point struct{ Pair; Z float64 }\n\ntype Pair struct{ X, Y float64 }\n"
	dir := t.TempDir()
	declare := func(decl string) {
		write(t, dir, map[string]string{"point.go": "package point\n\n" + decl})
	}
	write(t, dir, map[string]string{"go.mod": module(t, "point"), "include/point.h": "typedef struct { double x, y, z; } Point3D;\n", "flags.go": "package point\n\n// #cgo CFLAGS: -I${SRCDIR}/include\nimport \"C\"\n"})
	declare(good)
	if code, _, messages := run(t, dir, "bind", "-type", "Point=Point3D", "point.h"); code != 0 || messages != "" {
		t.Fatalf("code %d: %s", code, messages)
	}
	for decl, want := range map[string]string{
		good: "",
		"type Point struct{ Pair; Z float64 }\n\ntype Pair struct{ Y, X float64 }\n":        "invalid argument",
		"type Point struct{ Pair; Z float64; W int }\n\ntype Pair struct{ X, Y float64 }\n": "invalid argument",
		"type Point struct{ Pair; Z int64 }\n\ntype Pair struct{ X, Y float64 }\n":          "cannot use &d.Z",
	} {
		declare(decl)
		text, err := goRun(t, dir, "build", "./...")
		if (err == nil) != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%s: %v: %s", decl, err, text)
		}
	}
	declare(good)
	write(t, dir, map[string]string{"include/point.h": "typedef struct { double x, z, y; } Point3D;\n"})
	if code, out, _ := run(t, dir, "check"); code != 1 || !strings.Contains(out, "Point3D.y moved from 8 to 16") {
		t.Errorf("code %d: %s", code, out)
	}
}

// TestBindElsewhere binds a package from a directory above it, and checks it from that directory, from its
// parent, and from the package itself.
func TestBindElsewhere(t *testing.T) {
	needsC(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"mod/go.mod":          module(t, "elsewhere"),
		"mod/include/point.h": "typedef struct { double x, y, z; } Point3D;\n",
		"mod/a/b/b.go":        "package b\n\ntype Point struct{ X, Y, Z float64 }\n",
	})
	mod := filepath.Join(dir, "mod")
	if code, _, messages := run(t, mod, "bind", "-go", "./a/b", "-type", "Point=Point3D", "include/point.h", "--", "-DX"); code != 0 {
		t.Fatalf("code %d: %s", code, messages)
	}
	if text, err := goRun(t, mod, "build", "./..."); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	for _, from := range []string{dir, mod, filepath.Join(mod, "a", "b")} {
		if code, out, messages := run(t, from, "check"); code != 0 || !strings.Contains(out, "1 checked") {
			t.Errorf("%s: code %d: %s%s", from, code, out, messages)
		}
	}
}

// TestBindTakes checks that the function of free= frees once, and that unfit functions are rejected.
func TestBindTakes(t *testing.T) {
	needsC(t)
	dir := t.TempDir()
	const src = `package main

/*
#include "note.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

type Note struct {
	Text string ${cgocopy:",free=note_free"$}
}

func main() {
	p := C.note()
	var n Note
	fmt.Println(n.TakeFromC(unsafe.Pointer(p)), n.Text, C.freed())
	fmt.Println(n.TakeFromC(unsafe.Pointer(p)), n.Text, C.freed())
}
`
	write(t, dir, map[string]string{
		"go.mod": module(t, "note"),
		"note.h": "struct note { char *text; };\nstruct note *note(void);\nvoid note_free(void *p);\nint freed(void);\nvoid other(void);\n",
		"note.c": "#include \"note.h\"\n#include <stdlib.h>\n#include <string.h>\n\nstatic int n;\nvoid note_free(void *p) { n++; free(p); }\nint freed(void) { return n; }\n" +
			"struct note *note(void) {\n\tstatic struct note one;\n\tone.text = strdup(\"a text\");\n\treturn &one;\n}\n",
		"main.go": strings.NewReplacer("${", "\x60", "$}", "\x60").Replace(src),
	})
	if code, _, messages := run(t, dir, "bind", "-type", "Note=note", "note.h"); code != 0 {
		t.Fatalf("code %d: %s", code, messages)
	}
	if text, err := goRun(t, dir, "run", "."); err != nil || text != "<nil> a text 1\n<nil>  1\n" {
		t.Errorf("%v: %s", err, text)
	}
	for fn, want := range map[string]string{"other": "no function of one pointer", "missing": "missing"} {
		write(t, dir, map[string]string{"main.go": "package main\n\ntype Note struct {\n\tText string \x60cgocopy:\",free=" + fn + "\"\x60\n}\n"})
		if code, _, messages := run(t, dir, "bind", "-type", "Note=note", "note.h"); code != 1 || !strings.Contains(messages, want) {
			t.Errorf("code %d: %s", code, messages)
		}
	}
}

func TestBindUsage(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"bind":                         "no -type",
		"bind -type a":                 "no header",
		"bind -type a -object o.o b.h": "both headers and -object",
		"bind -type a -o z.txt b.h":    "no name for a Go file",
		"bind -type a -o x/z.go b.h":   "no name for a Go file",
		"bind -go ../x -type a b.h":    "is not below the current directory",
	} {
		code, _, messages := run(t, dir, strings.Fields(args)...)
		if code != 2 || !strings.Contains(messages, want) {
			t.Errorf("%q: code %d: %s, want %q", args, code, messages, want)
		}
	}
}
