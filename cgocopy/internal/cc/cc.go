// Package cc has the user's own C compiler say how types are laid out: it
// compiles a few lines that include their headers, with their flags, into an
// object file with a description of its types.
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

// Config says what is compiled, and how.
type Config struct {
	Headers []string // as #include has them in quotes: relative to Dir, or found by Flags
	Types   []string // wanted: GameObject, struct point, or a bare tag
	Funcs   []string // wanted functions
	Flags   []string // of the user, e.g. -Iinclude, -DDEBUG
	CC      []string // compiler and its first words; empty: CC, else gcc or clang, whichever is there
	CXX     bool     // the headers are C++
	Dir     string   // where the compiler runs; empty: here. Places are said as they are seen from here

	Undefine []string // macros of the headers that Confirm does not use
}

// ours are last, because flags of the user would otherwise hide the types:
// optimisation at link time, split files, older formats.
func ours() []string {
	return []string{"-g2", "-gno-split-dwarf", "-fno-lto", "-fno-debug-types-section", "-O0", "-w", "-Wno-fatal-errors", "-fdiagnostics-color=never", "-c"}
}

// ErrNoCompiler says that there is none.
var ErrNoCompiler = errors.New("no C compiler found: install gcc or clang, or name yours in CC (of C++ in CXX)")

// Read compiles and returns the types, found by the names that were asked for;
// those of functions by their name and (). With an UnknownError those are there
// that are known.
func Read(ctx context.Context, c Config) (*object.File, map[string]*ctype.Type, error) {
	compiler, err := Compiler(c.CC, c.CXX)
	if err != nil {
		return nil, nil, err
	}
	dir, remove, err := temp()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	spelled, unknown, err := c.spell(ctx, compiler, dir)
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(dir, "anchors.o")
	if err := c.compile(ctx, compiler, c.source(spelled), out); err != nil {
		return nil, nil, err
	}
	f, err := object.Open(out, Place(c.Dir))
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
		t := f.Anchor(anchor(i))
		if t == nil {
			return nil, nil, fmt.Errorf("%s: the compiler did not describe it; is -g undone by something that wraps it?", name)
		}
		found[name] = t
	}
	for i, name := range c.Funcs {
		if spelled[len(c.Types)+i] == "" {
			continue
		}
		t := f.Anchor(anchor(len(c.Types) + i))
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

// Compiler is the command that compiles C, or C++ where cxx says so: words, where
// there are any, else what CC or CXX says, else the first that is there.
func Compiler(words []string, cxx bool) ([]string, error) {
	variable, usual := "CC", []string{"gcc", "clang", "cc"}
	if cxx {
		variable, usual = "CXX", []string{"g++", "clang++", "c++"}
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
	for _, name := range usual {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, ErrNoCompiler
}

func anchor(i int) string { return fmt.Sprintf("__cgocopy__%d", i) }

// place is what errors about the i-th wanted type are reported in.
func place(i int) string { return placePrefix + strconv.Itoa(i) }

const placePrefix = "cgocopy-type-"

// source includes the headers and holds a pointer to each type, and behind them
// to each function, by the names in spelled; empty: it is left out. What nothing
// refers to is left out of the description.
func (c Config) source(spelled []string) []byte {
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
		case i < len(c.Types):
			fmt.Fprintf(&b, "#line 1 \"%s\"\n%s *%s;\n", place(i), name, anchor(i))
		default:
			fmt.Fprintf(&b, "#line 1 \"%s\"\n__typeof__(&%s) %s;\n", place(i), name, anchor(i))
		}
	}
	return b.Bytes()
}

// compile compiles source, from standard input, into out. The flags in last come after
// all others.
func (c Config) compile(ctx context.Context, compiler []string, source []byte, out string, last ...string) error {
	language := map[bool]string{false: "c", true: "c++"}[c.CXX]
	args := append(append([]string{}, compiler[1:]...), "-I", ".")
	args = append(append(args, c.Flags...), ours()...)
	if c.CXX {
		args = append(args, classesOfGCC)
	}
	args = append(append(args, last...), "-o", out, "-x", language, "-")
	// What it writes besides is removed with out, also where it is interrupted.
	env := append(os.Environ(), "LC_ALL=C")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		env = append(env, name+"="+filepath.Dir(out))
	}
	return c.run(ctx, compiler[0], args, env, source)
}

// patience is how long a compiler has to end when it is told to.
const patience = 2 * time.Second

// Flags to describe classes with virtual functions too, wherever these are
// defined: neither compiler knows the other's.
const (
	classesOfGCC   = "-femit-class-debug-always"
	classesOfClang = "-fstandalone-debug"
)

// unlimited is clang's flag to say all errors; gcc does so anyway, and does not
// know it.
const unlimited = "-ferror-limit=0"

func (c Config) run(ctx context.Context, compiler string, args, env []string, source []byte) error {
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it removes what it has begun
	cmd.WaitDelay = patience
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
		return c.run(ctx, compiler, append([]string{unlimited}, args...), env, source)
	}
	if i := slices.Index(args, classesOfGCC); i >= 0 && bytes.Contains(text, []byte("unknown argument: '"+classesOfGCC)) {
		args[i] = classesOfClang
		return c.run(ctx, compiler, args, env, source)
	}
	return said(compiler, text, Place(c.Dir))
}
