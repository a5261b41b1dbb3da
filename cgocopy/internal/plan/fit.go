package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// method reports whether generated types have a method of this name.
func method(name string) bool {
	switch name {
	case "FromC", "SliceFromC", "ToC", "TakeFromC":
		return true
	}
	return false
}

// only reports whether a tag says nothing more than other does.
func (t Tag) only(other Tag) bool { return reflect.DeepEqual(t, other) }

// counted looks at what a counted pointer or array is made of: the count has
// been used up.
func (w *where) counted() *where {
	inner := *w
	inner.tag.Len, inner.tag.Max = "", 0
	return &inner
}

// wordsFit refuses words of a tag that change nothing about a member: whoever
// wrote them expects otherwise.
func (w *where) wordsFit(t *ctype.Type, r Rule) {
	has := map[Op]bool{}
	depth := false
	var look func(r Rule)
	look = func(r Rule) {
		has[r.Op] = true
		depth = depth || r.Depth > 0
		if r.Elem != nil {
			look(*r.Elem)
		}
	}
	look(r)
	var idle []string
	for _, word := range []struct {
		name      string
		said, has bool
	}{
		{"len", w.tag.Len != "", has[Slice] || has[Tail] || has[Text]},
		{"max", w.tag.Max > 0, has[Slice] || has[Tail] || has[Text]},
		{"utf8", w.tag.UTF8 != Keep, has[Chars] || has[Text]},
		{"depth", w.tag.Depth > 0, depth},
		{"union", w.tag.On != "", has[Union]},
		{"string", w.tag.String, has[Chars] || has[Text]},
		{"bytes", w.tag.Bytes, !has[Chars] && (has[Load] || has[Text])},
		{"opaque", w.tag.Opaque, has[Opaque]},
	} {
		if word.said && !word.has {
			idle = append(idle, word.name)
		}
	}
	if len(idle) > 0 {
		w.refuse(t, fmt.Sprintf("is nothing that %s in its tag could say more about", strings.Join(idle, " and ")), "take that away")
	}
}

// enumerator is the Go name of a value, which no other may have.
func (w *where) enumerator(enum *ctype.Type, enumName, name string) string {
	v := value(enumName, name)
	if w.names[v] != nil {
		v = enumName + "_" + name
	}
	w.names[v] = enum
	return v
}

// circles refuses slices by which a struct leads to its own kind, without a
// limit to how far.
func (d *deriver) circles() {
	leads := func(from *Struct) []*Struct {
		var to []*Struct
		for _, f := range from.Fields {
			structs(f.Rule, func(s *Struct) { to = append(to, s) })
		}
		return to
	}
	var reaches func(from, to *Struct, seen map[*Struct]bool) bool
	reaches = func(from, to *Struct, seen map[*Struct]bool) bool {
		if from == to {
			return true
		}
		if seen[from] {
			return false
		}
		seen[from] = true
		return slices.ContainsFunc(leads(from), func(s *Struct) bool { return reaches(s, to, seen) })
	}
	for _, s := range d.plan.Structs {
		for _, f := range s.Fields {
			unlimited(f.Rule, false, func(to *Struct) {
				if reaches(to, s, map[*Struct]bool{}) {
					says := s.Says[1+strings.LastIndexByte(s.Says, ' '):]
					d.refuse(Refusal{Pos: f.Pos, Struct: says, Field: f.C, Type: f.Type, Reason: "leads to its own kind, which may go in a circle", Remedy: fmt.Sprintf("add ,depth=N to its tag, or leave it out with -tag '%s.%s=-'", says, f.C)})
				}
			})
		}
	}
}

// structs visits the structs that values of a rule hold or point to.
func structs(r Rule, visit func(*Struct)) {
	if r.Struct != nil {
		visit(r.Struct)
	}
	if r.Elem != nil {
		structs(*r.Elem, visit)
	}
	for _, c := range r.Cases {
		structs(c.Rule, visit)
	}
}

// unlimited visits the structs behind pointers that no depth limits.
func unlimited(r Rule, pointed bool, visit func(*Struct)) {
	switch {
	case r.Op == Slice:
		pointed = r.Depth == 0
	case r.Op == Deref:
		return
	case r.Struct != nil && pointed:
		visit(r.Struct)
	}
	if r.Elem != nil {
		unlimited(*r.Elem, pointed, visit)
	}
	for _, c := range r.Cases {
		unlimited(c.Rule, pointed, visit)
	}
}
