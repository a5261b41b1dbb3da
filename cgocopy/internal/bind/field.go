package bind

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// field is a field of a Go struct. It takes a member of a C struct if it is filled from it.
type field struct {
	*types.Var
	path string // name with the embedded structs around it, e.g. Base.ID
	tag  plan.Tag
	err  error // why the tag cannot be read, or nil
}

// findFields returns the fields of t to fill: exported fields, and unexported fields with a tag. The fields
// of embedded structs are included one by one. An embedded struct that itself takes a member of list is one
// field. path is the prefix of their paths.
func (b *binder) findFields(s *plan.Struct, t *types.Struct, path string, list []plan.Member) []field {
	var out []field
	for i := range t.NumFields() {
		v := t.Field(i)
		text, tagged := reflect.StructTag(t.Tag(i)).Lookup("cgocopy")
		f := field{Var: v, path: path + v.Name()}
		f.tag, f.err = plan.ParseTag(text)
		isSkipped := f.err == nil && f.tag.Skip
		if isSkipped || v.Name() == "_" {
			continue
		}
		if v.Embedded() && !tagged {
			inner, isStruct := v.Type().Underlying().(*types.Struct)
			if _, why := findMember(f, list); isStruct && why != "" { // f itself takes no member
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

// findMember returns the member that a field takes. The tag may name it. Otherwise it has the Go name of
// the field, or is the only one with that name but for case and underscores. Without a member, why is the
// reason, a sentence without its subject.
func findMember(f field, list []plan.Member) (member plan.Member, why string) {
	if f.tag.Name != "" {
		for _, m := range list {
			if m.Name == f.tag.Name {
				return m, ""
			}
		}
		return plan.Member{}, fmt.Sprintf("takes %s by its tag, and there is no such member", f.tag.Name)
	}
	var similar []plan.Member
	for _, m := range list {
		switch {
		case plan.Exported(m.Name) == f.Name():
			return m, ""
		case foldName(m.Name) == foldName(f.Name()):
			similar = append(similar, m)
		}
	}
	switch len(similar) {
	case 1:
		return similar[0], ""
	case 0:
		return plan.Member{}, "has no member of its name"
	}
	return plan.Member{}, fmt.Sprintf("could take %s and %s", similar[0].Name, similar[1].Name)
}

// foldName returns a name in lower case without underscores.
func foldName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// completeTag completes the tag of a field by its Go type g, for a member of C type c. A uintptr copies the
// address in a pointer; a string copies bytes as text. An array or slice of bytes copies characters as
// bytes.
func completeTag(t plan.Tag, c *ctype.Type, g types.Type) plan.Tag {
	s := c.Strip()
	// Go down to the innermost dimension of an array.
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
	isInteger := elem != nil && (elem.Kind == ctype.Char || elem.Kind == ctype.Int || elem.Kind == ctype.Uint)
	hasBytes := isInteger && elem.Size == 1
	switch u := g.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Uintptr && s.Kind == ctype.Pointer:
			t.Opaque = true
		case u.Kind() == types.String && hasBytes && !t.Bytes && (t.Len == "" || s.Kind == ctype.Pointer):
			t.String = true
		}
	case *types.Array:
		t.Bytes = t.Bytes || hasBytes && !t.String
	case *types.Slice:
		t.Bytes = t.Bytes || hasBytes && !t.String && (t.Len != "" || s.Kind == ctype.Pointer)
	}
	return t
}
