package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Assert returns a Go file whose build fails if a header no longer has the layout of the generated code.
// Its C comment has a static assertion for each size and offset.
func Assert(u Unit) ([]byte, error) {
	f := u.newCgoFile()
	f.writeLine("/*")
	f.writeFlags(u.Flags)
	f.writeLine("#include <stddef.h>")
	f.writeIncludes(u.Headers)
	f.writeUndefs(u.Undefine)
	remedy := fmt.Sprintf("run go generate (%s)", shortCommand(u.Command))
	for _, s := range Spots(u.Plan) {
		f.writeLine("_Static_assert(%s == %d, \"%s; %s\");", s.Expr, s.Bytes, s.describeChange(), remedy)
	}
	f.writeLine("*/\nimport \"C\"")
	return f.formatSource()
}

// writeFlags writes the compiler flags of the command line as a #cgo line, with paths relative to the
// package. It omits flags that the go command does not permit there, or replaces them.
func (f *file) writeFlags(flags []string) {
	var permitted, includes []string
	for i, w := range flags {
		before := "" // the flag whose argument w may be
		if i > 0 {
			before = flags[i-1]
		}
		switch {
		case before == "-include":
			includes = append(includes, w)
			continue
		case before == "-I", before == "-isystem", before == "-iquote", before == "-isysroot":
			if !strings.HasPrefix(w, "/") {
				w = "${SRCDIR}/" + w
			}
		case before == "-D", before == "-U":
			// w is a macro, which stays unchanged.
		case w == "-iquote":
			w = "-I"
		case strings.HasPrefix(w, "-I") && len(w) > 2 && w[2] != '/':
			w = "-I${SRCDIR}/" + w[2:]
		case w == "-isystem", w == "-isysroot", w == "-m32", w == "-m64", w == "-mms-bitfields", w == "-mno-ms-bitfields", w == "-funsigned-char":
			// Permitted as it is; an argument may follow.
		case strings.HasPrefix(w, "-I"), strings.HasPrefix(w, "-D"), strings.HasPrefix(w, "-U"), strings.HasPrefix(w, "-std="), strings.HasPrefix(w, "--sysroot="):
			// Permitted as it is.
		default:
			continue
		}
		if strings.ContainsAny(w, " \t'\"\\") {
			w = "'" + w + "'"
		}
		permitted = append(permitted, w)
	}
	if len(permitted) > 0 {
		f.writeLine("#cgo CFLAGS: %s", strings.Join(permitted, " "))
	}
	f.writeIncludes(includes)
}

func (f *file) writeIncludes(headers []string) {
	for _, h := range headers {
		if !strings.HasPrefix(h, "<") {
			h = `"` + h + `"`
		}
		f.writeLine("#include %s", h)
	}
}

// writeUndefs writes #undef lines, after the headers, for macros that have the names of members.
func (f *file) writeUndefs(names []string) {
	for _, name := range names {
		f.writeLine("#undef %s", name)
	}
}

// shortCommand returns the first two words of a command, e.g. "cgocopy gen".
func shortCommand(command string) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(2, len(words))], " ")
}

// hasCName reports whether C can refer to s by a name. Other structs are checked with the struct around
// them.
func hasCName(s *plan.Struct) bool {
	return !strings.Contains(s.CName, ".") && !strings.Contains(s.CName, "without a name")
}
