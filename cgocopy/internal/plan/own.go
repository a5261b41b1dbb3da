package plan

import (
	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Member is a member of a C struct that a field of a Go struct of the user can take.
type Member struct {
	Name   string // name in C; of an anonymous union, the name of its first member
	Type   *ctype.Type
	Offset int64            // bytes from the start of the struct
	field  ctype.Field      // the member as declared
	counts map[string]Count // all members of the struct that can count, by name
}

// Pos returns the position of the declaration: file:line, or "" if it is unknown.
func (m Member) Pos() string { return m.field.Pos() }

// Nameless reports whether the member is an anonymous union.
func (m Member) Nameless() bool { return m.field.Name == "" }

// Members returns the members of struct or union t, in the order of their declaration. It includes the
// members of anonymous structs in t, and omits unnamed bit-fields, which are padding.
func Members(t *ctype.Type) []Member {
	counts := map[string]Count{}
	list := addMembers(t, 0, counts)
	for i := range list {
		list[i].counts = counts
	}
	return list
}

// addMembers returns the members of t, which is at offset of the outermost struct, and adds the members
// that can count to counts.
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

// Rule returns the rule that the C type and the tag of a member demand; package bind fits it to the Go
// type. cName is the C name of the struct that has the member. Structs in the member are not planned:
// a rule has a Struct of which only the C type and its name are set. The error is of type Refusals.
func (m Member) Rule(cName string, tag Tag, o Options) (Rule, error) {
	d := &deriver{options: o, userTypes: true, structs: map[*ctype.Type]*Struct{}, enums: map[*ctype.Type]*Enum{}, names: map[string]*ctype.Type{}, used: map[string]bool{}, plan: &Plan{}}
	f := Field{Go: Exported(m.Name), C: m.Name, Type: m.Type.String(), Pos: m.Pos(), Offset: m.Offset, Tag: tag}
	w := &memberContext{deriver: d, struc: &Struct{Go: Exported(cName), CName: cName}, cName: cName, field: f, tag: tag, counts: m.counts}
	field := m.field
	field.Offset = m.Offset
	r, ok := w.planMember(field)
	if ok {
		w.checkTag(m.Type, r)
	}
	if !ok || len(d.refusals) > 0 {
		return Rule{}, d.refusals
	}
	return r, nil
}

// Finish sets the properties that follow from the fields of a struct, except Flat: the user's type may
// have further fields. word is the largest alignment in Go, in bytes.
func Finish(s *Struct, word int64) {
	setProperties(s, word)
	s.Flat = false
}

// stubStruct returns a placeholder for struct s, which the caller of [Member.Rule] plans. t is s with
// its typedefs.
func stubStruct(t, s *ctype.Type) *Struct {
	cName := t.String()
	if t.Kind == ctype.Typedef && t.Name == "" { // a qualifier
		cName = s.String()
	}
	return &Struct{C: s, CName: cName}
}

// FindCycles rejects each slice of a plan without a depth limit through which a struct leads
// to its own type.
func FindCycles(p *Plan) Refusals {
	d := &deriver{plan: p}
	d.rejectCycles()
	return d.refusals
}
