package bind

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// This file adapts rules to the Go types of the user's fields. A plan.Rule says how a value of a C type is
// copied. At first its Go type is the one that cgocopy would choose, e.g. int32 for int. If the user's
// field has a wider type, such as int64, the rule changes to fill it.

// misfit explains why a Go type cannot store the value of a rule, and names a remedy. The reason follows
// the C type in a message: "cannot hold p.name (char [8]): that is text; make it string, …". It is "" if
// the error has been reported.
type misfit struct{ reason, remedy string }

// newMisfit returns no rule and a misfit.
func newMisfit(remedy, format string, args ...any) (plan.Rule, *misfit) {
	return plan.Rule{}, &misfit{fmt.Sprintf(format, args...), remedy}
}

// typeFitter adapts the rules of one member to the Go type of its field.
type typeFitter struct {
	*binder
	offset int64     // of the member in the struct; 0 for the target of a pointer
	pos    token.Pos // of the field
}

// fitRule adapts rule r of C type c to fill a value of Go type g. The misfit is nil if that is possible.
// The other fit methods do the same for one sort of rules; text is g as source.
func (w *typeFitter) fitRule(r plan.Rule, c *ctype.Type, g types.Type) (plan.Rule, *misfit) {
	text, _ := w.formatType(g)
	if b, ok := g.Underlying().(*types.Basic); ok && b.Kind() == types.Invalid {
		return newMisfit("declare it in this package, or import what declares it", "its type cannot be resolved")
	}
	if _, m, ok := plan.View(c); ok && r.Op != plan.Union { // r reads member m of a union
		c = m.Type
	}
	switch r.Op {
	case plan.Load, plan.Each:
		if s := c.Strip(); s.Kind == ctype.Array {
			return w.fitArray(r, s, g, text)
		}
		return w.fitNumber(r, c.Strip(), g, text)
	case plan.Bool:
		return w.fitBool(r, g, text)
	case plan.Chars, plan.Text:
		return w.fitText(r, g, text)
	case plan.Nested:
		return w.fitStruct(r, g)
	case plan.Slice, plan.Tail:
		return w.fitSlice(r, c.Strip(), g, text)
	case plan.Bits:
		return w.fitBits(r, g, text)
	case plan.Union:
		return w.fitUnion(r, c.Strip(), g, text)
	case plan.Deref:
		return w.fitPointer(r, g, text)
	case plan.Opaque:
		if b, ok := g.Underlying().(*types.Basic); ok && b.Kind() == types.Uintptr {
			r.Go = text
			return r, nil
		}
	}
	return newMisfit("make it "+r.Go, "that becomes %s", r.Go)
}

func (w *typeFitter) fitBool(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	if b, ok := g.Underlying().(*types.Basic); !ok || b.Kind() != types.Bool {
		return newMisfit("make it bool", "that becomes bool")
	}
	if r.Go = text; text != "bool" {
		r.From = "bool"
	}
	return r, nil
}

// fitText fits a text to a string, or a slice of bytes.
func (w *typeFitter) fitText(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
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
		return newMisfit("make it string, []byte or "+fmt.Sprintf("[%d]byte", r.N), "that is text")
	}
	return newMisfit("make it string or []byte, or uintptr for the bare address", "that is text")
}

// fitArray fits an array to a Go array of the same length. If the elements have the same layout in C and
// Go, one load copies the array.
func (w *typeFitter) fitArray(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	want := fmt.Sprintf("make it an array of %d", r.N)
	if r.N == 0 {
		want = fmt.Sprintf("make it an array of %d", s.Count)
	}
	a, ok := g.Underlying().(*types.Array)
	if !ok {
		if _, slice := g.Underlying().(*types.Slice); slice {
			want += ", or say which member counts with the tag `cgocopy:\",len=MEMBER\"`"
		}
		return newMisfit(want, "that is an array")
	}
	if a.Len() != s.Count {
		return newMisfit(want, "that has %d elements, not %d", s.Count, a.Len())
	}
	elemRule, m := w.fitRule(*r.Elem, s.Elem, a.Elem())
	if m != nil {
		return elemRule, m
	}
	r.Elem, r.Go, r.Op = &elemRule, text, plan.Each
	stride := s.Size / s.Count
	elemRule.Aligned = elemRule.Aligned && stride%max(1, w.sizes.Alignof(a.Elem())) == 0
	r.Aligned = elemRule.Aligned
	if elemRule.Op == plan.Load && elemRule.From == "" && w.sizes.Sizeof(a.Elem()) == stride {
		r.Op = plan.Load
	}
	return r, nil
}

// fitSlice fits a pointer to elements, or an array, to a slice. Another member has the number of elements.
func (w *typeFitter) fitSlice(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	l, ok := g.Underlying().(*types.Slice)
	if !ok {
		return newMisfit("make it a slice", "that is as many as %s says", r.Len.C)
	}
	elemFitter := *w
	elemFitter.offset = 0
	elemRule, m := elemFitter.fitRule(*r.Elem, s.Elem, l.Elem())
	if m != nil {
		return elemRule, m
	}
	r.Elem, r.Go = &elemRule, text
	return r, nil
}

// fitStruct fits a struct to a struct type of the user's package, which is planned too.
func (w *typeFitter) fitStruct(r plan.Rule, g types.Type) (plan.Rule, *misfit) {
	n, m := w.localStruct(r, g)
	if m != nil {
		return plan.Rule{}, m
	}
	inner := w.planStruct(n, r.Struct.C, r.Struct.CName, w.pos)
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

// localStruct returns g as a named struct type of the user's package. Only to such a type can generated
// code add methods.
func (w *typeFitter) localStruct(r plan.Rule, g types.Type) (*types.Named, *misfit) {
	n, isNamed := types.Unalias(g).(*types.Named)
	_, isStruct := g.Underlying().(*types.Struct)
	switch {
	case isStruct && !isNamed:
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

// fitPointer fits a pointer to a struct to a pointer to a struct type of the user's package.
func (w *typeFitter) fitPointer(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	p, ok := g.Underlying().(*types.Pointer)
	if !ok {
		return newMisfit("make it a pointer to a struct declared in this package", "that is a pointer to a struct")
	}
	n, m := w.localStruct(r, p.Elem())
	if m != nil {
		return plan.Rule{}, m
	}
	inner := w.planStruct(n, r.Struct.C, r.Struct.CName, w.pos)
	if inner == nil {
		return plan.Rule{}, &misfit{}
	}
	r.Go, r.Struct = text, inner
	return r, nil
}

// fitUnion fits a union to a struct with a field for each member that the tag names. The struct must have
// no other exported fields.
func (w *typeFitter) fitUnion(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	u, ok := g.Underlying().(*types.Struct)
	if !ok {
		return newMisfit("make it a struct with a field for each member of the union that the tag names", "that is a union")
	}
	taken := map[string]bool{}
	for i, c := range r.Cases {
		m, f, ok := w.findCase(s, u, c)
		if !ok {
			return newMisfit("declare one, e.g. "+c.Field+" "+c.Rule.Go, "it has no field for the union's member %s", m.Name)
		}
		rule, wrong := w.fitRule(c.Rule, m.Type, f.Type())
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
			return newMisfit("take it away, or add its value to the tag", "its field %s takes no member of the union that the tag names", f.Name())
		}
	}
	r.Go = text
	return r, nil
}

// findCase finds the member of union s that case c names, and the field of u for it.
func (w *typeFitter) findCase(s *ctype.Type, u *types.Struct, c plan.Case) (plan.Member, *types.Var, bool) {
	for _, m := range plan.Members(s) {
		if m.Name == c.C {
			f, ok := fieldFor(u, m)
			return m, f.Var, ok
		}
	}
	return plan.Member{Name: c.C}, nil, false
}

// fieldFor returns the field of u that takes a member of a union.
func fieldFor(u *types.Struct, m plan.Member) (field, bool) {
	for i := range u.NumFields() {
		f := field{Var: u.Field(i)}
		f.tag, f.err = plan.ParseTag(reflect.StructTag(u.Tag(i)).Get("cgocopy"))
		if _, why := findMember(f, []plan.Member{m}); why == "" && !f.tag.Skip && f.err == nil {
			return f, true
		}
	}
	return field{}, false
}

// caseTags returns the tags of the fields for the members of union c, by their path in C. f is the field
// for the union, at path. It returns nil if c is no union with a discriminant.
func (b *binder) caseTags(path string, c *ctype.Type, f field) map[string]plan.Tag {
	u, ok := f.Type().Underlying().(*types.Struct)
	s := c.Strip()
	if f.tag.On == "" || !ok || s == nil || s.Kind != ctype.Union {
		return nil
	}
	tags := map[string]plan.Tag{}
	for _, m := range plan.Members(s) {
		if f, ok := fieldFor(u, m); ok {
			tags[path+"."+m.Name] = completeTag(f.tag, m.Type, f.Type())
		}
	}
	return tags
}
