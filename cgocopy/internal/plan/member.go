package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// where is the member that is looked at.
type where struct {
	*deriver
	struc  *Struct
	cName  string
	field  Field
	tag    Tag
	counts map[string]Count
}

func (w *where) refuse(t *ctype.Type, reason, remedy string) (Rule, bool) {
	w.deriver.refuse(Refusal{Pos: w.field.Pos, Struct: w.cName, Field: w.field.C, Type: t.String(), Reason: reason, Remedy: remedy})
	return Rule{}, false
}

// leave is the remedy that always works.
func (w *where) leave() string {
	if w.apart {
		return "leave it out with the tag `cgocopy:\"-\"`"
	}
	return fmt.Sprintf("leave it out with -tag '%s.%s=-'", w.cName, w.field.C)
}

func (w *where) suggest(words string) string {
	if w.apart {
		again := "\"` for one, or `cgocopy:\"" + w.field.C
		return fmt.Sprintf("say how with the tag `cgocopy:\"%s%s\"`, or %s", w.field.C, strings.ReplaceAll(words, "' for one, or '", again), w.leave())
	}
	return fmt.Sprintf("say how with -tag '%s.%s=%s', or %s", w.cName, w.field.C, words, w.leave())
}

// member is the rule of a whole member, which may be a bit-field.
func (w *where) member(m ctype.Field) (Rule, bool) {
	if m.BitSize > 0 {
		return w.bits(m)
	}
	r, ok := w.rule(m.Type, w.field.Offset)
	if ok && w.tag.Free != "" && r.Op != Text && r.Op != Slice && r.Op != Deref {
		return w.refuse(m.Type, "is no pointer, so nothing can be freed", "take free= away")
	}
	r.Free = w.tag.Free
	return r, ok
}

func (w *where) bits(m ctype.Field) (Rule, bool) {
	t := m.Type.Strip()
	if t != nil && t.Kind == ctype.Enum {
		t = t.Elem.Strip()
	}
	switch {
	case w.options.Big:
		return w.refuse(m.Type, "is a bit-field of a processor that puts the highest byte first", w.leave())
	case t == nil || t.Kind != ctype.Int && t.Kind != ctype.Uint && t.Kind != ctype.Bool && t.Kind != ctype.Char:
		return w.refuse(m.Type, "is a bit-field of a type that is no integer", w.leave())
	case m.BitOffset+m.BitSize > 64:
		return w.refuse(m.Type, "is a bit-field across nine bytes", w.leave())
	}
	r := Rule{Op: Bits, Size: (m.BitOffset + m.BitSize + 7) / 8, Bit: m.BitOffset, Width: m.BitSize, Signed: t.Kind == ctype.Int}
	r.Go = number(t)
	if t.Kind == ctype.Bool {
		r.Go = "bool"
	}
	return r, true
}

// number is the Go type of a C number.
func number(t *ctype.Type) string {
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

// rule is how a value of type t that lies at offset is taken over.
func (w *where) rule(t *ctype.Type, offset int64) (Rule, bool) {
	s := t.Strip()
	if s == nil {
		return w.refuse(t, "has no value", w.leave())
	}
	aligned := func(size int64) bool { return size > 0 && offset%min(size, w.options.Word) == 0 }
	switch s.Kind {
	case ctype.Int, ctype.Uint, ctype.Char, ctype.Float:
		return Rule{Op: Load, Go: number(s), Num: number(s), Size: s.Size, Aligned: aligned(s.Size)}, true
	case ctype.Bool:
		return Rule{Op: Bool, Go: "bool", Size: s.Size, Aligned: true}, true
	case ctype.Enum:
		e, ok := w.enumOf(t, s)
		if !ok {
			return Rule{}, false
		}
		return Rule{Op: Load, Go: e.Go, Num: number(s.Elem.Strip()), Size: s.Size, Aligned: aligned(s.Size)}, true
	case ctype.Struct:
		return w.nested(t, s, offset)
	case ctype.Union:
		return w.union(t, s, offset)
	case ctype.Array:
		return w.array(t, s, offset)
	case ctype.Pointer:
		return w.pointer(t, s, offset)
	}
	return w.refuse(t, orElse(s.Why, "has no counterpart in Go"), w.leave())
}

func orElse(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// enumOf declares the Go type of an enum; one without a name is its number.
func (w *where) enumOf(t, s *ctype.Type) (*Enum, bool) {
	under := s.Elem.Strip()
	if under == nil || number(under) == "" {
		w.refuse(t, "is an enum that is stored as nothing known", w.leave())
		return nil, false
	}
	if e := w.enums[s]; e != nil {
		return e, true
	}
	name := goTypeName(t, s)
	if name == "" {
		return &Enum{Go: number(under)}, true
	}
	if !w.name(s, name, s.String()) {
		return nil, false
	}
	e := &Enum{Go: name, C: named(t, s), Under: number(under)}
	for _, v := range s.Enumerators {
		e.Values = append(e.Values, Value{Go: w.enumerator(s, name, v.Name), C: v.Name, N: v.Value})
	}
	w.enums[s] = e
	w.plan.Enums = append(w.plan.Enums, e)
	return e, true
}

// named is s, or its first typedef where it has no name itself.
func named(t, s *ctype.Type) *ctype.Type {
	for x := t; s.Name == "" && x != nil && x.Kind == ctype.Typedef; x = x.Elem {
		if x.Name != "" {
			return x
		}
	}
	return s
}

// goTypeName is what a type inside a struct is called: by its typedef, or its
// tag; empty: neither.
func goTypeName(t, s *ctype.Type) string {
	for x := t; x != nil && x.Kind == ctype.Typedef; x = x.Elem {
		if x.Name != "" {
			return Exported(x.Name)
		}
	}
	return Exported(s.Tag())
}

// inner plans the struct that a member is, or points to.
func (w *where) inner(t, s *ctype.Type) *Struct {
	if w.apart {
		return stub(t, s)
	}
	name := goTypeName(t, s)
	cName := t.String()
	if name == "" {
		name, cName = w.struc.Go+w.field.Go, w.cName+"."+w.field.C
	} else if tag := s.Tag(); cName == s.String() && tag != "" {
		cName = tag
	}
	return w.structOf(s, name, cName)
}

func (w *where) nested(t, s *ctype.Type, offset int64) (Rule, bool) {
	inner := w.inner(t, s)
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

func (w *where) array(t, s *ctype.Type, offset int64) (Rule, bool) {
	elem := s.Elem.Strip()
	if s.Count == ctype.Flexible || w.tag.Len != "" { // T x[0] with a length is GNU's T x[]
		return w.tail(t, s, offset)
	}
	if s.Count == 0 || elem == nil {
		return w.refuse(t, "is an array of nothing", w.leave())
	}
	text := elem.Kind == ctype.Char && !w.tag.Bytes || elem.Size == 1 && w.tag.String && (elem.Kind == ctype.Int || elem.Kind == ctype.Uint)
	if text {
		return Rule{Op: Chars, Go: "string", Size: s.Size, N: s.Count, UTF8: w.tag.UTF8, Aligned: true}, true
	}
	one, ok := w.rule(s.Elem, offset)
	if !ok {
		return Rule{}, false
	}
	one.Aligned = one.Aligned && (one.Size == 0 || s.Size/s.Count%goAlign(one, w.options.Word) == 0)
	r := Rule{Op: Each, Go: fmt.Sprintf("[%d]%s", s.Count, one.Go), Size: s.Size, N: s.Count, Elem: &one, Aligned: one.Aligned}
	if one.Op == Load && one.From == "" {
		r.Op = Load
	}
	return r, true
}

// count finds the member that counts.
func (w *where) count(t *ctype.Type, name string) (*Count, bool) {
	c, ok := w.counts[name]
	if !ok {
		w.refuse(t, fmt.Sprintf("is counted by %s, which is no number beside it", name), fmt.Sprintf("numbers there: %s", orElse(join(w.counts), "none")))
		return nil, false
	}
	return &c, true
}

func join(counts map[string]Count) string {
	out := ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if out != "" {
			out += ", "
		}
		out += name
	}
	return out
}

func (w *where) tail(t, s *ctype.Type, offset int64) (Rule, bool) {
	if w.tag.Len == "" {
		return w.refuse(t, "is an array without a length", w.suggest(",len=MEMBER"))
	}
	n, ok := w.count(t, w.tag.Len)
	if !ok {
		return Rule{}, false
	}
	one, ok := w.counted().rule(s.Elem, offset)
	if !ok {
		return Rule{}, false
	}
	most := orMax(w.tag.Max, MaxCount)
	if s.Count > 0 { // an array with room for more than what counts
		most = min(most, s.Count)
	}
	return Rule{Op: Tail, Go: "[]" + one.Go, Size: s.Size, Elem: &one, Len: n, Max: most, Aligned: true}, true
}

func orMax(n, otherwise int64) int64 {
	if n > 0 {
		return n
	}
	return otherwise
}

func (w *where) pointer(t, s *ctype.Type, offset int64) (Rule, bool) {
	to := s.Elem.Strip()
	here := s.Size > 0 && offset%s.Size == 0
	switch {
	case w.tag.Opaque, to == nil || to.Kind == ctype.Void || to.Kind == ctype.Func:
		return Rule{Op: Opaque, Go: "uintptr", Size: s.Size, Aligned: here}, true
	case w.tag.Len != "":
		n, ok := w.count(t, w.tag.Len)
		if !ok {
			return Rule{}, false
		}
		if w.tag.String && to.Size == 1 {
			return Rule{Op: Text, Go: "string", Size: s.Size, Len: n, Max: orMax(w.tag.Max, MaxText), UTF8: w.tag.UTF8, Aligned: here}, true
		}
		one, ok := w.counted().rule(s.Elem, 0)
		if !ok {
			return Rule{}, false
		}
		r := Rule{Op: Slice, Go: "[]" + one.Go, Size: s.Size, Elem: &one, Len: n, Max: orMax(w.tag.Max, MaxCount), Aligned: here}
		if to.Kind == ctype.Struct {
			r.Depth = w.tag.Depth
		}
		return r, true
	case to.Kind == ctype.Char && w.tag.Bytes:
		return Rule{Op: Text, Go: "[]byte", Bytes: true, Size: s.Size, Max: orMax(w.tag.Max, MaxText), Aligned: here}, true
	case to.Kind == ctype.Char, to.Size == 1 && w.tag.String:
		return Rule{Op: Text, Go: "string", Size: s.Size, Max: orMax(w.tag.Max, MaxText), UTF8: w.tag.UTF8, Aligned: here}, true
	case to.Kind == ctype.Struct && w.tag.Depth > 0:
		inner := w.inner(s.Elem, to)
		if inner == nil {
			return Rule{}, false
		}
		return Rule{Op: Deref, Go: "*" + inner.Go, Size: s.Size, Struct: inner, Depth: w.tag.Depth, Aligned: here}, true
	case to.Kind == ctype.Struct:
		return w.refuse(t, "points to a struct, or to many", w.suggest(",depth=1' for one, or ',len=MEMBER"))
	}
	return w.refuse(t, "points to one value, or to many", w.suggest(",len=MEMBER"))
}

func (w *where) union(t, s *ctype.Type, offset int64) (Rule, bool) {
	if name := unionName(t, s); w.tag.On == "" && !w.apart && w.options.Tags[name].On != "" {
		return w.nested(t, s, offset)
	}
	if path, m, ok := View(t); ok && w.tag.On == "" {
		m.Offset = offset
		inner := *w
		inner.field.Offset = offset
		r, ok := inner.member(m)
		r.View = path
		return r, ok
	}
	if w.tag.On == "" {
		return w.refuse(t, "is a union, and C does not say which member holds", w.suggest(",union=MEMBER:0:first,1:second"))
	}
	on, ok := w.count(t, w.tag.On)
	if !ok {
		return Rule{}, false
	}
	r := Rule{Op: Union, Size: s.Size, On: on, Aligned: true}
	for _, n := range slices.Sorted(maps.Keys(w.tag.Cases)) {
		name := w.tag.Cases[n]
		i := slices.IndexFunc(s.Fields, func(f ctype.Field) bool { return f.Name == name })
		if i < 0 {
			return w.refuse(t, fmt.Sprintf("has no member %s", name), "name one of its members for each value of "+w.tag.On)
		}
		inner := *w
		key := fmt.Sprintf("%s.%s.%s", w.cName, w.field.C, name)
		inner.tag = w.options.Tags[key]
		w.used[key] = true
		inner.field.Go, inner.field.C = w.field.Go+Exported(name), w.field.C+"."+name
		one, ok := inner.rule(s.Fields[i].Type, offset)
		if !ok {
			return Rule{}, false
		}
		r.Cases = append(r.Cases, Case{Value: n, Field: Exported(name), C: name, Type: s.Fields[i].Type.String(), Rule: one})
	}
	r.Go = w.struc.Go + w.field.Go
	if w.field.Go == "" {
		r.Go = w.struc.Go + "Union"
	}
	if !w.name(s, r.Go, w.cName+"."+w.field.C) {
		return Rule{}, false
	}
	return r, true
}
