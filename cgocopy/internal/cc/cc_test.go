package cc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const header = `#include <stdint.h>
#include <stdbool.h>
typedef struct { double x, y, z; } Point3D;
enum mode { IDLE, RUN = 5, BROKEN = -1 };
typedef struct game_object { int id; char name[64]; Point3D position, velocity; const float health; int level; } GameObject;
struct node { struct node *next; uint8_t kind; unsigned a : 3, b : 7; bool on; enum mode mode; const char *label;
	int grid[2][3]; void (*call)(int); union { int i; float f; } u; long double ld; int n; int tail[]; };
struct hidden;
int game_object(void);
`

func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	testenv.Programs(t, "gcc")
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// lines formats a struct: its name, size and alignment, and a line per member with offset, name, type
// and size. A bit-field's offset is OFFSET:BIT+BITS.
func lines(x *ctype.Type) string {
	s := x.Strip()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d\n", x, s.Size, s.Align)
	for _, f := range s.Fields {
		at := fmt.Sprint(f.Offset)
		if f.BitSize > 0 {
			at = fmt.Sprintf("%d:%d+%d", f.Offset, f.BitOffset, f.BitSize)
		}
		fmt.Fprintf(&b, "%s %s %s %d\n", at, f.Name, f.Type, f.Type.Strip().Size)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header})
	f, found, err := Read(context.Background(), Config{Headers: []string{"h.h"}, Types: []string{"GameObject", "struct game_object", "node"}, Dir: at})
	if err != nil {
		t.Fatal(err)
	}
	const object = `128/8
0 id int 4
4 name char [64] 64
72 position Point3D 24
96 velocity Point3D 24
120 health float 4
124 level int 4
`
	if got := lines(found["GameObject"]); got != "GameObject "+object {
		t.Errorf("got\n%s", got)
	}
	if got := lines(found["struct game_object"]); got != "struct game_object "+object {
		t.Errorf("got\n%s", got)
	}
	const node = `struct node 96/16
0 next struct node * 8
8 kind uint8_t 1
9:0+3 a unsigned int 4
9:3+7 b unsigned int 4
11 on _Bool 1
12 mode enum mode 4
16 label char * 8
24 grid int [2][3] 24
48 call function * 8
56 u union without a name 4
64 ld long double 16
80 n int 4
84 tail int [] 0
`
	if got := lines(found["node"]); f.Arch == "amd64" && got != node {
		t.Errorf("got\n%s", got)
	}
	next := found["node"].Strip().Fields[0]
	if next.Type.Strip().Elem.Strip() != found["node"].Strip() {
		t.Error("a struct that points to its own kind is two types")
	}
	if pos := next.Pos(); !strings.HasSuffix(pos, "h.h:6") {
		t.Errorf("declared at %s", pos)
	}
	if ld := found["node"].Strip().Fields[10].Type.Strip(); ld.Kind != ctype.Other || !strings.Contains(ld.Why, "16 bytes") {
		t.Errorf("long double: %+v", ld)
	}
}

// TestSpelling checks that a name of both a function and a struct, such as stat, names the struct.
func TestSpelling(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header})
	_, found, err := Read(context.Background(), Config{Headers: []string{"h.h", "<sys/stat.h>"}, Types: []string{"game_object", "stat"}, Dir: at})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range found {
		if x.Strip().Kind != ctype.Struct {
			t.Errorf("%s: %s", name, x)
		}
	}
}

func TestRefuses(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header, "bad.h": "\nstruct x { int a int b; };\nstruct y { none c; };\n", "sub/worse.h": "#error it is\n"})
	unknown := &UnknownError{}
	output := &Error{}
	for name, tt := range map[string]struct {
		config Config
		want   string
		as     any
	}{
		"unknown":    {Config{Headers: []string{"h.h"}, Types: []string{"GameObjekt", "node", "Noone"}}, "no type GameObjekt, Noone in h.h; say the name", &unknown},
		"incomplete": {Config{Headers: []string{"h.h"}, Types: []string{"struct hidden"}}, "no type struct hidden in h.h", &unknown},
		"opaque":     {Config{Headers: []string{"h.h"}, Types: []string{"hidden"}}, "type hidden is declared but not defined in h.h; name the header", &unknown},
		"syntax":     {Config{Headers: []string{"bad.h"}, Types: []string{"x"}}, "bad.h:2:", &output},
		"all of it":  {Config{Headers: []string{"bad.h"}, Types: []string{"x"}}, "bad.h:3:12: unknown type name", &output},
		"below":      {Config{Headers: []string{"sub/worse.h"}, Types: []string{"x"}}, "sub/worse.h:1:2: #error it is", &output},
		"no header":  {Config{Headers: []string{"none.h"}, Types: []string{"x"}}, "none.h: No such file or directory", &output},
		"compiler":   {Config{Headers: []string{"h.h"}, Types: []string{"x"}, CC: []string{"no-such-compiler"}}, "compiler no-such-compiler: no C compiler", nil},
		"silent":     {Config{Headers: []string{"h.h"}, Types: []string{"x"}, CC: []string{"false"}}, "false failed, and says nothing", &output},
		"no code":    {Config{Headers: []string{"h.h"}, Types: []string{"x"}, CC: []string{"true"}}, "true wrote no object file: is it a C compiler?", nil},
		"flag":       {Config{Headers: []string{"h.h"}, Types: []string{"node"}, Flags: []string{"-fno-such-flag"}}, "no-such-flag", &output},
	} {
		tt.config.Dir = at
		_, _, err := Read(context.Background(), tt.config)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if tt.as != nil && !errors.As(err, tt.as) {
			t.Errorf("%s: it is %T", name, err)
		}
		if name == "compiler" && !errors.Is(err, ErrNoCompiler) {
			t.Errorf("%s: it is %T", name, err)
		}
	}
	f, found, err := Read(context.Background(), Config{Headers: []string{"h.h"}, Types: []string{"Noone", "node"}, Funcs: []string{"nothing", "game_object"}, Dir: at})
	if !errors.As(err, &unknown) || f == nil || found["node"] == nil || found["Noone"] != nil || found["game_object()"] == nil || found["nothing()"] != nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("what is known beside what is not: %v, %v", found, err)
	}
}

// TestUserPath checks that paths are relative to the working directory, and not to the directory in
// which the compiler runs.
func TestUserPath(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, file, want string }{
		{"", "a.h", "a.h"},
		{"", "./a.h", "a.h"},
		{"", filepath.Join(here, "x", "a.h"), filepath.Join("x", "a.h")},
		{"sub", "inc/a.h", filepath.Join("sub", "inc", "a.h")},
		{"sub", "../inc/a.h", filepath.Join("inc", "a.h")},
		{"sub", filepath.Join(here, "sub", "a.h"), filepath.Join("sub", "a.h")},
		{"..", filepath.Join(here, "a.h"), filepath.Join("..", "cc", "a.h")},
		{"", "/usr/include/a.h", "/usr/include/a.h"},
	} {
		if got := UserPath(tt.dir)(tt.file); got != tt.want {
			t.Errorf("%s in %q is %s, want %s", tt.file, tt.dir, got, tt.want)
		}
	}
}

// TestInterrupted checks that an interrupted compiler leaves no files, and that Read does not wait
// for a compiler that ignores the interrupt.
func TestInterrupted(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header, "slow": "#!/bin/sh\n: > \"$TMPDIR/left\"\nsleep 60\n"})
	if err := os.Chmod(filepath.Join(at, "slow"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", at)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, _, err := Read(ctx, Config{Headers: []string{"h.h"}, Types: []string{"node"}, CC: []string{filepath.Join(at, "slow")}, Dir: at})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*killDelay {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	if left, err := os.ReadDir(at); len(left) != 2 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAllFirst checks that all names are found with flags that make the compiler stop at its first
// error, or print in colour.
func TestAllFirst(t *testing.T) {
	at := dir(t, map[string]string{"h.h": "struct a { int x; };\nstruct b { int x; };\nunion c { int x; };\n"})
	_, found, err := Read(context.Background(), Config{Headers: []string{"h.h"}, Types: []string{"a", "c", "b"}, Flags: []string{"-Wfatal-errors", "-fdiagnostics-color=always"}, Dir: at})
	if err != nil || found["a"].String() != "struct a" || found["b"].String() != "struct b" || found["c"].String() != "union c" {
		t.Errorf("%v, %v", found, err)
	}
}

// TestFlags checks that the flags of the user are used and cannot hide the types.
func TestFlags(t *testing.T) {
	at := dir(t, map[string]string{"h.h": "struct a {\n#ifdef WIDE\n long long x;\n#else\n char x;\n#endif\n};\n"})
	for flags, size := range map[string]int64{"": 1, "-DWIDE -g0 -O2 -flto -gsplit-dwarf": 8, "-DWIDE -gdwarf-2": 8, "-DWIDE -gdwarf-5 -fdebug-types-section": 8} {
		_, found, err := Read(context.Background(), Config{Headers: []string{"h.h"}, Types: []string{"a"}, Flags: strings.Fields(flags), Dir: at})
		if err != nil || found["a"].Size != size {
			t.Errorf("%q: %v, %+v", flags, err, found["a"])
		}
	}
}

// TestFuncs checks that functions are found with their parameters, and that the error names missing
// ones.
func TestFuncs(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header})
	_, found, err := Read(context.Background(), Config{Headers: []string{"h.h", "<stdlib.h>"}, Types: []string{"node"}, Funcs: []string{"game_object", "free"}, Dir: at})
	if err != nil {
		t.Fatal(err)
	}
	if f := found["free()"]; f == nil || f.Kind != ctype.Func || len(f.Params) != 1 || f.Elem != nil {
		t.Errorf("%+v", f)
	}
	if f := found["game_object()"]; f == nil || f.Elem.String() != "int" || f.Variadic {
		t.Errorf("%+v", f)
	}
	if _, _, err := Read(context.Background(), Config{Headers: []string{"h.h"}, Types: []string{"node"}, Funcs: []string{"none"}, Dir: at}); err == nil || !strings.HasPrefix(err.Error(), "no function none in h.h; ") {
		t.Error(err)
	}
}

func TestConfirm(t *testing.T) {
	at := dir(t, map[string]string{"h.h": header})
	claims := []string{"sizeof(Point3D) == 24", "sizeof(Point3D) == 25", "offsetof(struct node, a) == 9", "offsetof(Point3D, y) == 8", "offsetof(Point3D, none) == 8"}
	wrong, err := Confirm(context.Background(), Config{Headers: []string{"h.h"}, Dir: at}, claims)
	if err != nil || len(wrong) != 3 || wrong[1] == "" || !strings.Contains(wrong[2], "bit-field") || wrong[4] == "" {
		t.Errorf("%v, %v", wrong, err)
	}
	if wrong, err := Confirm(context.Background(), Config{Headers: []string{"h.h"}, Dir: at}, claims[:1]); len(wrong) != 0 || err != nil {
		t.Errorf("%v, %v", wrong, err)
	}
	pair := []string{"offsetof(struct std::pair<short, double>, second) == 8", "offsetof(struct std::pair<short, double>, second) == 4"}
	if wrong, err := Confirm(context.Background(), Config{Headers: []string{"<utility>"}, Dir: at, CXX: true}, pair); len(wrong) != 1 || wrong[1] == "" || err != nil {
		t.Errorf("%v, %v", wrong, err)
	}
	if _, err := Confirm(context.Background(), Config{Headers: []string{"none.h"}, Dir: at}, claims); err == nil || !strings.Contains(err.Error(), "none.h") {
		t.Error(err)
	}
}
