package emit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// This file generates the method TakeFromC, which copies a C struct and then frees C memory. A struct may
// have a free function, and so may the targets of its pointers: it owns them.

func needsTakeFromC(s *plan.Struct) bool { return s.Free != "" || ownsMemory(s, nil) }

// ownsMemory reports whether a struct, or a struct inside it, owns memory. around has the structs around s,
// to end in cycles.
func ownsMemory(s *plan.Struct, around []*plan.Struct) bool {
	if s == nil || slices.Contains(around, s) {
		return false
	}
	return slices.ContainsFunc(s.Fields, func(m plan.Field) bool { return valueOwnsMemory(m.Rule, append(around, s)) })
}

func valueOwnsMemory(r plan.Rule, around []*plan.Struct) bool {
	switch {
	case r.Free != "":
		return true
	case r.Op == plan.Nested:
		return ownsMemory(r.Struct, around)
	case r.Op == plan.Each, r.Op == plan.Tail:
		return valueOwnsMemory(*r.Elem, around)
	}
	return false
}

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

// writeTakeFromC writes the method TakeFromC. If the struct owns memory, it also writes a function release
// that frees it.
func (f *file) writeTakeFromC(s *plan.Struct) {
	if !needsTakeFromC(s) {
		return
	}
	if ownsMemory(s, nil) {
		f.writeLine("// release%s frees what the %s at p owns, once: pointers to it are nil then.", s.Go, s.CName)
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
	f.writeLine("// TakeFromC is FromC, and frees what the %s at p owns, once, also where the", s.CName)
	f.writeLine("// copy fails. Pointers in C to what is freed are nil then.")
	f.writeLine("func (d *%s) TakeFromC(p unsafe.Pointer) error {", s.Go)
	f.writeLine("if p == nil {\nreturn cgocopy.ErrNilPointer\n}\nerr := d.FromC(p)")
	if ownsMemory(s, nil) {
		f.writeLine("release%s(%s)", s.Go, releaseArgs(s, "p", "map[unsafe.Pointer]bool{p: true}"))
	}
	if s.Free != "" {
		f.writeLine("C.%s(p)", helperName("free", s.Free))
	}
	f.writeLine("return err\n}\n")
}

// emitRelease emits statements that free the memory of the value of rule r at base+offset. They set the
// pointers to nil.
func (v value) emitRelease(r plan.Rule, base string, offset int64) {
	if !valueOwnsMemory(r, nil) {
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
		bytes := fmt.Sprintf("[%d]byte", r.Size) // the pointer as bytes: it may be unaligned
		v.writeLine("*(*%s)(%s) = %s{}", bytes, p, bytes)
		if v.circular {
			v.writeLine("if !done[q] {\ndone[q] = true")
			defer v.writeLine("}")
		}
		switch {
		case r.Op == plan.Slice:
			v.emitReleaseElements(r, "q")
		case r.Op == plan.Deref && ownsMemory(r.Struct, nil):
			v.writeLine("release%s(%s)", r.Struct.Go, releaseArgs(r.Struct, "q", "done"))
		}
		v.writeLine("C.%s(q)\n}", helperName("free", r.Free))
	}
}

// emitReleaseElements emits statements that free the memory of the counted elements at p. They do nothing
// if the count is impossible.
func (v value) emitReleaseElements(r plan.Rule, p string) {
	e := *r.Elem
	e.Free = ""
	if !valueOwnsMemory(e, nil) {
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

// isCircular reports whether the pointers that start in a struct can form a cycle.
func isCircular(s *plan.Struct) bool {
	for t := range reachableStructs(s) { // includes s if s itself is in a cycle
		if reachableStructs(t)[t] {
			return true
		}
	}
	return false
}

// reachableStructs returns the structs that s contains or points to, directly or not. It contains s only if
// s leads back to itself.
func reachableStructs(s *plan.Struct) map[*plan.Struct]bool {
	seen := map[*plan.Struct]bool{}
	var visit func(r plan.Rule)
	visit = func(r plan.Rule) {
		if t := r.Struct; t != nil && !seen[t] {
			seen[t] = true
			for _, m := range t.Fields {
				visit(m.Rule)
			}
		}
		if r.Elem != nil {
			visit(*r.Elem)
		}
	}
	for _, m := range s.Fields {
		visit(m.Rule)
	}
	return seen
}

// releaseArgs returns the arguments, or the parameters, of the function that releases s. done is the set of
// freed pointers; only a struct with possible cycles needs it.
func releaseArgs(s *plan.Struct, p, done string) string {
	if isCircular(s) {
		return p + ", " + done
	}
	return p
}
