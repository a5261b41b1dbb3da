package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Assert returns the file by which the C compiler fails to build the package when a header no
// longer fits: sizes and offsets only, so that a swap of two members is noticed too. It needs cgo,
// and is not built without.
func Assert(u Unit) ([]byte, error) {
	build := "cgo"
	if u.Build != "" && u.Build != build {
		build += " && (" + u.Build + ")"
	}
	u.Build = build
	f := u.newFile()
	f.writeLine("/*")
	f.cgoFlags(u.Flags)
	f.writeLine("#include <stddef.h>")
	f.writeIncludes(u.Headers)
	f.writeUndefs(u.Undefine)
	again := fmt.Sprintf("run go generate (%s)", shortCommand(u.Command))
	for _, s := range Spots(u.Plan) {
		f.writeLine("_Static_assert(%s == %d, \"%s; %s\");", s.Expr, s.Bytes, s.describeChange(), again)
	}
	f.writeLine("*/\nimport \"C\"")
	return f.formatSource()
}

// cgoFlags writes flags of the command line that the go command takes too. Of those
// that it does not take, -iquote becomes -I, and what -include names is included.
func (f *file) cgoFlags(flags []string) {
	var out, first []string
	for i, w := range flags {
		before := ""
		if i > 0 {
			before = flags[i-1]
		}
		switch {
		case before == "-include":
			first = append(first, w)
			continue
		case before == "-I", before == "-isystem", before == "-iquote", before == "-isysroot":
			if !strings.HasPrefix(w, "/") {
				w = "${SRCDIR}/" + w
			}
		case before == "-D", before == "-U":
		case w == "-iquote":
			w = "-I"
		case strings.HasPrefix(w, "-I") && len(w) > 2 && w[2] != '/':
			w = "-I${SRCDIR}/" + w[2:]
		case w == "-isystem", w == "-isysroot", w == "-m32", w == "-m64", w == "-mms-bitfields", w == "-mno-ms-bitfields", w == "-funsigned-char":
		case strings.HasPrefix(w, "-I"), strings.HasPrefix(w, "-D"), strings.HasPrefix(w, "-U"), strings.HasPrefix(w, "-std="), strings.HasPrefix(w, "--sysroot="):
		default:
			continue
		}
		if strings.ContainsAny(w, " \t'\"\\") {
			w = "'" + w + "'"
		}
		out = append(out, w)
	}
	if len(out) > 0 {
		f.writeLine("#cgo CFLAGS: %s", strings.Join(out, " "))
	}
	f.writeIncludes(first)
}

// writeIncludes writes #include lines.
func (f *file) writeIncludes(headers []string) {
	for _, h := range headers {
		if !strings.HasPrefix(h, "<") {
			h = `"` + h + `"`
		}
		f.writeLine("#include %s", h)
	}
}

// writeUndefs removes the macros with the names of members, after the headers.
func (f *file) writeUndefs(names []string) {
	for _, name := range names {
		f.writeLine("#undef %s", name)
	}
}

// shortCommand returns a command without its arguments.
func shortCommand(command string) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(2, len(words))], " ")
}

// hasCName reports whether the type has a name in C: one without a name is in another, and checked
// by that one's size.
func hasCName(s *plan.Struct) bool {
	return !strings.Contains(s.Says, ".") && !strings.Contains(s.Says, "without a name")
}
