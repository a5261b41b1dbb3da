package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Own is what is said besides of files that fill types of the user's own.
type Own struct {
	Imports []string // packages whose types fields have
	Left    []string // members that no field takes, e.g. GameObject.pad (char [4])
	Wide    bool     // an int, uint or uintptr must have 64 bits
}

// leftTitle begins the list of what is left out.
const leftTitle = "No field takes these members:"

// omittedTitle begins the list of pointers that are left out.
const omittedTitle = "Left out by -omit pointers, as no tag names them:"

// Unlike says, a sentence each, how the members that are left out differ between
// two generated files.
func Unlike(old, new string) []string {
	var out []string
	for title, how := range map[string]string{leftTitle: "taken by no field", omittedTitle: "left out as a pointer"} {
		was, is := listed(old, title), listed(new, title)
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

// listed are the indented lines of the comment under a title.
func listed(src, title string) []string {
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

// remarks writes what [Own] says.
func (f *file) remarks(o Own) {
	if o.Wide {
		f.line("// An int here holds a number of 64 bits: this line fails to compile where it\n// cannot.\nconst _ = ^uint(0)>>63 - 1\n")
	}
	f.list(leftTitle, o.Left)
}

// list writes lines under a title as a comment, where there are any.
func (f *file) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	f.line("// %s\n//", title)
	for _, l := range lines {
		f.line("//\t%s", l)
	}
	f.line("")
}

// guard has the Go compiler refuse a type that is filled as a whole and no longer
// laid out for that: one of the user's own that has changed, or one that was
// generated and edited, or is compiled for another processor.
func (f *file) guard(s *plan.Struct) {
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
	f.line("// %s is filled as a whole. These lines fail to compile where it is no longer laid\n// out as %s is.", s.Go, s.Says)
	if s.Own { // its fields may be those of embedded structs
		f.line("var (\n_ = func(d *%s) (%s) { return %s }", s.Go, strings.Join(types, ", "), strings.Join(fields, ", "))
	} else {
		f.line("var (\n_ = func(%s) %s { return %s{%s} }", strings.Join(params, ", "), s.Go, s.Go, strings.Join(all, ", "))
	}
	f.line("_ = [1]struct{}{}[unsafe.Sizeof(%s{})-%d]", s.Go, s.C.Size)
	for _, m := range s.Fields {
		f.line("_ = [1]struct{}{}[%s-%d]", offset(s.Go, m.Go), m.Offset)
	}
	f.line(")\n")
}

// offset is where a field lies, which may be one of an embedded struct.
func offset(goName, path string) string {
	var sum []string
	for at := path; at != ""; {
		sum = append(sum, fmt.Sprintf("unsafe.Offsetof(%s{}.%s)", goName, at))
		i := strings.LastIndexByte(at, '.')
		at = at[:max(i, 0)]
	}
	return strings.Join(sum, " + ")
}

// pointers has the Go compiler refuse code that reads pointers where they have
// another size than in C.
func (f *file) pointers(p *plan.Plan) {
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
		f.line("// Pointers here have %d bytes: this line fails to compile where they have not.\nvar _ = [1]struct{}{}[unsafe.Sizeof(uintptr(0))-%d]\n", size, size)
	}
}
