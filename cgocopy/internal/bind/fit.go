package bind

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// misfit says why a Go type cannot hold what a rule yields, and what could be
// done. Without a reason it has been said already.
type misfit struct{ reason, remedy string }

func miss(remedy, format string, args ...any) (plan.Rule, *misfit) {
	return plan.Rule{}, &misfit{fmt.Sprintf(format, args...), remedy}
}

// fitting makes rules fit Go types.
type fitting struct {
	*binder
	offset int64 // of the member in its struct, or of the value behind its pointer
	at     token.Pos
}

// fit is rule r, which was made for a value of type c, for a Go value of type g.
func (w *fitting) fit(r plan.Rule, c *ctype.Type, g types.Type) (plan.Rule, *misfit) {
	text, _ := w.write(g)
	if b, ok := g.Underlying().(*types.Basic); ok && b.Kind() == types.Invalid {
		return miss("declare it in this package, or import what declares it", "its type cannot be resolved")
	}
	if _, m, ok := plan.View(c); ok && r.Op != plan.Union {
		c = m.Type
	}
	switch r.Op {
	case plan.Load, plan.Each:
		if s := c.Strip(); s.Kind == ctype.Array {
			return w.array(r, s, g, text)
		}
		return w.number(r, c.Strip(), g, text)
	case plan.Bool:
		return w.boolean(r, g, text)
	case plan.Chars, plan.Text:
		return w.text(r, g, text)
	case plan.Nested:
		return w.nested(r, g)
	case plan.Slice, plan.Tail:
		return w.slice(r, c.Strip(), g, text)
	case plan.Bits:
		return w.bits(r, g, text)
	case plan.Union:
		return w.union(r, c.Strip(), g, text)
	case plan.Deref:
		return w.deref(r, g, text)
	case plan.Opaque:
		if b, ok := g.Underlying().(*types.Basic); ok && b.Kind() == types.Uintptr {
			r.Go = text
			return r, nil
		}
	}
	return miss("make it "+r.Go, "that becomes %s", r.Go)
}

func (w *fitting) boolean(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	if b, ok := g.Underlying().(*types.Basic); !ok || b.Kind() != types.Bool {
		return miss("make it bool", "that becomes bool")
	}
	if r.Go = text; text != "bool" {
		r.From = "bool"
	}
	return r, nil
}

// text is a string, or a slice of bytes.
func (w *fitting) text(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	switch u := g.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.String {
			r.Go = text
			return r, nil
		}
	case *types.Slice:
		if b, ok := u.Elem().(*types.Basic); ok && b.Kind() == types.Byte {
			r.Go, r.Bytes = text, true
			return r, nil
		}
	}
	if r.Op == plan.Chars {
		return miss("make it string, []byte or "+fmt.Sprintf("[%d]byte", r.N), "that is text")
	}
	return miss("make it string or []byte, or uintptr for the bare address", "that is text")
}

func (w *fitting) array(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	want := fmt.Sprintf("make it an array of %d", r.N)
	if r.N == 0 {
		want = fmt.Sprintf("make it an array of %d", s.Count)
	}
	a, ok := g.Underlying().(*types.Array)
	if !ok {
		if _, slice := g.Underlying().(*types.Slice); slice {
			want += ", or say which member counts with the tag `cgocopy:\",len=MEMBER\"`"
		}
		return miss(want, "that is an array")
	}
	if a.Len() != s.Count {
		return miss(want, "that has %d elements, not %d", s.Count, a.Len())
	}
	one, m := w.fit(*r.Elem, s.Elem, a.Elem())
	if m != nil {
		return one, m
	}
	r.Elem, r.Go, r.Op = &one, text, plan.Each
	stride := s.Size / s.Count
	one.Aligned = one.Aligned && stride%max(1, w.sizes.Alignof(a.Elem())) == 0
	r.Aligned = one.Aligned
	if one.Op == plan.Load && one.From == "" && w.sizes.Sizeof(a.Elem()) == stride {
		r.Op = plan.Load
	}
	return r, nil
}

// slice is what a pointer or an array holds as many of as a member says.
func (w *fitting) slice(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	l, ok := g.Underlying().(*types.Slice)
	if !ok {
		return miss("make it a slice", "that is as many as %s says", r.Len.C)
	}
	behind := *w
	behind.offset = 0
	one, m := behind.fit(*r.Elem, s.Elem, l.Elem())
	if m != nil {
		return one, m
	}
	r.Elem, r.Go = &one, text
	return r, nil
}

// nested is a struct, which must be the user's own too.
func (w *fitting) nested(r plan.Rule, g types.Type) (plan.Rule, *misfit) {
	n, m := w.local(r, g)
	if m != nil {
		return plan.Rule{}, m
	}
	inner := w.structOf(n, r.Struct.C, r.Struct.Says, w.at)
	if inner == nil {
		return plan.Rule{}, &misfit{}
	}
	r.Go, r.Struct = inner.Go, inner
	r.Aligned = w.offset%max(1, w.sizes.Alignof(n)) == 0
	if inner.Flat {
		r.Op = plan.Load
	}
	return r, nil
}

// local is the struct type of the package that g is.
func (w *fitting) local(r plan.Rule, g types.Type) (*types.Named, *misfit) {
	n, ok := types.Unalias(g).(*types.Named)
	_, isStruct := g.Underlying().(*types.Struct)
	switch {
	case isStruct && !ok:
		return nil, &misfit{"that is a struct, and this one has no name to give methods to", "declare it as a type of its own"}
	case !isStruct:
		return nil, &misfit{"that is a struct", "make it a struct declared in this package"}
	case n.Obj().Pkg() != w.types:
		return nil, &misfit{"that is a struct, and this one is of another package, where it cannot have methods", "declare one in this package"}
	case n.TypeParams().Len() > 0 || n.TypeArgs().Len() > 0:
		return nil, &misfit{"that is a struct, and this one has type parameters", "declare one without"}
	}
	return n, nil
}

func (w *fitting) deref(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	p, ok := g.Underlying().(*types.Pointer)
	if !ok {
		return miss("make it a pointer to a struct declared in this package", "that is a pointer to a struct")
	}
	n, m := w.local(r, p.Elem())
	if m != nil {
		return plan.Rule{}, m
	}
	inner := w.structOf(n, r.Struct.C, r.Struct.Says, w.at)
	if inner == nil {
		return plan.Rule{}, &misfit{}
	}
	r.Go, r.Struct = text, inner
	return r, nil
}

// union is a struct with a field for each member that the tag names.
func (w *fitting) union(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	u, ok := g.Underlying().(*types.Struct)
	if !ok {
		return miss("make it a struct with a field for each member of the union that the tag names", "that is a union")
	}
	taken := map[string]bool{}
	for i, c := range r.Cases {
		m, f, ok := w.alternative(s, u, c)
		if !ok {
			return miss("declare one, e.g. "+c.Field+" "+c.Rule.Go, "it has no field for the union's member %s", m.Name)
		}
		rule, wrong := w.fit(c.Rule, m.Type, f.Type())
		if wrong != nil {
			if wrong.reason != "" {
				wrong.reason = fmt.Sprintf("its field %s cannot hold %s (%s): %s", f.Name(), m.Name, m.Type, wrong.reason)
			}
			return rule, wrong
		}
		r.Cases[i].Field, r.Cases[i].Rule = f.Name(), rule
		taken[f.Name()] = true
	}
	for f := range u.Fields() {
		if f.Exported() && !taken[f.Name()] {
			return miss("take it away, or add its value to the tag", "its field %s takes no member of the union that the tag names", f.Name())
		}
	}
	r.Go = text
	return r, nil
}

// alternative finds the member of a union that a case takes, and its field.
func (w *fitting) alternative(s *ctype.Type, u *types.Struct, c plan.Case) (plan.Member, *types.Var, bool) {
	for _, m := range plan.Members(s) {
		if m.Name == c.C {
			f, ok := takes(u, m)
			return m, f.Var, ok
		}
	}
	return plan.Member{Name: c.C}, nil, false
}

// takes is the field of u that takes a member of a union.
func takes(u *types.Struct, m plan.Member) (field, bool) {
	for i := range u.NumFields() {
		f := field{Var: u.Field(i)}
		f.tag, f.err = plan.ParseTag(reflect.StructTag(u.Tag(i)).Get("cgocopy"))
		if _, why := find(f, []plan.Member{m}); why == "" && !f.tag.Skip && f.err == nil {
			return f, true
		}
	}
	return field{}, false
}

// alternatives are the tags of the fields that take a union's members.
func (b *binder) alternatives(path string, c *ctype.Type, f field) map[string]plan.Tag {
	u, ok := f.Type().Underlying().(*types.Struct)
	s := c.Strip()
	if f.tag.On == "" || !ok || s == nil || s.Kind != ctype.Union {
		return nil
	}
	tags := map[string]plan.Tag{}
	for _, m := range plan.Members(s) {
		if one, ok := takes(u, m); ok {
			tags[path+"."+m.Name] = lean(one.tag, m.Type, one.Type())
		}
	}
	return tags
}
