package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// memberContext plans one member of a C struct. In many of its methods, t is a type as declared, and s the
// same type without typedefs.
type memberContext struct {
	*deriver
	struc  *Struct          // the struct that has the member
	cName  string           // of the struct
	field  Field            // takes the member; its Rule is not set yet
	tag    Tag              // of the member
	counts map[string]Count // members of the struct that can count, by name
}

// reject rejects the member. It returns the results of a plan method that fails.
func (w *memberContext) reject(t *ctype.Type, reason, remedy string) (Rule, bool) {
	w.deriver.reject(Refusal{Pos: w.field.Pos, Struct: w.cName, Field: w.field.C, Type: t.String(), Reason: reason, Remedy: remedy})
	return Rule{}, false
}

func (w *memberContext) omitRemedy() string {
	if w.userTypes {
		return "leave it out with the tag `cgocopy:\"-\"`"
	}
	return fmt.Sprintf("leave it out with -tag '%s.%s=-'", w.cName, w.field.C)
}

// suggestTag returns the remedy to add these words to the member's tag. words may have two alternatives,
// "FIRST' for one, or 'SECOND", with the quotes of a -tag flag between.
func (w *memberContext) suggestTag(words string) string {
	if w.userTypes {
		between := "\"` for one, or `cgocopy:\"" + w.field.C
		return fmt.Sprintf("say how with the tag `cgocopy:\"%s%s\"`, or %s", w.field.C, strings.ReplaceAll(words, "' for one, or '", between), w.omitRemedy())
	}
	return fmt.Sprintf("say how with -tag '%s.%s=%s', or %s", w.cName, w.field.C, words, w.omitRemedy())
}

// planMember returns the rule of the member. It returns false if it has rejected the member, as the other
// plan methods do.
func (w *memberContext) planMember(m ctype.Field) (Rule, bool) {
	if m.BitSize > 0 {
		return w.planBits(m)
	}
	r, ok := w.planRule(m.Type, w.field.Offset)
	if ok && w.tag.Free != "" && r.Op != Text && r.Op != Slice && r.Op != Deref {
		return w.reject(m.Type, "is no pointer, so nothing can be freed", "take free= away")
	}
	r.Free = w.tag.Free
	return r, ok
}

func (w *memberContext) planBits(m ctype.Field) (Rule, bool) {
	t := m.Type.Strip()
	if t != nil && t.Kind == ctype.Enum {
		t = t.Elem.Strip()
	}
	switch {
	case w.options.Big:
		return w.reject(m.Type, "is a bit-field of a processor that puts the highest byte first", w.omitRemedy())
	case t == nil || t.Kind != ctype.Int && t.Kind != ctype.Uint && t.Kind != ctype.Bool && t.Kind != ctype.Char:
		return w.reject(m.Type, "is a bit-field of a type that is no integer", w.omitRemedy())
	case m.BitOffset+m.BitSize > 64:
		return w.reject(m.Type, "is a bit-field across nine bytes", w.omitRemedy())
	}
	r := Rule{Op: Bits, Size: (m.BitOffset + m.BitSize + 7) / 8, Bit: m.BitOffset, Width: m.BitSize, Signed: t.Kind == ctype.Int}
	r.Go = numberType(t)
	if t.Kind == ctype.Bool {
		r.Go = "bool"
	}
	return r, true
}

// numberType returns the Go type of a C number, or "" for other types.
func numberType(t *ctype.Type) string {
	switch t.Kind {
	case ctype.Int:
		return fmt.Sprintf("int%d", 8*t.Size)
	case ctype.Uint:
		return fmt.Sprintf("uint%d", 8*t.Size)
	case ctype.Char:
		return "byte"
	case ctype.Float:
		return fmt.Sprintf("float%d", 8*t.Size)
	case ctype.Bool:
		return "bool"
	}
	return ""
}

// planRule returns the rule of a value of type t, at offset of the struct or of a pointer's target.
func (w *memberContext) planRule(t *ctype.Type, offset int64) (Rule, bool) {
	s := t.Strip()
	if s == nil {
		return w.reject(t, "has no value", w.omitRemedy())
	}
	aligned := func(size int64) bool { return size > 0 && offset%min(size, w.options.Word) == 0 }
	switch s.Kind {
	case ctype.Int, ctype.Uint, ctype.Char, ctype.Float:
		return Rule{Op: Load, Go: numberType(s), Num: numberType(s), Size: s.Size, Aligned: aligned(s.Size)}, true
	case ctype.Bool:
		return Rule{Op: Bool, Go: "bool", Size: s.Size, Aligned: true}, true
	case ctype.Enum:
		e, ok := w.planEnum(t, s)
		if !ok {
			return Rule{}, false
		}
		return Rule{Op: Load, Go: e.Go, Num: numberType(s.Elem.Strip()), Size: s.Size, Aligned: aligned(s.Size)}, true
	case ctype.Struct:
		return w.planNested(t, s, offset)
	case ctype.Union:
		return w.planUnion(t, s, offset)
	case ctype.Array:
		return w.planArray(t, s, offset)
	case ctype.Pointer:
		return w.planPointer(t, s, offset)
	}
	return w.reject(t, cmp.Or(s.Why, "has no counterpart in Go"), w.omitRemedy())
}

// planEnum plans the Go type of an enum, once. An enum without a name gets the type of its number.
func (w *memberContext) planEnum(t, s *ctype.Type) (*Enum, bool) {
	under := s.Elem.Strip()
	if under == nil || numberType(under) == "" {
		w.reject(t, "is an enum that is stored as nothing known", w.omitRemedy())
		return nil, false
	}
	if e := w.enums[s]; e != nil {
		return e, true
	}
	name := goTypeName(t, s)
	if name == "" {
		return &Enum{Go: numberType(under)}, true
	}
	if !w.claimName(s, name, s.String()) {
		return nil, false
	}
	e := &Enum{Go: name, C: namedType(t, s), Under: numberType(under)}
	for _, v := range s.Enumerators {
		e.Values = append(e.Values, Value{Go: w.claimEnumerator(s, name, v.Name), C: v.Name, N: v.Value})
	}
	w.enums[s] = e
	w.plan.Enums = append(w.plan.Enums, e)
	return e, true
}

// namedType returns s, or the first typedef of t that has a name if s has none.
func namedType(t, s *ctype.Type) *ctype.Type {
	for x := t; s.Name == "" && x != nil && x.Kind == ctype.Typedef; x = x.Elem {
		if x.Name != "" {
			return x
		}
	}
	return s
}

// goTypeName returns the Go name of a member's type: its typedef, else its C tag, else "".
func goTypeName(t, s *ctype.Type) string {
	for x := t; x != nil && x.Kind == ctype.Typedef; x = x.Elem {
		if x.Name != "" {
			return Exported(x.Name)
		}
	}
	return Exported(s.Tag())
}

// planInner plans the struct that the member is, contains, or points to. It returns nil if the struct is
// rejected.
func (w *memberContext) planInner(t, s *ctype.Type) *Struct {
	if w.userTypes {
		return stubStruct(t, s)
	}
	name := goTypeName(t, s)
	cName := t.String()
	if name == "" {
		name, cName = w.struc.Go+w.field.Go, w.cName+"."+w.field.C
	} else if tag := s.Tag(); cName == s.String() && tag != "" {
		cName = tag
	}
	return w.planStruct(s, name, cName)
}

func (w *memberContext) planNested(t, s *ctype.Type, offset int64) (Rule, bool) {
	inner := w.planInner(t, s)
	if inner == nil {
		return Rule{}, false
	}
	r := Rule{Op: Nested, Go: inner.Go, Size: s.Size, Struct: inner}
	r.Aligned = offset%goAlign(r, w.options.Word) == 0
	if inner.Flat {
		r.Op = Load
	}
	return r, true
}

// planArray returns the rule of an array: text, a counted array, or an array of fixed length.
func (w *memberContext) planArray(t, s *ctype.Type, offset int64) (Rule, bool) {
	elem := s.Elem.Strip()
	if s.Count == ctype.Flexible || w.tag.Len != "" { // T x[0] with a length is GNU's T x[]
		return w.planTail(t, s, offset)
	}
	if s.Count == 0 || elem == nil {
		return w.reject(t, "is an array of nothing", w.omitRemedy())
	}
	isByte := elem.Size == 1 && (elem.Kind == ctype.Int || elem.Kind == ctype.Uint)
	isText := elem.Kind == ctype.Char && !w.tag.Bytes || isByte && w.tag.String
	if isText {
		return Rule{Op: Chars, Go: "string", Size: s.Size, N: s.Count, UTF8: w.tag.UTF8, Aligned: true}, true
	}
	elemRule, ok := w.planRule(s.Elem, offset)
	if !ok {
		return Rule{}, false
	}
	elemRule.Aligned = elemRule.Aligned && (elemRule.Size == 0 || s.Size/s.Count%goAlign(elemRule, w.options.Word) == 0)
	r := Rule{Op: Each, Go: fmt.Sprintf("[%d]%s", s.Count, elemRule.Go), Size: s.Size, N: s.Count, Elem: &elemRule, Aligned: elemRule.Aligned}
	if elemRule.Op == Load && elemRule.From == "" {
		r.Op = Load
	}
	return r, true
}

// findCount finds the member called name, which counts the planned member or selects its case. It rejects
// the planned member if there is none.
func (w *memberContext) findCount(t *ctype.Type, name string) (*Count, bool) {
	c, ok := w.counts[name]
	if !ok {
		w.reject(t, fmt.Sprintf("is counted by %s, which is no number next to it", name), fmt.Sprintf("numbers there: %s", cmp.Or(joinCounts(w.counts), "none")))
		return nil, false
	}
	return &c, true
}

func joinCounts(counts map[string]Count) string {
	return strings.Join(slices.Sorted(maps.Keys(counts)), ", ")
}

func (w *memberContext) planTail(t, s *ctype.Type, offset int64) (Rule, bool) {
	if w.tag.Len == "" {
		return w.reject(t, "is an array without a length", w.suggestTag(",len=MEMBER"))
	}
	n, ok := w.findCount(t, w.tag.Len)
	if !ok {
		return Rule{}, false
	}
	elemRule, ok := w.withoutCount().planRule(s.Elem, offset)
	if !ok {
		return Rule{}, false
	}
	maxElements := cmp.Or(w.tag.Max, MaxCount)
	if s.Count > 0 { // the count cannot exceed the length of the array
		maxElements = min(maxElements, s.Count)
	}
	return Rule{Op: Tail, Go: "[]" + elemRule.Go, Size: s.Size, Elem: &elemRule, Len: n, Max: maxElements, Aligned: true}, true
}

// planPointer returns the rule of a pointer: an address, counted elements, text, or one struct. A C type
// does not show whether a pointer leads to one value or to many. So counted elements and structs need a
// tag.
func (w *memberContext) planPointer(t, s *ctype.Type, offset int64) (Rule, bool) {
	to := s.Elem.Strip()
	aligned := s.Size > 0 && offset%s.Size == 0
	hasNoValue := to == nil || to.Kind == ctype.Void || to.Kind == ctype.Func
	switch {
	case w.tag.Opaque, hasNoValue:
		return Rule{Op: Opaque, Go: "uintptr", Size: s.Size, Aligned: aligned}, true
	case w.tag.Len != "":
		n, ok := w.findCount(t, w.tag.Len)
		if !ok {
			return Rule{}, false
		}
		if w.tag.String && to.Size == 1 {
			return Rule{Op: Text, Go: "string", Size: s.Size, Len: n, Max: cmp.Or(w.tag.Max, MaxText), UTF8: w.tag.UTF8, Aligned: aligned}, true
		}
		elemRule, ok := w.withoutCount().planRule(s.Elem, 0)
		if !ok {
			return Rule{}, false
		}
		r := Rule{Op: Slice, Go: "[]" + elemRule.Go, Size: s.Size, Elem: &elemRule, Len: n, Max: cmp.Or(w.tag.Max, MaxCount), Aligned: aligned}
		if to.Kind == ctype.Struct {
			r.Depth = w.tag.Depth
		}
		return r, true
	case to.Kind == ctype.Char && w.tag.Bytes:
		return Rule{Op: Text, Go: "[]byte", Bytes: true, Size: s.Size, Max: cmp.Or(w.tag.Max, MaxText), Aligned: aligned}, true
	case to.Kind == ctype.Char, to.Size == 1 && w.tag.String:
		return Rule{Op: Text, Go: "string", Size: s.Size, Max: cmp.Or(w.tag.Max, MaxText), UTF8: w.tag.UTF8, Aligned: aligned}, true
	case to.Kind == ctype.Struct && w.tag.Depth > 0:
		inner := w.planInner(s.Elem, to)
		if inner == nil {
			return Rule{}, false
		}
		return Rule{Op: Deref, Go: "*" + inner.Go, Size: s.Size, Struct: inner, Depth: w.tag.Depth, Aligned: aligned}, true
	case to.Kind == ctype.Struct:
		return w.reject(t, "points to a struct, or to many", w.suggestTag(",depth=1' for one, or ',len=MEMBER"))
	}
	return w.reject(t, "points to one value, or to many", w.suggestTag(",len=MEMBER"))
}

// planUnion returns the rule of a union. A union may contain its discriminant (planEvent), or have one
// member that represents all ([View]). Otherwise its discriminant is another member, named by the tag.
func (w *memberContext) planUnion(t, s *ctype.Type, offset int64) (Rule, bool) {
	if name := unionName(t, s); w.tag.On == "" && !w.userTypes && w.options.Tags[name].On != "" {
		return w.planNested(t, s, offset)
	}
	if path, m, ok := View(t); ok && w.tag.On == "" {
		m.Offset = offset
		inner := *w
		inner.field.Offset = offset
		r, ok := inner.planMember(m)
		r.View = path
		return r, ok
	}
	if w.tag.On == "" {
		return w.reject(t, "is a union, and C does not say which member holds", w.suggestTag(",union=MEMBER:0:first,1:second"))
	}
	on, ok := w.findCount(t, w.tag.On)
	if !ok {
		return Rule{}, false
	}
	r := Rule{Op: Union, Size: s.Size, On: on, Aligned: true} // its cases have separate alignments
	for _, n := range slices.Sorted(maps.Keys(w.tag.Cases)) {
		name := w.tag.Cases[n]
		i := slices.IndexFunc(s.Fields, func(f ctype.Field) bool { return f.Name == name })
		if i < 0 {
			return w.reject(t, fmt.Sprintf("has no member %s", name), "name one of its members for each value of "+w.tag.On)
		}
		inner := *w
		key := fmt.Sprintf("%s.%s.%s", w.cName, w.field.C, name)
		inner.tag = w.options.Tags[key]
		w.used[key] = true
		inner.field.Go, inner.field.C = w.field.Go+Exported(name), w.field.C+"."+name
		elemRule, ok := inner.planRule(s.Fields[i].Type, offset)
		if !ok {
			return Rule{}, false
		}
		r.Cases = append(r.Cases, Case{Value: n, Field: Exported(name), C: name, Type: s.Fields[i].Type.String(), Rule: elemRule})
	}
	r.Go = w.struc.Go + w.field.Go
	if w.field.Go == "" {
		r.Go = w.struc.Go + "Union"
	}
	if !w.claimName(s, r.Go, w.cName+"."+w.field.C) {
		return Rule{}, false
	}
	return r, true
}
