package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// isMethod reports whether generated types have a method of this name.
func isMethod(name string) bool {
	switch name {
	case "FromC", "SliceFromC", "ToC", "TakeFromC":
		return true
	}
	return false
}

// equals reports whether the two tags are the same.
func (t Tag) equals(other Tag) bool { return reflect.DeepEqual(t, other) }

// withoutCount returns w for the elements of a counted pointer or array: the count has been used
// up.
func (w *memberContext) withoutCount() *memberContext {
	inner := *w
	inner.tag.Len, inner.tag.Max = "", 0
	return &inner
}

// wordsFit rejects words of a tag that change nothing about a member: their author expects an
// effect.
func (w *memberContext) wordsFit(t *ctype.Type, r Rule) {
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
		w.reject(t, fmt.Sprintf("is nothing that %s in its tag could say more about", strings.Join(idle, " and ")), "take that away")
	}
}

// claimEnumerator returns the Go name of a value, which no other may have.
func (w *memberContext) claimEnumerator(enum *ctype.Type, enumName, name string) string {
	v := enumeratorName(enumName, name)
	if w.names[v] != nil {
		v = enumName + "_" + name
	}
	w.names[v] = enum
	return v
}

// rejectCycles rejects slices by which a struct leads to its own type, without a depth limit.
func (d *deriver) rejectCycles() {
	leads := func(from *Struct) []*Struct {
		var to []*Struct
		for _, f := range from.Fields {
			visitStructs(f.Rule, func(s *Struct) { to = append(to, s) })
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
			visitUnlimited(f.Rule, false, func(to *Struct) {
				if reaches(to, s, map[*Struct]bool{}) {
					says := s.Says[1+strings.LastIndexByte(s.Says, ' '):]
					d.reject(Refusal{Pos: f.Pos, Struct: says, Field: f.C, Type: f.Type, Reason: "leads to its own kind, which may go in a circle", Remedy: fmt.Sprintf("add ,depth=N to its tag, or leave it out with -tag '%s.%s=-'", says, f.C)})
				}
			})
		}
	}
}

// visitStructs visits the structs that values of a rule contain or point to.
func visitStructs(r Rule, visit func(*Struct)) {
	if r.Struct != nil {
		visit(r.Struct)
	}
	if r.Elem != nil {
		visitStructs(*r.Elem, visit)
	}
	for _, c := range r.Cases {
		visitStructs(c.Rule, visit)
	}
}

// visitUnlimited visits the structs after pointers without a depth limit.
func visitUnlimited(r Rule, pointed bool, visit func(*Struct)) {
	switch {
	case r.Op == Slice:
		pointed = r.Depth == 0
	case r.Op == Deref:
		return
	case r.Struct != nil && pointed:
		visit(r.Struct)
	}
	if r.Elem != nil {
		visitUnlimited(*r.Elem, pointed, visit)
	}
	for _, c := range r.Cases {
		visitUnlimited(c.Rule, pointed, visit)
	}
}
