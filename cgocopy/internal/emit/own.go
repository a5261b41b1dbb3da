package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// UserTypes has facts about types that the user has declared, for comments and checks.
type UserTypes struct {
	Imports []string // of the packages whose types the fields have
	Untaken []string // members that no field takes, e.g. Game: GameObject.pad (char [4])
	Wide    bool     // the code is only correct with int, uint and uintptr of 64 bits
}

const leftTitle = "No field takes these members:"

const omittedTitle = "Left out by -omit pointers, as no tag names them:"

// OmissionChanges compares the lists of omitted members in two generated files, and returns a sentence per
// difference.
func OmissionChanges(old, new string) []string {
	var out []string
	for title, state := range map[string]string{leftTitle: "taken by no field", omittedTitle: "left out as a pointer"} {
		before, now := linesUnder(old, title), linesUnder(new, title)
		for _, l := range now {
			if !slices.Contains(before, l) {
				out = append(out, fmt.Sprintf("%s is %s, and was not there, or was taken, before", l, state))
			}
		}
		for _, l := range before {
			if !slices.Contains(now, l) {
				out = append(out, fmt.Sprintf("%s was %s, and is gone, or taken, now", l, state))
			}
		}
	}
	return out
}

// linesUnder returns the indented lines of the comment under a title.
func linesUnder(src, title string) []string {
	_, rest, _ := strings.Cut(src, "// "+title+"\n//\n")
	var lines []string
	for line := range strings.Lines(rest) {
		text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "//\t")
		if !ok {
			break
		}
		lines = append(lines, text)
	}
	return lines
}

// writeRemarks writes the list of members that no field takes. It also writes a check of the size of int,
// if needed.
func (f *file) writeRemarks(o UserTypes) {
	if o.Wide {
		f.writeLine("// An int here holds a number of 64 bits: this line fails to compile where it\n// cannot.\nconst _ = ^uint(0)>>63 - 1\n")
	}
	f.writeList(leftTitle, o.Untaken)
}

func (f *file) writeList(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	f.writeLine("// %s\n//", title)
	for _, l := range lines {
		f.writeLine("//\t%s", l)
	}
	f.writeLine("")
}

// writeGuard writes declarations that do not compile if a flat type no longer has the layout of its C type.
// A flat type is copied by one assignment. The user may have changed the type, or compile for another
// processor. An array index of [1]struct{}{} other than 0 does not compile.
func (f *file) writeGuard(s *plan.Struct) {
	if !s.Flat {
		return
	}
	var params, types, fields, all []string
	for i, m := range s.Fields {
		all = append(all, fmt.Sprintf("p%d", i+1))
		params = append(params, all[i]+" "+m.Rule.Go)
		types = append(types, "*"+m.Rule.Go)
		fields = append(fields, "&d."+m.Go)
	}
	f.writeLine("// %s is filled as a whole. These lines fail to compile where it is no longer laid\n// out as %s is.", s.Go, s.CName)
	if s.UserType { // a literal has no place for fields of embedded structs
		f.writeLine("var (\n_ = func(d *%s) (%s) { return %s }", s.Go, strings.Join(types, ", "), strings.Join(fields, ", "))
	} else {
		f.writeLine("var (\n_ = func(%s) %s { return %s{%s} }", strings.Join(params, ", "), s.Go, s.Go, strings.Join(all, ", "))
	}
	f.writeLine("_ = [1]struct{}{}[unsafe.Sizeof(%s{})-%d]", s.Go, s.C.Size)
	for _, m := range s.Fields {
		f.writeLine("_ = [1]struct{}{}[%s-%d]", offsetExpr(s.Go, m.Go), m.Offset)
	}
	f.writeLine(")\n")
}

// offsetExpr returns a Go expression for the offset of the field at path: a sum if it is in embedded
// structs.
func offsetExpr(goName, path string) string {
	var sum []string
	for path != "" {
		sum = append(sum, fmt.Sprintf("unsafe.Offsetof(%s{}.%s)", goName, path))
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return strings.Join(sum, " + ")
}

// writePointerCheck writes a declaration that only compiles if pointers have the same size in Go and C.
func (f *file) writePointerCheck(p *plan.Plan) {
	var size int64
	var visit func(r plan.Rule)
	visit = func(r plan.Rule) {
		switch r.Op {
		case plan.Text, plan.Slice, plan.Deref, plan.Opaque:
			size = r.Size
		}
		if r.Elem != nil {
			visit(*r.Elem)
		}
		for _, c := range r.Cases {
			visit(c.Rule)
		}
	}
	for _, s := range p.Structs {
		for _, m := range s.Fields {
			visit(m.Rule)
		}
	}
	if size > 0 {
		f.writeLine("// Pointers here have %d bytes: this line fails to compile where they have not.\nvar _ = [1]struct{}{}[unsafe.Sizeof(uintptr(0))-%d]\n", size, size)
	}
}
