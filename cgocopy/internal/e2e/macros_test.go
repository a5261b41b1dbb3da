package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// macroHeader has members whose names are macros at its end: for the path of the member, as sa_handler in
// signal.h, for another name, for nothing, with parameters, which is no macro without brackets, and for
// itself.
const macroHeader = `struct action {
	struct { int handler; long mask; } in;
	int flags;
	short packed;
	char call;
	int self;
};
struct outer { struct action list[2]; int flags; };
#define handler in.handler
#define mask in.mask
#define flags (flags_of_another)
#define packed
#define call(x) (x)
#define self self
`

// TestMacroMembers checks that all generated files work with members that have the names of macros.
func TestMacroMembers(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"a.h": macroHeader, "abi/README": ""})
	mustRun(t, dir, tool, "gen", "-pkg", "m", "-type", "action,outer", "-abi", "abi/abi.c", "a.h")
	for name, want := range map[string]string{
		"z_cgocopy_assert.go": "#undef flags\n#undef handler\n#undef mask\n#undef packed\n_Static",
		"z_cgocopy_test.go":   "`\n#undef flags\n#undef handler\n#undef mask\n#undef packed\nstatic void",
		"abi/abi.c":           "#undef flags\n#undef handler\n#undef mask\n#undef packed\n",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, nothing of %q in\n%s", name, err, want, clip(string(text)))
		}
	}
	mustRun(t, dir, "gcc", "-I.", "-c", "-o", os.DevNull, "abi/abi.c")
	mustRun(t, dir, "go", "test", ".")
	mustRun(t, dir, tool, "check")
}

// TestSigaction checks structs of the system whose members have the names of macros.
func TestSigaction(t *testing.T) {
	skipIfShort(t, "a header of the system")
	t.Parallel()
	testenv.Programs(t, "gcc")
	probe := "#define _GNU_SOURCE\n#include <signal.h>\n#ifndef sa_handler\n#error another way\n#endif\nstruct sigaction s = { .sa_flags = 1 };\n"
	dir := module(t, map[string]string{"probe.c": probe})
	if text, err := output(dir, nil, "gcc", "-c", "-o", os.DevNull, "probe.c"); err != nil {
		t.Skip("sa_handler is no macro here: " + clip(text))
	}
	os.Remove(filepath.Join(dir, "probe.c"))
	mustRun(t, dir, tool, "gen", "-pkg", "m", "-type", "sigaction,siginfo_t", "-tag", "sigaction.__sigaction_handler=,opaque", "-tag", "sigaction.sa_restorer=-",
		"-tag", "siginfo_t._sifields=union=si_signo:17:_sigchld", "<signal.h>", "--", "-D_GNU_SOURCE")
	mustRun(t, dir, "go", "test", "-vet=all", ".")
}

// TestTemplateCommasInABI checks that a comma between template arguments does not end an argument of
// offsetof, which is a macro.
func TestTemplateCommasInABI(t *testing.T) {
	skipIfShort(t, "a C++ compiler")
	t.Parallel()
	testenv.Programs(t, "g++")
	dir := module(t, map[string]string{"h.hpp": "template <class A, class B> struct two { A first; B second; };\nstruct Header { two<short, double> range; int n; };\n"})
	mustRun(t, dir, tool, "gen", "-c++", "-pkg", "m", "-type", "Header", "-abi", "abi.c", "h.hpp")
	mustRun(t, dir, "g++", "-x", "c++", "-I.", "-c", "-o", os.DevNull, "abi.c")
}

// TestFlagsReachTheAssertFile checks that the compiler flags of the command line are in the generated files
// that the compiler reads, with paths relative to their directory.
func TestFlagsReachTheAssertFile(t *testing.T) {
	skipIfShort(t, "C that is compiled")
	t.Parallel()
	testenv.Programs(t, "gcc")
	header := "#if !defined(WIDE) || !defined(DEEP) || !defined(TWO)\n#error a flag is missing\n#endif\n#include \"quoted.h\"\nstruct s { int a; };\n"
	files := map[string]string{"s.h": header, "wide.h": "#define WIDE 1\n", "include/deep.h": "#define DEEP 1\n", "quote/quoted.h": "\n"}
	flags := []string{"--", "-include", "wide.h", "-Iinclude", "-include", "deep.h", "-D", "TWO=2", "-iquote", "quote"}
	for _, out := range []string{"z.go", "sub/z.go"} {
		dir := module(t, files)
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o750); err != nil {
			t.Fatal(err)
		}
		mustRun(t, dir, tool, append([]string{"gen", "-pkg", "m", "-type", "s", "-func", "free(p)", "-o", out, "s.h"}, flags...)...)
		mustRun(t, dir, "go", "test", "-vet=all", "./"+filepath.Dir(out))
	}
}
