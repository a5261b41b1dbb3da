package emit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// isFreed reports whether anything is freed with a struct.
func isFreed(s *plan.Struct) bool { return s.Free != "" || hasOwned(s, nil) }

// hasOwned reports whether members of a struct are freed: its own, or those of structs in it.
func hasOwned(s *plan.Struct, around []*plan.Struct) bool {
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
		return hasOwned(r.Struct, around)
	case r.Op == plan.Each, r.Op == plan.Tail:
		return ownedBy(*r.Elem, around)
	}
	return false
}

// freeFunctions lists the C functions that free.
func freeFunctions(p *plan.Plan) []string {
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

// writeTakeFromC writes TakeFromC, and the functions that free.
func (f *file) writeTakeFromC(s *plan.Struct) {
	if !isFreed(s) {
		return
	}
	if hasOwned(s, nil) {
		f.writeLine("// release%s frees what the %s at p owns, once: pointers to it are nil then.", s.Go, s.Says)
		if isCircular(s) {
			f.writeLine("// What is in done stays: it is freed already, or not owned, and pointers that go\n// in a circle lead to it.")
		}
		f.writeLine("func release%s(%s) {", s.Go, releaseArgs(s, "p unsafe.Pointer", "done map[unsafe.Pointer]bool"))
		for _, m := range s.Fields {
			v := value{file: f, name: s.Go + "." + m.C, loose: f.loose[s], circular: isCircular(s)}
			v.emitRelease(m.Rule, "p", m.Offset)
		}
		f.writeLine("}\n")
	}
	f.writeLine("// TakeFromC is FromC, and frees what the %s at p owns, once, also where the", s.Says)
	f.writeLine("// copy fails. Pointers in C to what is freed are nil then.")
	f.writeLine("func (d *%s) TakeFromC(p unsafe.Pointer) error {", s.Go)
	f.writeLine("if p == nil {\nreturn cgocopy.ErrNilPointer\n}\nerr := d.FromC(p)")
	if hasOwned(s, nil) {
		f.writeLine("release%s(%s)", s.Go, releaseArgs(s, "p", "map[unsafe.Pointer]bool{p: true}"))
	}
	if s.Free != "" {
		f.writeLine("C.%s(p)", helperName("free", s.Free))
	}
	f.writeLine("return err\n}\n")
}

// emitRelease emits statements that free what the value of a rule owns.
func (v value) emitRelease(r plan.Rule, base string, offset int64) {
	if !ownedBy(r, nil) {
		return
	}
	p := addressExpr(base, offset)
	r.Aligned = r.Aligned && !v.loose
	switch r.Op {
	case plan.Nested:
		v.writeLine("release%s(%s)", r.Struct.Go, releaseArgs(r.Struct, p, "done"))
	case plan.Each:
		i := indexName(v.loops)
		v.writeLine("for %s := range %d {", i, r.N)
		v.loops++
		v.writeLine("q := unsafe.Add(%s, %s*%d)", p, i, r.Size/r.N)
		v.emitRelease(*r.Elem, "q", 0)
		v.writeLine("}")
	case plan.Tail:
		v.emitReleaseElements(r, p)
	case plan.Text, plan.Slice, plan.Deref:
		v.writeLine("if q := %s; q != nil {", pointerExpr(r, p))
		word := fmt.Sprintf("[%d]byte", r.Size)
		v.writeLine("*(*%s)(%s) = %s{}", word, p, word)
		if v.circular {
			v.writeLine("if !done[q] {\ndone[q] = true")
			defer v.writeLine("}")
		}
		switch {
		case r.Op == plan.Slice:
			v.emitReleaseElements(r, "q")
		case r.Op == plan.Deref && hasOwned(r.Struct, nil):
			v.writeLine("release%s(%s)", r.Struct.Go, releaseArgs(r.Struct, "q", "done"))
		}
		v.writeLine("C.%s(q)\n}", helperName("free", r.Free))
	}
}

// emitReleaseElements emits statements that free what counted elements own, if their number can be
// correct.
func (v value) emitReleaseElements(r plan.Rule, p string) {
	e := *r.Elem
	e.Free = ""
	if !ownedBy(e, nil) {
		return
	}
	i := indexName(v.loops)
	v.writeLine("if n, err := cgocopy.Count(%q, %s, %s, %d); err == nil {", v.siblingName(r.Len.C), p, v.countExpr(r.Len), r.Max)
	if v.circular {
		v.writeLine("for %s := range n {\ndone[unsafe.Add(%s, %s*%d)] = true // they go together\n}", i, p, i, e.Size)
	}
	v.writeLine("for %s := range n {", i)
	v.loops++
	v.loose = v.loose && r.Op == plan.Tail
	v.writeLine("e := unsafe.Add(%s, %s*%d)", p, i, e.Size)
	v.emitRelease(e, "e", 0)
	v.writeLine("}\n}")
}

// isCircular reports whether pointers that a struct owns can form a cycle.
func isCircular(s *plan.Struct) bool {
	for t := range ownedStructs(s) {
		if ownedStructs(t)[t] {
			return true
		}
	}
	return ownedStructs(s)[s]
}

// ownedStructs returns the structs in s, or after pointers in it, and in those.
func ownedStructs(s *plan.Struct) map[*plan.Struct]bool {
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

// releaseArgs adds the list of freed pointers to the arguments of the function that releases s, if
// it needs one.
func releaseArgs(s *plan.Struct, p, list string) string {
	if isCircular(s) {
		return p + ", " + list
	}
	return p
}
