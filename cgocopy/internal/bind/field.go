package bind

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// field is a field of a Go struct that is to be filled.
type field struct {
	*types.Var
	path string // Base.ID of one that an embedded struct has
	tag  plan.Tag
	err  error // the tag cannot be read
}

// findFields returns the fields of t to fill: exported ones, and others with a tag. They include
// those of an embedded struct, unless a member of the C struct is that entire struct.
func (b *binder) findFields(s *plan.Struct, t *types.Struct, path string, list []plan.Member) []field {
	var out []field
	for i := range t.NumFields() {
		v := t.Field(i)
		text, tagged := reflect.StructTag(t.Tag(i)).Lookup("cgocopy")
		f := field{Var: v, path: path + v.Name()}
		f.tag, f.err = plan.ParseTag(text)
		if f.err == nil && f.tag.Skip || v.Name() == "_" {
			continue
		}
		if v.Embedded() && !tagged {
			inner, ok := v.Type().Underlying().(*types.Struct)
			if _, why := findMember(f, list); ok && why != "" {
				out = append(out, b.findFields(s, inner, f.path+".", list)...)
				continue
			}
		}
		if v.Exported() || tagged {
			out = append(out, f)
		}
	}
	return out
}

// findMember returns the member that a field takes: the one that its tag names, the one whose name
// becomes the field's in generated types, or the only one of the same letters. The reason is set if
// there is none.
func findMember(f field, list []plan.Member) (plan.Member, string) {
	if f.tag.Name != "" {
		for _, m := range list {
			if m.Name == f.tag.Name {
				return m, ""
			}
		}
		return plan.Member{}, fmt.Sprintf("takes %s by its tag, and there is no such member", f.tag.Name)
	}
	var like []plan.Member
	for _, m := range list {
		switch {
		case plan.Exported(m.Name) == f.Name():
			return m, ""
		case foldName(m.Name) == foldName(f.Name()):
			like = append(like, m)
		}
	}
	switch len(like) {
	case 1:
		return like[0], ""
	case 0:
		return plan.Member{}, "has no member of its name"
	}
	return plan.Member{}, fmt.Sprintf("could take %s and %s", like[0].Name, like[1].Name)
}

// foldName returns the part of a name that is compared.
func foldName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// completeTag adds to a tag the settings that follow from the Go type.
func completeTag(t plan.Tag, c *ctype.Type, g types.Type) plan.Tag {
	s := c.Strip()
	for s != nil && s.Kind == ctype.Array && s.Elem.Strip() != nil && s.Elem.Strip().Kind == ctype.Array {
		a, ok := g.Underlying().(*types.Array)
		if !ok {
			return t
		}
		s, g = s.Elem.Strip(), a.Elem()
	}
	if s == nil || s.Kind != ctype.Array && s.Kind != ctype.Pointer {
		return t
	}
	elem := s.Elem.Strip()
	bytes := elem != nil && elem.Size == 1 && (elem.Kind == ctype.Char || elem.Kind == ctype.Int || elem.Kind == ctype.Uint)
	switch u := g.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Uintptr && s.Kind == ctype.Pointer:
			t.Opaque = true
		case u.Kind() == types.String && bytes && !t.Bytes && (t.Len == "" || s.Kind == ctype.Pointer):
			t.String = true
		}
	case *types.Array:
		t.Bytes = t.Bytes || bytes && !t.String
	case *types.Slice:
		t.Bytes = t.Bytes || bytes && !t.String && (t.Len != "" || s.Kind == ctype.Pointer)
	}
	return t
}
