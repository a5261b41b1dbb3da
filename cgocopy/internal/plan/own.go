package plan

import (
	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Member is a member of a C struct that a field of a type of the user's own can
// take.
type Member struct {
	Name   string // that of an anonymous union is its first member's
	Type   *ctype.Type
	Offset int64 // bytes from the beginning of the struct
	field  ctype.Field
	counts map[string]Count
}

// Pos returns the position of its declaration: file:line, or "".
func (m Member) Pos() string { return m.field.Pos() }

// Nameless reports whether it is an anonymous union.
func (m Member) Nameless() bool { return m.field.Name == "" }

// Members returns the members of t, and of anonymous structs in it, in the order of their
// declaration. Unnamed bit-fields are padding and not included.
func Members(t *ctype.Type) []Member {
	counts := map[string]Count{}
	list := addMembers(t, 0, counts)
	for i := range list {
		list[i].counts = counts
	}
	return list
}

func addMembers(t *ctype.Type, offset int64, counts map[string]Count) []Member {
	var list []Member
	for name, c := range (&deriver{}).findCounts(t, "", offset) {
		counts[name] = c
	}
	for _, m := range t.Fields {
		inner := m.Type.Strip()
		name := m.Name
		if name == "" && inner != nil && inner.Kind == ctype.Union {
			name = firstName(inner)
			if isViewed(inner) {
				list = append(list, addMembers(&ctype.Type{Fields: inner.Fields[:1]}, offset+m.Offset, counts)...)
				continue
			}
		}
		switch {
		case name != "":
			list = append(list, Member{Name: name, Type: m.Type, Offset: offset + m.Offset, field: m})
		case inner != nil && inner.Kind == ctype.Struct:
			list = append(list, addMembers(inner, offset+m.Offset, counts)...)
		}
	}
	return list
}

// Rule returns how a value of the member, which is one of the struct cName, is copied if only its
// tag is known. Structs in it are not planned: rules name them by a Struct of which only C and Says
// are set.
func (m Member) Rule(cName string, tag Tag, o Options) (Rule, error) {
	d := &deriver{options: o, userTypes: true, structs: map[*ctype.Type]*Struct{}, enums: map[*ctype.Type]*Enum{}, names: map[string]*ctype.Type{}, used: map[string]bool{}, plan: &Plan{}}
	f := Field{Go: Exported(m.Name), C: m.Name, Type: m.Type.String(), Pos: m.Pos(), Offset: m.Offset, Tag: tag}
	w := &memberContext{deriver: d, struc: &Struct{Go: Exported(cName), Says: cName}, cName: cName, field: f, tag: tag, counts: m.counts}
	field := m.field
	field.Offset = m.Offset
	r, ok := w.planMember(field)
	if ok {
		w.wordsFit(m.Type, r)
	}
	if !ok || len(d.refusals) > 0 {
		return Rule{}, d.refusals
	}
	return r, nil
}

// Finish works out what follows from the fields of a struct, but for Flat, which
// depends on what else is in a type of the user's own. word is the largest
// alignment in Go.
func Finish(s *Struct, word int64) {
	setProperties(s, word)
	s.Flat = false
}

// stubStruct represents a struct that a caller of [Member.Rule] plans.
func stubStruct(t, s *ctype.Type) *Struct {
	says := t.String()
	if t.Kind == ctype.Typedef && t.Name == "" { // a qualifier
		says = s.String()
	}
	return &Struct{C: s, Says: says}
}

// Circles rejects slices in a plan by which a struct leads to its own type, without a depth limit.
func Circles(p *Plan) Refusals {
	d := &deriver{plan: p}
	d.rejectCycles()
	return d.refusals
}
