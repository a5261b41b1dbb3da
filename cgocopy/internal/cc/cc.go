// Package cc has the user's own C compiler say how types are laid out: it
// compiles a few lines that include their headers, with their flags, into an
// object file with a description of its types.
package cc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	Dir     string   // where the compiler runs; empty: here
}

// ours are last, because flags of the user would otherwise hide the types:
// optimisation at link time, split files, older formats.
func ours() []string {
	return []string{"-g2", "-gno-split-dwarf", "-fno-lto", "-fno-debug-types-section", "-O0", "-w", "-c"}
}

// ErrNoCompiler says that there is none.
var ErrNoCompiler = errors.New("no C compiler found: install gcc or clang, or name yours in CC (of C++ in CXX)")

// Error is what the compiler had to say.
type Error struct {
	File string // empty: not known
	Line int
	Col  int
	Text string // the first error, one line
	More int    // further errors
}

// Error is file:line:col and the text.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Col)
	}
	b.WriteString(e.Text)
	if e.More > 0 {
		fmt.Fprintf(&b, " (and %d more)", e.More)
	}
	return b.String()
}

// UnknownTypeError says which of the wanted types the headers do not have.
type UnknownTypeError struct {
	Names   []string
	Headers []string
}

// Error names them.
func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("no type %s in %s", strings.Join(e.Names, ", "), strings.Join(e.Headers, ", "))
}

// Read compiles and returns the types, found by the names that were asked for;
// those of functions by their name and ().
func Read(ctx context.Context, c Config) (*object.File, map[string]*ctype.Type, error) {
	compiler, err := Compiler(c.CC, c.CXX)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "cgocopy-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	spelled, err := c.spell(ctx, compiler, dir)
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(dir, "anchors.o")
	if err := c.compile(ctx, compiler, c.source(spelled), out); err != nil {
		return nil, nil, err
	}
	f, err := object.Open(out)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]*ctype.Type{}
	for i, name := range c.Types {
		t := f.Anchor(anchor(i))
		if t == nil {
			return nil, nil, fmt.Errorf("%s: the compiler did not describe it; is -g undone by something that wraps it?", name)
		}
		found[name] = t
	}
	for i, name := range c.Funcs {
		t := f.Anchor(anchor(len(c.Types) + i))
		if t == nil || t.Strip() == nil || t.Strip().Kind != ctype.Func {
			return nil, nil, fmt.Errorf("%s is no function in %s", name, strings.Join(c.Headers, ", "))
		}
		found[name+"()"] = t.Strip()
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
		words = strings.Fields(os.Getenv(variable))
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

// source includes the headers and holds a pointer to each type: what nothing
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
		fmt.Fprintf(&b, "#line 1 \"%s\"\n%s *%s;\n", place(i), name, anchor(i))
	}
	for i, name := range c.Funcs {
		fmt.Fprintf(&b, "#line 1 \"%s\"\n__typeof__(&%s) %s;\n", place(len(spelled)+i), name, anchor(len(spelled)+i))
	}
	return b.Bytes()
}

// spell finds out how C wants each name: alone, or with struct, union or enum
// before it.
func (c Config) spell(ctx context.Context, compiler []string, dir string) ([]string, error) {
	spelled := append([]string(nil), c.Types...)
	for _, word := range []string{"", "struct ", "union ", "enum "} {
		unknown, err := c.unknown(ctx, compiler, spelled, dir)
		if err != nil {
			return nil, err
		}
		if len(unknown) == 0 {
			return spelled, nil
		}
		if last := unknown[len(unknown)-1]; last >= len(c.Types) {
			return nil, fmt.Errorf("no function %s in %s", c.Funcs[last-len(c.Types)], strings.Join(c.Headers, ", "))
		}
		if word == "enum " {
			var names []string
			for _, i := range unknown {
				names = append(names, c.Types[i])
			}
			return nil, &UnknownTypeError{names, c.Headers}
		}
		next := map[string]string{"": "struct ", "struct ": "union ", "union ": "enum "}[word]
		for _, i := range unknown {
			if strings.ContainsRune(c.Types[i], ' ') {
				return nil, &UnknownTypeError{[]string{c.Types[i]}, c.Headers}
			}
			spelled[i] = next + c.Types[i]
		}
	}
	return spelled, nil
}

// unknown compiles and returns which of the names do not name a complete type.
func (c Config) unknown(ctx context.Context, compiler, spelled []string, dir string) ([]int, error) {
	src := c.source(spelled)
	var b bytes.Buffer
	b.Write(src)
	for i, name := range spelled { // an incomplete type has no size
		fmt.Fprintf(&b, "#line 1 \"%s\"\nchar __cgocopy_size_%d[sizeof(%s)];\n", place(i), i, name)
	}
	err := c.compile(ctx, compiler, b.Bytes(), filepath.Join(dir, "probe.o"))
	var said *outputError
	if !errors.As(err, &said) {
		return nil, err
	}
	var list []int
	seen := map[int]bool{}
	for _, e := range said.errors {
		n, ok := strings.CutPrefix(filepath.Base(e.File), placePrefix)
		i, numErr := strconv.Atoi(n)
		if !ok || numErr != nil || i >= len(spelled)+len(c.Funcs) {
			return nil, said.first()
		}
		if !seen[i] {
			seen[i] = true
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, said.first()
	}
	slices.Sort(list)
	return list, nil
}

// outputError is what a compiler that failed wrote.
type outputError struct {
	errors []Error
	text   string
}

func (e *outputError) Error() string { return e.first().Error() }

func (e *outputError) first() error {
	if len(e.errors) == 0 {
		return &Error{Text: e.text}
	}
	first := e.errors[0]
	first.More = len(e.errors) - 1
	return &first
}

// compile compiles source, from standard input, into out.
func (c Config) compile(ctx context.Context, compiler []string, source []byte, out string) error {
	language := map[bool]string{false: "c", true: "c++"}[c.CXX]
	args := append(append([]string{}, compiler[1:]...), "-I", ".")
	args = append(append(args, c.Flags...), ours()...)
	args = append(args, "-o", out, "-x", language, "-")
	return c.run(ctx, compiler[0], args, source)
}

// unlimited is clang's flag to say all errors; gcc does so anyway, and does not
// know it.
const unlimited = "-ferror-limit=0"

func (c Config) run(ctx context.Context, compiler string, args []string, source []byte) error {
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stdin = bytes.NewReader(source)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", compiler, err)
	}
	if bytes.Contains(text, []byte("too many errors")) && args[0] != unlimited {
		return c.run(ctx, compiler, append([]string{unlimited}, args...), source)
	}
	return said(compiler, text)
}

var errorLine = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)

// said reads the errors off a compiler's output.
func said(compiler string, text []byte) error {
	e := &outputError{text: compiler + " failed"}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		m := errorLine.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "error:") && e.text == compiler+" failed" {
				e.text = line
			}
			continue
		}
		n, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		e.errors = append(e.errors, Error{File: m[1], Line: n, Col: max(col, 1), Text: m[4]})
	}
	return e
}
