// Package cc uses the user's own C compiler to find the layout of types. It compiles a small source that
// includes the user's headers, with debug information, and reads the types from the object file.
//
// The source declares a pointer variable, the anchor, for each type: compilers do not describe unused
// types. A #line directive before each anchor puts the number of the type into the file name of errors
// about it.
package cc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/object"
)

// Config describes what is compiled, and how.
type Config struct {
	Headers []string // for #include: relative to Dir, or found by Flags; system headers in angle brackets
	Types   []string // wanted types: GameObject, struct point, or a bare tag
	Funcs   []string
	Flags   []string // of the user, e.g. -Iinclude, -DDEBUG
	CC      []string // compiler and its first arguments; empty means $CC, else gcc or clang
	CXX     bool     // the headers are C++
	Dir     string   // directory in which the compiler runs; "" means the working directory

	Undefine []string // macros with the names of members, which Confirm undefines
}

// fixedFlags returns flags that undo flags of the user. Those could hide the types: by optimisation at link
// time, debug information in another file, or older formats.
func fixedFlags() []string {
	return []string{"-g2", "-gno-split-dwarf", "-fno-lto", "-fno-debug-types-section", "-O0", "-w", "-Wno-fatal-errors", "-fdiagnostics-color=never", "-c"}
}

// ErrNoCompiler is the error if there is no compiler.
var ErrNoCompiler = errors.New("no C compiler found: install gcc or clang, or name yours in CC (of C++ in CXX)")

// Read compiles the headers. It returns the object file and the wanted types by name. The names of
// functions are followed by "()". With an UnknownError it also returns the types that are known.
func Read(ctx context.Context, c Config) (*object.File, map[string]*ctype.Type, error) {
	compiler, err := Compiler(c.CC, c.CXX)
	if err != nil {
		return nil, nil, err
	}
	dir, remove, err := makeTempDir()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	spelled, unknown, err := c.spellNames(ctx, compiler, dir)
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(dir, "anchors.o")
	if err := c.compileSource(ctx, compiler, c.formatSource(spelled), out); err != nil {
		return nil, nil, err
	}
	f, err := object.Open(out, UserPath(c.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s wrote no object file: is it a C compiler?", strings.Join(compiler, " "))
	}
	if err != nil {
		return nil, nil, err
	}
	found := map[string]*ctype.Type{}
	for i, name := range c.Types {
		if spelled[i] == "" {
			continue
		}
		t := f.Anchor(anchorName(i))
		if t == nil {
			// Only debug information can be missing: the source has been compiled.
			return nil, nil, fmt.Errorf("%s: the compiler did not describe it; is -g undone by something that wraps it?", name)
		}
		found[name] = t
	}
	for i, name := range c.Funcs {
		if spelled[len(c.Types)+i] == "" {
			continue
		}
		t := f.Anchor(anchorName(len(c.Types) + i))
		if t == nil || t.Strip() == nil || t.Strip().Kind != ctype.Func {
			return nil, nil, fmt.Errorf("%s is no function in %s", name, strings.Join(c.Headers, ", "))
		}
		found[name+"()"] = t.Strip()
	}
	if unknown != nil {
		return f, found, unknown
	}
	return f, found, nil
}

// Compiler returns the command that compiles C, or C++ if cxx is set. These are the words, or those of the
// environment variable CC or CXX. Without them it is the first usual compiler that is installed. The error
// is [ErrNoCompiler] if the compiler is not installed.
func Compiler(words []string, cxx bool) ([]string, error) {
	variable, usualNames := "CC", []string{"gcc", "clang", "cc"}
	if cxx {
		variable, usualNames = "CXX", []string{"g++", "clang++", "c++"}
	}
	if len(words) == 0 {
		var err error
		if words, err = cgoflags.Split(os.Getenv(variable)); err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
	}
	if len(words) > 0 {
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, fmt.Errorf("compiler %s: %w", words[0], ErrNoCompiler)
		}
		return words, nil
	}
	for _, name := range usualNames {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, ErrNoCompiler
}

// anchorName returns the name of the pointer to the i-th wanted type or function.
func anchorName(i int) string { return fmt.Sprintf("__cgocopy__%d", i) }

// lineFileName returns the file name in errors about the i-th wanted type or function.
func lineFileName(i int) string { return lineFilePrefix + strconv.Itoa(i) }

const lineFilePrefix = "cgocopy-type-"

// formatSource returns C source with the headers and an anchor for each name in spelled: first the types,
// then the functions. "" is skipped.
func (c Config) formatSource(spelled []string) []byte {
	var b bytes.Buffer
	for _, h := range c.Headers {
		if strings.HasPrefix(h, "<") {
			fmt.Fprintf(&b, "#include %s\n", h)
		} else {
			fmt.Fprintf(&b, "#include \"%s\"\n", h)
		}
	}
	for i, name := range spelled {
		switch {
		case name == "":
			// The headers do not have it.
		case i < len(c.Types):
			fmt.Fprintf(&b, "#line 1 \"%s\"\n%s *%s;\n", lineFileName(i), name, anchorName(i))
		default:
			fmt.Fprintf(&b, "#line 1 \"%s\"\n__typeof__(&%s) %s;\n", lineFileName(i), name, anchorName(i))
		}
	}
	return b.Bytes()
}

// compileSource compiles source into the file out. The flags in last come after all others.
func (c Config) compileSource(ctx context.Context, compiler []string, source []byte, out string, last ...string) error {
	language := map[bool]string{false: "c", true: "c++"}[c.CXX]
	args := append(append([]string{}, compiler[1:]...), "-I", ".")
	args = append(append(args, c.Flags...), fixedFlags()...)
	if c.CXX {
		args = append(args, classesOfGCC)
	}
	args = append(append(args, last...), "-o", out, "-x", language, "-")
	// The compiler's temporary files are next to out, and are removed with it even if the compiler is
	// killed.
	env := append(os.Environ(), "LC_ALL=C")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		env = append(env, name+"="+filepath.Dir(out))
	}
	return c.runCompiler(ctx, compiler[0], args, env, source)
}

// killDelay is the time a compiler has to end after an interrupt.
const killDelay = 2 * time.Second

// Flags to describe classes whose virtual functions are defined in another file. Neither compiler accepts
// the flag of the other.
const (
	classesOfGCC   = "-femit-class-debug-always"
	classesOfClang = "-fstandalone-debug"
)

// unlimited is clang's flag to print all errors. gcc always does so, and rejects the flag.
const unlimited = "-ferror-limit=0"

// runCompiler runs the compiler. If it proves to be clang and has rejected a flag of gcc or stopped early,
// runCompiler runs it again with other flags. The error of a failed compiler has type [outputError].
func (c Config) runCompiler(ctx context.Context, compiler string, args, env []string, source []byte) error {
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // a killed compiler would leave its files
	cmd.WaitDelay = killDelay
	cmd.Dir = c.Dir
	cmd.Env = env
	cmd.Stdin = bytes.NewReader(source)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", compiler, err)
	}
	if bytes.Contains(text, []byte("too many errors")) && args[0] != unlimited {
		return c.runCompiler(ctx, compiler, append([]string{unlimited}, args...), env, source)
	}
	if i := slices.Index(args, classesOfGCC); i >= 0 && bytes.Contains(text, []byte("unknown argument: '"+classesOfGCC)) {
		args[i] = classesOfClang
		return c.runCompiler(ctx, compiler, args, env, source)
	}
	return parseOutput(compiler, text, UserPath(c.Dir))
}
