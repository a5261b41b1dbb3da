package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// run runs a command line in dir, and returns the exit code and the texts on standard output and error.
func run(t *testing.T, dir string, args ...string) (code int, out, messages string) {
	t.Helper()
	t.Chdir(dir)
	var stdout, stderr strings.Builder
	code = Main(context.Background(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
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

func needsC(t *testing.T) {
	t.Helper()
	testenv.Programs(t, "gcc")
}

const game = `typedef struct { double x, y, z; } Point3D;
typedef struct {
	int id;
	char name[64];
	Point3D position;
	float health;
	int level;
} GameObject;
`

// TestDrift checks that check finds a swap of two members of the same size, with the header in the
// package's directory and outside, and that the compiler finds it if the header is inside.
func TestDrift(t *testing.T) {
	needsC(t)
	swapped := strings.Replace(strings.Replace(game, "float health;", "", 1), "int level;", "int level;\n\tfloat health;", 1)
	for name, where := range map[string]string{"inside": "ffi/game.h", "outside": "include/game.h"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			module, err := filepath.Abs("../..")
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, map[string]string{
				where:        game,
				"go.mod":     "module drift\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => " + module + "\n",
				"ffi/ffi.go": "package ffi\n\n// #cgo CFLAGS: -I${SRCDIR} -I${SRCDIR}/../include\nimport \"C\"\n",
			})
			ffi := filepath.Join(dir, "ffi")
			if code, _, messages := run(t, ffi, "gen", "-type", "GameObject", "game.h"); code != 0 {
				t.Fatalf("code %d: %s", code, messages)
			}
			build := func() (string, error) {
				return goRun(t, dir, "build", "./...")
			}
			if text, err := build(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if code, out, messages := run(t, dir, "check"); code != 0 || !strings.Contains(out, "1 checked, all up to date") {
				t.Fatalf("code %d: %s%s", code, out, messages)
			}
			write(t, dir, map[string]string{where: swapped})
			code, out, messages := run(t, dir, "check")
			if code != 1 || !strings.Contains(out, "GameObject.health moved from 96 to 100") || !strings.Contains(messages, "run go generate") {
				t.Errorf("code %d: %s%s", code, out, messages)
			}
			if text, err := build(); name == "inside" && (err == nil || !strings.Contains(text, "GameObject.health moved; run go generate")) {
				t.Errorf("it builds: %v %s", err, text)
			}
		})
	}
}

// TestRefusals checks that one run names all faults with their positions, and writes nothing.
func TestRefusals(t *testing.T) {
	needsC(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"bad.h": `struct far;
struct bad {
	long double x;
	union { int i; float f; } u;
	int *numbers;
	struct far *away;
	int n;
	char tail[];
};
`})
	code, _, messages := run(t, dir, "gen", "-type", "bad", "bad.h")
	for _, want := range []string{
		"bad.h:3: bad.x (long double) is a number of 16 bytes, for which Go has no type; leave it out with -tag 'bad.x=-'",
		"bad.h:4: bad.u (union without a name) is a union, and C does not say which member holds; say how with -tag",
		"bad.h:5: bad.numbers (int *) points to one value, or to many; say how with -tag 'bad.numbers=,len=MEMBER'",
		"bad.h:6: bad.away (struct far *) points to a struct, or to many",
		"bad.h:8: bad.tail (char []) is an array without a length",
	} {
		if !strings.Contains(messages, want) {
			t.Errorf("nothing of %s in\n%s", want, messages)
		}
	}
	if n := strings.Count(messages, "\n"); code != 1 || n != 5 {
		t.Errorf("code %d, %d lines", code, n)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("something was written: %v %v", list, err)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"":                                "cgocopy gen",
		"make":                            `unknown command "make"`,
		"gen":                             "no -type",
		"gen -type a":                     "no header",
		"gen -type a -colour b.h":         "-colour",
		"gen -type a -object o.o b.h":     "both headers and -object",
		"gen -type a -o z.txt b.h":        "no name for a Go file",
		"gen -type a -tag b b.h":          "want struct.member=words",
		"gen -type a -tag a.b=,len b.h":   "len without",
		"gen -type a -tag a.b=,wrong b.h": "unknown word",
		"gen -type a -tag a.b=c b.h":      `unknown word "c"`,
		"gen -type a -tag a.b= b.h":       "want struct.member=words",
		"gen -type a -tag a.b=- -tag a.b=opaque b.h": "given twice",
		"gen -type a -Iinclude b.h":                  "-Iinclude; what is meant for the compiler follows --",
		"gen -type a b.o":                            "-object b.o reads types",
		"gen -type a -build linux& b.h":              "-build 'linux&'",
		"layout":                                     "no header or object file",
		"layout a.h":                                 "name the types",
	} {
		code, _, messages := run(t, dir, strings.Fields(args)...)
		if code != 2 || !strings.Contains(messages, want) {
			t.Errorf("%q: code %d: %s, want %q", args, code, messages, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	words := []string{"gen", "-tag", "a.b=,union=k:0:i,1:f", "it's", "", "two words", "-DX=\"y\""}
	got := unquoteWords(quoteWords(words))
	if strings.Join(got, "\x00") != strings.Join(words, "\x00") {
		t.Errorf("%q came back as %q", words, got)
	}
}

// FuzzUnquoted checks that unquoteWords returns the words that quoteWords has quoted, and that it does
// not panic for any line.
func FuzzUnquoted(f *testing.F) {
	for _, text := range []string{"gen\x00-tag\x00a.b=,len=n", "it's\x00\x00two words", `\`, "'", "a'b\\c d\"e"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = unquoteWords(text)
		if strings.ContainsAny(text, "\n\r") {
			t.Skip("refused before")
		}
		words := strings.Split(text, "\x00")
		if got := strings.Join(unquoteWords(quoteWords(words)), "\x00"); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}
