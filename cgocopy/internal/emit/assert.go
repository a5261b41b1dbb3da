package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Assert is the file by which the C compiler refuses to build the package when
// a header no longer fits: sizes and offsets alone, so that a swap of two
// members is noticed too. It needs cgo, and without it is left out of a build.
func Assert(u Unit) ([]byte, error) {
	build := "cgo"
	if u.Build != "" && u.Build != build {
		build += " && (" + u.Build + ")"
	}
	u.Build = build
	f := u.begin()
	f.line("/*")
	f.cgoFlags(u.Flags)
	f.line("#include <stddef.h>")
	f.includes(u.Headers)
	f.undefine(u.Undefine)
	again := fmt.Sprintf("run go generate (%s)", short(u.Command))
	for _, s := range Spots(u.Plan) {
		f.line("_Static_assert(%s == %d, \"%s; %s\");", s.Expr, s.Bytes, s.says(), again)
	}
	f.line("*/\nimport \"C\"")
	return f.source()
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
		f.line("#cgo CFLAGS: %s", strings.Join(out, " "))
	}
	f.includes(first)
}

// includes writes #include lines.
func (f *file) includes(headers []string) {
	for _, h := range headers {
		if !strings.HasPrefix(h, "<") {
			h = `"` + h + `"`
		}
		f.line("#include %s", h)
	}
}

// undefine makes names mean members again: what comes after the headers has none of
// their macros.
func (f *file) undefine(names []string) {
	for _, name := range names {
		f.line("#undef %s", name)
	}
}

// short is a command without its arguments.
func short(command string) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(2, len(words))], " ")
}

// nameable reports whether C can say the type's name: one without a name lies
// in another, and is held by that one's size.
func nameable(s *plan.Struct) bool {
	return !strings.Contains(s.Says, ".") && !strings.Contains(s.Says, "without a name")
}
