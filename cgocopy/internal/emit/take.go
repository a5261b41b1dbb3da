package emit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// frees reports whether anything is to be freed with a struct.
func frees(s *plan.Struct) bool { return s.Free != "" || owns(s, nil) }

// owns reports whether members of a struct are to be freed: its own, or those
// of structs that lie in it.
func owns(s *plan.Struct, around []*plan.Struct) bool {
	if s == nil || slices.Contains(around, s) {
		return false
	}
	return slices.ContainsFunc(s.Fields, func(m plan.Field) bool { return ownedBy(m.Rule, append(around, s)) })
}

func ownedBy(r plan.Rule, around []*plan.Struct) bool {
	switch {
	case r.Free != "":
		return true
	case r.Op == plan.Nested:
		return owns(r.Struct, around)
	case r.Op == plan.Each, r.Op == plan.Tail:
		return ownedBy(*r.Elem, around)
	}
	return false
}

// freeing are the C functions that free.
func freeing(p *plan.Plan) []string {
	names := map[string]bool{}
	for _, s := range p.Structs {
		if s.Free != "" {
			names[s.Free] = true
		}
		for _, m := range s.Fields {
			if m.Rule.Free != "" {
				names[m.Rule.Free] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// take writes TakeFromC, and what frees.
func (f *file) take(s *plan.Struct) {
	if !frees(s) {
		return
	}
	if owns(s, nil) {
		f.line("// release%s frees what the %s at p owns, once: pointers to it are nil then.", s.Go, s.Says)
		if circular(s) {
			f.line("// What is in done stays: it is freed already, or not owned, and pointers that go\n// in a circle lead to it.")
		}
		f.line("func release%s(%s) {", s.Go, done(s, "p unsafe.Pointer", "done map[unsafe.Pointer]bool"))
		for _, m := range s.Fields {
			v := value{file: f, name: s.Go + "." + m.C, loose: f.loose[s], circular: circular(s)}
			v.release(m.Rule, "p", m.Offset)
		}
		f.line("}\n")
	}
	f.line("// TakeFromC is FromC, and frees what the %s at p owns, once, also where the", s.Says)
	f.line("// copy fails. Pointers in C to what is freed are nil then.")
	f.line("func (d *%s) TakeFromC(p unsafe.Pointer) error {", s.Go)
	f.line("if p == nil {\nreturn cgocopy.ErrNilPointer\n}\nerr := d.FromC(p)")
	if owns(s, nil) {
		f.line("release%s(%s)", s.Go, done(s, "p", "map[unsafe.Pointer]bool{p: true}"))
	}
	if s.Free != "" {
		f.line("C.%s(p)", helper("free", s.Free))
	}
	f.line("return err\n}\n")
}

// release frees what the value of a rule owns.
func (v value) release(r plan.Rule, base string, offset int64) {
	if !ownedBy(r, nil) {
		return
	}
	p := at(base, offset)
	r.Aligned = r.Aligned && !v.loose
	switch r.Op {
	case plan.Nested:
		v.line("release%s(%s)", r.Struct.Go, done(r.Struct, p, "done"))
	case plan.Each:
		i := index(v.loops)
		v.line("for %s := range %d {", i, r.N)
		v.loops++
		v.line("q := unsafe.Add(%s, %s*%d)", p, i, r.Size/r.N)
		v.release(*r.Elem, "q", 0)
		v.line("}")
	case plan.Tail:
		v.elements(r, p)
	case plan.Text, plan.Slice, plan.Deref:
		v.line("if q := %s; q != nil {", pointer(r, p))
		word := fmt.Sprintf("[%d]byte", r.Size)
		v.line("*(*%s)(%s) = %s{}", word, p, word)
		if v.circular {
			v.line("if !done[q] {\ndone[q] = true")
			defer v.line("}")
		}
		switch {
		case r.Op == plan.Slice:
			v.elements(r, "q")
		case r.Op == plan.Deref && owns(r.Struct, nil):
			v.line("release%s(%s)", r.Struct.Go, done(r.Struct, "q", "done"))
		}
		v.line("C.%s(q)\n}", helper("free", r.Free))
	}
}

// elements frees what counted ones own, where their number can be right.
func (v value) elements(r plan.Rule, p string) {
	e := *r.Elem
	e.Free = ""
	if !ownedBy(e, nil) {
		return
	}
	i := index(v.loops)
	v.line("if n, err := cgocopy.Count(%q, %s, %s, %d); err == nil {", v.beside(r.Len.C), p, v.number(r.Len), r.Max)
	if v.circular {
		v.line("for %s := range n {\ndone[unsafe.Add(%s, %s*%d)] = true // they go together\n}", i, p, i, e.Size)
	}
	v.line("for %s := range n {", i)
	v.loops++
	v.loose = v.loose && r.Op == plan.Tail
	v.line("e := unsafe.Add(%s, %s*%d)", p, i, e.Size)
	v.release(e, "e", 0)
	v.line("}\n}")
}

// circular reports whether pointers that a struct owns can go in a circle.
func circular(s *plan.Struct) bool {
	for t := range owned(s) {
		if owned(t)[t] {
			return true
		}
	}
	return owned(s)[s]
}

// owned are the structs that lie in s, or behind pointers in it, and in those.
func owned(s *plan.Struct) map[*plan.Struct]bool {
	seen := map[*plan.Struct]bool{}
	var look func(r plan.Rule)
	look = func(r plan.Rule) {
		if t := r.Struct; t != nil && !seen[t] {
			seen[t] = true
			for _, m := range t.Fields {
				look(m.Rule)
			}
		}
		if r.Elem != nil {
			look(*r.Elem)
		}
	}
	for _, m := range s.Fields {
		look(m.Rule)
	}
	return seen
}

// done adds what is freed already to the arguments of what releases s, where that
// is needed.
func done(s *plan.Struct, p, list string) string {
	if circular(s) {
		return p + ", " + list
	}
	return p
}
