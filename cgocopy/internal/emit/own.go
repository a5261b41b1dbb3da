package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Own holds the additional text of files that fill the user's own types.
type Own struct {
	Imports []string // packages whose types fields have
	Left    []string // members that no field takes, e.g. GameObject.pad (char [4])
	Wide    bool     // an int, uint or uintptr must have 64 bits
}

// leftTitle is the title of the list of omitted members.
const leftTitle = "No field takes these members:"

// omittedTitle is the title of the list of omitted pointers.
const omittedTitle = "Left out by -omit pointers, as no tag names them:"

// Unlike returns a sentence per difference between the omitted members of two generated files.
func Unlike(old, new string) []string {
	var out []string
	for title, how := range map[string]string{leftTitle: "taken by no field", omittedTitle: "left out as a pointer"} {
		was, is := linesUnder(old, title), linesUnder(new, title)
		for _, l := range is {
			if !slices.Contains(was, l) {
				out = append(out, fmt.Sprintf("%s is %s, and was not there, or was taken, before", l, how))
			}
		}
		for _, l := range was {
			if !slices.Contains(is, l) {
				out = append(out, fmt.Sprintf("%s was %s, and is gone, or taken, now", l, how))
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

// writeRemarks writes the texts of [Own].
func (f *file) writeRemarks(o Own) {
	if o.Wide {
		f.writeLine("// An int here holds a number of 64 bits: this line fails to compile where it\n// cannot.\nconst _ = ^uint(0)>>63 - 1\n")
	}
	f.writeList(leftTitle, o.Left)
}

// writeList writes lines under a title as a comment, if there are any.
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

// writeGuard writes code that makes the Go compiler reject a type that is filled as one block and
// no longer has that layout: one of the user's own that has changed, or one that was generated and
// edited, or is compiled for another processor.
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
	f.writeLine("// %s is filled as a whole. These lines fail to compile where it is no longer laid\n// out as %s is.", s.Go, s.Says)
	if s.Own { // its fields may be those of embedded structs
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

// offsetExpr returns the offset of a field, which may be one of an embedded struct.
func offsetExpr(goName, path string) string {
	var sum []string
	for at := path; at != ""; {
		sum = append(sum, fmt.Sprintf("unsafe.Offsetof(%s{}.%s)", goName, at))
		i := strings.LastIndexByte(at, '.')
		at = at[:max(i, 0)]
	}
	return strings.Join(sum, " + ")
}

// writePointerCheck writes code that the Go compiler rejects if pointers have another size than in
// C.
func (f *file) writePointerCheck(p *plan.Plan) {
	var size int64
	var look func(r plan.Rule)
	look = func(r plan.Rule) {
		switch r.Op {
		case plan.Text, plan.Slice, plan.Deref, plan.Opaque:
			size = r.Size
		}
		if r.Elem != nil {
			look(*r.Elem)
		}
		for _, c := range r.Cases {
			look(c.Rule)
		}
	}
	for _, s := range p.Structs {
		for _, m := range s.Fields {
			look(m.Rule)
		}
	}
	if size > 0 {
		f.writeLine("// Pointers here have %d bytes: this line fails to compile where they have not.\nvar _ = [1]struct{}{}[unsafe.Sizeof(uintptr(0))-%d]\n", size, size)
	}
}
