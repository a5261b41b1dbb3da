package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// IsMethod reports whether generated code may declare a method of this name. No field can have it.
func IsMethod(name string) bool {
	return slices.Contains([]string{"FromC", "fromC", "SliceFromC", "ToC", "TakeFromC"}, name)
}

func (t Tag) equals(other Tag) bool { return reflect.DeepEqual(t, other) }

// withoutCount returns a copy of w for the elements of a counted pointer or array. The tag does not count
// them.
func (w *memberContext) withoutCount() *memberContext {
	inner := *w
	inner.tag.Len, inner.tag.Max = "", 0
	return &inner
}

// checkTag rejects a member if words of its tag have no effect on its rule.
func (w *memberContext) checkTag(t *ctype.Type, r Rule) {
	has := map[Op]bool{} // of the rule and of its elements
	hasDepth := false
	for e := &r; e != nil; e = e.Elem {
		has[e.Op] = true
		hasDepth = hasDepth || e.Depth > 0
	}
	var idle []string
	for _, word := range []struct {
		name             string
		isSet, hasEffect bool
	}{
		{"len", w.tag.Len != "", has[Slice] || has[Tail] || has[Text]},
		{"max", w.tag.Max > 0, has[Slice] || has[Tail] || has[Text]},
		{"utf8", w.tag.UTF8 != Keep, has[Chars] || has[Text]},
		{"depth", w.tag.Depth > 0, hasDepth},
		{"union", w.tag.On != "", has[Union]},
		{"string", w.tag.String, has[Chars] || has[Text]},
		{"bytes", w.tag.Bytes, !has[Chars] && (has[Load] || has[Text])},
		{"opaque", w.tag.Opaque, has[Opaque]},
	} {
		if word.isSet && !word.hasEffect {
			idle = append(idle, word.name)
		}
	}
	if len(idle) > 0 {
		w.reject(t, fmt.Sprintf("is nothing that %s in its tag could say more about", strings.Join(idle, " and ")), "take that away")
	}
}

// claimEnumerator claims and returns a Go name for a value of enum, whose Go name is enumName. If the usual
// name is taken, it joins the two names with an underscore.
func (w *memberContext) claimEnumerator(enum *ctype.Type, enumName, name string) string {
	v := enumeratorName(enumName, name)
	if w.names[v] != nil {
		v = enumName + "_" + name
	}
	w.names[v] = enum
	return v
}

// rejectCycles rejects slices without a depth limit that lead back to their own struct: a copy might never
// end.
func (d *deriver) rejectCycles() {
	nextStructs := func(from *Struct) []*Struct {
		var list []*Struct
		for _, f := range from.Fields {
			visitStructs(f.Rule, func(s *Struct) { list = append(list, s) })
		}
		return list
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
		return slices.ContainsFunc(nextStructs(from), func(s *Struct) bool { return reaches(s, to, seen) })
	}
	for _, s := range d.plan.Structs {
		for _, f := range s.Fields {
			visitUnlimited(f.Rule, false, func(to *Struct) {
				if reaches(to, s, map[*Struct]bool{}) {
					cName := bareName(s.CName)
					d.reject(Refusal{Pos: f.Pos, Struct: cName, Field: f.C, Type: f.Type, Reason: "leads to its own kind, which may go in a circle", Remedy: fmt.Sprintf("add ,depth=N to its tag, or leave it out with -tag '%s.%s=-'", cName, f.C)})
				}
			})
		}
	}
}

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

// visitUnlimited visits the structs that are reached through a slice without a depth limit. isReached means
// that the value of r itself is reached so.
func visitUnlimited(r Rule, isReached bool, visit func(*Struct)) {
	switch {
	case r.Op == Slice:
		isReached = r.Depth == 0
	case r.Op == Deref: // always has a limit
		return
	case r.Struct != nil && isReached:
		visit(r.Struct)
	}
	if r.Elem != nil {
		visitUnlimited(*r.Elem, isReached, visit)
	}
	for _, c := range r.Cases {
		visitUnlimited(c.Rule, isReached, visit)
	}
}
