package cc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Error is one error in the compiler's output.
type Error struct {
	File string // path relative to the working directory; "" if unknown
	Line int
	Col  int
	Text string // message, one line
}

// Error returns file:line:col and the text, or only the text if the file is unknown.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Text)
}

// UserPath returns a function that converts a compiler's path to a path for the user. The compiler runs in
// dir. A path in or below dir becomes relative to the working directory.
func UserPath(dir string) func(file string) string {
	var roots []string // absolute paths of dir, with and without symbolic links
	if root, err := filepath.Abs(dir); err == nil {
		roots = append(roots, root)
		if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
			roots = append(roots, real)
		}
	}
	return func(file string) string {
		if !filepath.IsAbs(file) {
			return filepath.Join(dir, file)
		}
		for _, root := range roots {
			if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
				return filepath.Join(dir, rel)
			}
		}
		return file
	}
}

// outputError is the output of a compiler that failed.
type outputError struct {
	errors   []Error             // errors with a position, as the compiler names files
	text     string              // message if there are no such errors
	userPath func(string) string // see [UserPath]
}

func (e *outputError) Error() string { return e.joinErrors().Error() }

// maxErrors is the largest number of compiler errors that are reported.
const maxErrors = 10

// joinErrors returns the compiler's errors, one line each. Errors in the headers hide those in our own
// source.
func (e *outputError) joinErrors() error {
	inHeaders := slices.DeleteFunc(slices.Clone(e.errors), func(e Error) bool { return strings.Contains(e.File, lineFilePrefix) })
	reported := inHeaders
	if len(reported) == 0 {
		reported = e.errors
	}
	if len(reported) == 0 {
		return &Error{Text: e.text}
	}
	var list []error
	for i, found := range reported {
		if i == maxErrors {
			list = append(list, fmt.Errorf("and %d more", len(reported)-maxErrors))
			break
		}
		switch {
		case strings.Contains(found.File, "<stdin>"), strings.Contains(found.File, lineFilePrefix): // a line that the user has not written
			found.File = ""
		case found.File != "":
			found.File = e.userPath(found.File)
		}
		list = append(list, &found)
	}
	return errors.Join(list...)
}

// errorLine matches an error of gcc or clang, e.g. "a.h:3:7: error: unknown type". Its groups are the file,
// the line, the column, if any, and the message.
var errorLine = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)

// parseOutput parses the output of a compiler that failed, into an [outputError].
func parseOutput(compiler string, text []byte, userPath func(string) string) error {
	e := &outputError{userPath: userPath}
	first := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		m := errorLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			n, _ := strconv.Atoi(m[2])
			col, _ := strconv.Atoi(m[3])
			e.errors = append(e.errors, Error{File: m[1], Line: n, Col: max(col, 1), Text: m[4]})
		case e.text == "" && strings.Contains(line, "error:"):
			e.text = line
		case first == "":
			first = line
		}
	}
	switch {
	case e.text == "" && first == "":
		e.text = compiler + " failed, and says nothing: is it a C compiler?"
	case e.text == "":
		e.text = compiler + " failed: " + first
	}
	return e
}

// UnknownError lists the requested names that the headers do not have.
type UnknownError struct {
	Types   []string // not declared
	Opaque  []string // declared but not defined
	Funcs   []string // not declared
	Headers []string // searched headers, or the object file
	Object  bool     // Headers has an object file
}

// Error returns one line for the unknown types, one for each opaque type and one for the functions.
func (e *UnknownError) Error() string {
	in := strings.Join(e.Headers, ", ")
	var lines []string
	switch {
	case len(e.Types) == 0:
	case e.Object:
		lines = append(lines, fmt.Sprintf("no type %s in %s; cgocopy layout %s lists all types", strings.Join(e.Types, ", "), in, in))
	default:
		lines = append(lines, fmt.Sprintf("no type %s in %s; say the name of a typedef or the tag of a struct, and the header that defines it", strings.Join(e.Types, ", "), in))
	}
	for _, name := range e.Opaque {
		lines = append(lines, fmt.Sprintf("type %s is declared but not defined in %s; name the header that defines it, or keep pointers to it and copy nothing", name, in))
	}
	if len(e.Funcs) > 0 {
		lines = append(lines, fmt.Sprintf("no function %s in %s; name the header that declares it", strings.Join(e.Funcs, ", "), in))
	}
	return strings.Join(lines, "\n")
}

func makeTempDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "cgocopy-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
