package plan

import "github.com/tarebench/tare/cgocopy/internal/ctype"

// This file is for package bind, which plans Go structs that the user has declared.

// Member is a member of a C struct that a field of the user's Go struct can take.
type Member struct {
	Name   string // in C; an anonymous union has the name of its first member
	Type   *ctype.Type
	Offset int64            // bytes from the start of the struct
	field  ctype.Field      // as declared
	counts map[string]Count // members of the struct that can count, by name
}

// Pos returns file:line of the declaration, or "".
func (m Member) Pos() string { return m.field.Pos() }

// Nameless reports whether the member is an anonymous union.
func (m Member) Nameless() bool { return m.field.Name == "" }

// Members returns the members of struct or union t, in order, also those of anonymous structs in t. It
// omits unnamed bit-fields, which are padding.
func Members(t *ctype.Type) []Member {
	counts := map[string]Count{}
	list := addMembers(t, 0, counts)
	for i := range list {
		list[i].counts = counts
	}
	return list
}

// addMembers returns the members of t, at offset of the outermost struct. It adds those that can count to
// counts.
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

// Rule returns the rule that follows from the C type and the tag of a member. Package bind then adapts it
// to the Go field. cName is the C name of the member's struct. Structs in the member are not planned: only
// their C and CName are set. The error is of type Refusals.
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

// Finish sets Fails and Allocs of a struct that the user has declared. It clears Flat, because the type may
// have further fields. word is the largest alignment in Go.
func Finish(s *Struct, word int64) {
	setProperties(s, word)
	s.Flat = false
}

// stubStruct returns a placeholder for struct s, which the caller of [Member.Rule] plans. t is s with its
// typedefs.
func stubStruct(t, s *ctype.Type) *Struct {
	cName := t.String()
	if t.Kind == ctype.Typedef && t.Name == "" { // a qualifier
		cName = s.String()
	}
	return &Struct{C: s, CName: cName}
}

// FindCycles returns a refusal for each slice without a depth limit that leads back to its own struct. A
// copy might never end.
func FindCycles(p *Plan) Refusals {
	d := &deriver{plan: p}
	d.rejectCycles()
	return d.refusals
}
