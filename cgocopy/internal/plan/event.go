package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// unionName returns the name of union type t in the keys of Options.Tags: its typedef, or else point for
// union point. s is t without typedefs.
func unionName(t, s *ctype.Type) string {
	if name := t.String(); name != s.String() {
		return name
	}
	return s.Tag()
}

// planEvent plans struct s from union t. All members of t begin with the same number, the discriminant,
// which shows the valid member. An example is SDL_Event. In Go, s has a field for this number, and a field
// Union for the valid member. tag names the number.
func (d *deriver) planEvent(s *Struct, t *ctype.Type, cName string, tag Tag) {
	counts := d.findCounts(t, cName, 0)
	for _, m := range t.Fields { // the tag may name the number by its path in a member: sa.sa_family
		if inner := m.Type.Strip(); inner != nil && inner.Kind == ctype.Struct && m.Name != "" {
			for name, c := range d.findCounts(inner, cName+"."+m.Name, m.Offset) {
				c.C = m.Name + "." + name
				counts[c.C] = c
			}
		}
	}
	f := Field{Go: "Union", Type: t.String(), Pos: t.Pos(), Tag: tag, Nameless: true}
	w := &memberContext{deriver: d, struc: s, cName: cName, field: f, tag: tag, counts: counts}
	on, ok := w.findCount(t, tag.On)
	if !ok {
		return
	}
	if i := slices.IndexFunc(t.Fields, func(m ctype.Field) bool { return m.Name == on.C }); i >= 0 {
		d.addFields(s, &ctype.Type{Fields: t.Fields[i : i+1]}, cName, 0, "")
	} else {
		number := countType(*on)
		rule := Rule{Op: Load, Go: number, Num: number, Size: on.Size, Aligned: true}
		s.Fields = append(s.Fields, Field{Go: Exported(on.C), C: on.C, Type: number, Pos: t.Pos(), Offset: on.Offset, Rule: rule})
	}
	f.Rule = Rule{Op: Union, Go: s.Go + "Union", Size: t.Size, On: on, Aligned: true}
	for _, n := range slices.Sorted(maps.Keys(tag.Cases)) {
		c, ok := w.planEventCase(t, n, tag.Cases[n])
		if !ok {
			return
		}
		f.Rule.Cases = append(f.Rule.Cases, c)
	}
	if d.claimName(&ctype.Type{Kind: ctype.Union, Name: cName}, f.Rule.Go, cName) {
		s.Fields = append(s.Fields, f)
	}
}

// planEventCase plans the member of t, called name, that is valid if the discriminant is n.
func (w *memberContext) planEventCase(t *ctype.Type, n int64, name string) (Case, bool) {
	i := slices.IndexFunc(t.Fields, func(f ctype.Field) bool { return f.Name == name })
	if i < 0 {
		w.reject(t, fmt.Sprintf("has no member %s", name), "name one of its members for each value of "+w.tag.On)
		return Case{}, false
	}
	m := t.Fields[i]
	inner := *w
	key := w.cName + "." + name
	inner.tag, inner.field.Go, inner.field.C = w.options.Tags[key], Exported(name), name
	w.used[key] = true
	r, ok := inner.planRule(m.Type, m.Offset)
	if !ok {
		return Case{}, false
	}
	on := w.counts[w.tag.On]
	// The generated test sets the discriminant in the member itself.
	if _, ok := FindNumber(r, on.Offset, on.Size); !ok {
		w.reject(t, fmt.Sprintf("has the member %s, which has no number where %s lies", name, on.C), "name the members that begin with it")
		return Case{}, false
	}
	return Case{Value: n, Field: Exported(name), C: name, Type: m.Type.String(), Rule: r}, true
}

// countType returns the Go type with the size and the sign of a count.
func countType(c Count) string {
	if c.Signed {
		return fmt.Sprintf("int%d", 8*c.Size)
	}
	return fmt.Sprintf("uint%d", 8*c.Size)
}

// FindNumber finds the number of size bytes at offset in a value of rule r. It returns its path in the Go
// value, e.g. ".Key.Type".
func FindNumber(r Rule, offset, size int64) (path string, ok bool) {
	if r.Op == Load && r.Num != "" && r.Elem == nil {
		return "", offset == 0 && r.Size == size
	}
	isStruct := r.Struct != nil && (r.Op == Load || r.Op == Nested)
	if !isStruct {
		return "", false
	}
	for _, f := range r.Struct.Fields {
		if offset < f.Offset || offset >= f.Offset+f.Rule.Size {
			continue
		}
		if rest, ok := FindNumber(f.Rule, offset-f.Offset, size); ok {
			return "." + f.Go + rest, true
		}
	}
	return "", false
}

// isPointing reports whether a value of type t is a pointer or an array of pointers.
func isPointing(t *ctype.Type) bool {
	s := t.Strip()
	if s == nil {
		return false
	}
	if _, m, ok := View(t); ok {
		return isPointing(m.Type)
	}
	return s.Kind == ctype.Pointer || s.Kind == ctype.Array && isPointing(s.Elem)
}
