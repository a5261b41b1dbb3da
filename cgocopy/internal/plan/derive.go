package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Wanted is one type to derive.
type Wanted struct {
	Name string // as the user named it
	Type *ctype.Type
}

// Options are the decisions of the user.
type Options struct {
	Calls []WantedCall
	Tags  map[string]Tag // by Struct.member, in C's words
	Word  int64          // alignment of the largest numbers in Go: 8, on 386 and arm 4
	Rust  bool           // structs of Rust are repr(C)
	Big   bool           // the highest byte of a number comes first

	OmitPointers bool // pointers that no tag names are omitted
}

// Enum is a Go type for the values of a C enum.
type Enum struct {
	Go     string
	C      *ctype.Type
	Under  string // int32
	Values []Value
}

// Value is a constant of an enum.
type Value struct {
	Go, C string
	N     int64
}

// Plan is the content of the generated code.
type Plan struct {
	Structs []*Struct // the requested ones and those in them, each before its users
	Enums   []*Enum
	Calls   []*Call
	Word    int64    // as in Options; zero means 8
	Omitted []string // members that are omitted as pointers, e.g. node.next (struct node *)
}

// Derive plans Go types after C types. The error is of type Refusals, and
// complete.
func Derive(wanted []Wanted, o Options) (*Plan, error) {
	d := &deriver{options: o, structs: map[*ctype.Type]*Struct{}, enums: map[*ctype.Type]*Enum{}, requestedNames: map[*ctype.Type]string{}, names: map[string]*ctype.Type{}, plan: &Plan{Word: o.Word}, used: map[string]bool{}}
	asked := map[*ctype.Type]string{}
	for _, w := range wanted { // before members, which call types by names of their own
		if t := w.Type.Strip(); t != nil && asked[t] == "" {
			d.requestedNames[t], asked[t] = bareName(w.Name), w.Name
		}
	}
	for _, w := range wanted {
		t := w.Type.Strip()
		if t != nil && asked[t] != w.Name {
			d.reject(Refusal{Struct: w.Name, Type: w.Type.String(), Pos: positionOf(t), Reason: "is the same type as " + asked[t], Remedy: "ask for one of the two"})
			continue
		}
		if t != nil && t.Kind == ctype.Union && o.Tags[bareName(w.Name)].On == "" && !isViewed(t) {
			d.reject(Refusal{Struct: w.Name, Type: w.Type.String(), Pos: t.Pos(), Reason: "is a union, and nothing around it says which member holds", Remedy: fmt.Sprintf("where its members begin with a number that does, say so with -tag '%s=union=MEMBER:0:first,1:second'; or name the structs in it, and fill the one that holds; or a struct that it is in", bareName(w.Name))})
			continue
		}
		if t == nil || t.Kind != ctype.Struct && t.Kind != ctype.Union {
			d.reject(Refusal{Struct: w.Name, Type: w.Type.String(), Pos: positionOf(t), Reason: "is no struct", Remedy: "name a struct; members of other types are taken over with the struct they are in"})
			continue
		}
		d.structOf(t, Exported(bareName(w.Name)), bareName(w.Name))
	}
	for _, c := range o.Calls {
		d.planCall(c)
	}
	d.rejectCycles()
	for key := range o.Tags {
		if !d.used[key] {
			d.reject(Refusal{Struct: key, Type: "tag", Reason: "names no member of a type that was asked for", Remedy: "write Struct.member as C does"})
		}
	}
	if len(d.refusals) > 0 {
		slices.SortStableFunc(d.refusals, func(a, b Refusal) int { return strings.Compare(a.Struct+"."+a.Field, b.Struct+"."+b.Field) })
		return nil, slices.Compact(d.refusals) // a type in several places is rejected in each
	}
	return d.plan, nil
}

func positionOf(t *ctype.Type) string {
	if t == nil {
		return ""
	}
	return t.Pos()
}

type deriver struct {
	options        Options
	userTypes      bool // members of a type of the user's own: structs in it are planned elsewhere
	structs        map[*ctype.Type]*Struct
	enums          map[*ctype.Type]*Enum
	requestedNames map[*ctype.Type]string // the name by which the user requests a type
	names          map[string]*ctype.Type // Go names that are taken
	used           map[string]bool        // keys of tags
	plan           *Plan
	refusals       Refusals
}

// bareName returns a name of C without the word before it.
func bareName(name string) string { return name[1+strings.LastIndexByte(name, ' '):] }

func (d *deriver) reject(r Refusal) { d.refusals = append(d.refusals, r) }

// claimName claims a Go name for a type.
func (d *deriver) claimName(t *ctype.Type, goName, cName string) bool {
	if old, taken := d.names[goName]; taken && old != t {
		d.reject(Refusal{Pos: positionOf(t), Struct: cName, Type: t.String(), Reason: fmt.Sprintf("would be called %s in Go, as %s is", goName, old), Remedy: "generate them into two packages"})
		return false
	}
	d.names[goName] = t
	return true
}

// structOf plans a struct once. It returns nil if that is impossible.
func (d *deriver) structOf(t *ctype.Type, goName, cName string) *Struct {
	if s := d.structs[t]; s != nil {
		return s
	}
	if name := d.requestedNames[t]; name != "" {
		goName, cName = Exported(name), name
	}
	if reason, remedy := Unusable(t, d.options); reason != "" {
		d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: reason, Remedy: remedy})
		return nil
	}
	if !d.claimName(t, goName, cName) {
		return nil
	}
	s := &Struct{Go: goName, C: t, Says: cName}
	if t.Tag() == cName {
		s.Says = t.Name
	}
	d.structs[t] = s
	if tag, said := d.options.Tags[cName]; said {
		d.used[cName] = true
		s.Free = tag.Free
		switch {
		case t.Kind == ctype.Union && !tag.equals(Tag{Free: tag.Free, On: tag.On, Cases: tag.Cases}):
			d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: "has a tag that a whole union cannot have", Remedy: "there are union=MEMBER:0:first,1:second and free=FUNCTION"})
		case t.Kind == ctype.Struct && (tag.Free == "" || !tag.equals(Tag{Free: tag.Free})):
			d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: "has a tag that a whole struct cannot have", Remedy: "the only one is free=FUNCTION"})
		}
	}
	if on := d.options.Tags[cName]; t.Kind == ctype.Union && on.On != "" {
		d.planEvent(s, t, cName, on)
	} else {
		d.addFields(s, t, cName, 0, "")
	}
	setProperties(s, d.options.Word)
	d.plan.Structs = append(d.plan.Structs, s)
	return s
}

// Unusable returns why nothing can be copied from a struct, and a remedy; "" if it can.
func Unusable(t *ctype.Type, o Options) (reason, remedy string) {
	switch {
	case t.Incomplete && t.Language == ctype.CXX:
		return "has virtual functions or bases, or is declared but not defined", "give it a plain struct to copy from"
	case t.Incomplete:
		return "is declared but not defined", "include the header that defines it, or leave it out with a tag -"
	case t.Why != "":
		return t.Why, "give it a plain struct to copy from"
	case t.Language == ctype.Rust && !o.Rust:
		return "comes from Rust, whose layouts may change unless they are repr(C), and that cannot be seen", "declare it #[repr(C)] and say so with -repr-c"
	case t.Size == 0:
		return "has no size", "there is nothing to copy"
	}
	return "", ""
}

// addFields adds the members of t, which is at offset in s.
func (d *deriver) addFields(s *Struct, t *ctype.Type, cName string, offset int64, path string) {
	counts := d.findCounts(s.C, cName, 0)
	list := t.Fields
	if t.Kind == ctype.Union { // its members read alike
		list = list[:1]
	}
	for _, m := range list {
		inner := m.Type.Strip()
		name := m.Name
		if name == "" && inner != nil && inner.Kind == ctype.Union {
			name = firstName(inner) // represents it
			if d.options.Tags[cName+"."+path+name].On == "" && isViewed(inner) {
				d.addFields(s, inner, cName, offset+m.Offset, path)
				continue
			}
		}
		if name == "" {
			if inner != nil && inner.Kind == ctype.Struct {
				d.addFields(s, inner, cName, offset+m.Offset, path)
			}
			continue // else an unnamed bit-field: padding
		}
		key := cName + "." + path + name
		tag := d.options.Tags[key]
		if _, said := d.options.Tags[key]; said {
			d.used[key] = true
		}
		if tag.Skip {
			s.Part = true
			continue
		}
		if d.options.OmitPointers && !d.used[key] && isPointing(m.Type) {
			s.Part = true
			d.plan.Omitted = append(d.plan.Omitted, fmt.Sprintf("%s (%s)", key, m.Type))
			continue
		}
		f := Field{Go: Exported(name), C: path + name, Type: m.Type.String(), Pos: m.Pos(), Offset: offset + m.Offset, Tag: tag, Nameless: m.Name == ""}
		w := &memberContext{deriver: d, struc: s, cName: cName, field: f, tag: tag, counts: counts}
		if f.Go == "" {
			w.reject(m.Type, "has a name that cannot be written in Go", "leave it out with -tag '"+key+"=-'")
			continue
		}
		if isMethod(f.Go) {
			w.reject(m.Type, "would be called "+f.Go+" in Go, as a method is", "leave it out with -tag '"+key+"=-'")
			continue
		}
		if slices.ContainsFunc(s.Fields, func(o Field) bool { return o.Go == f.Go }) {
			w.reject(m.Type, "would be the second "+f.Go+" in Go", "leave one of them out with a tag -")
			continue
		}
		rule, ok := w.planMember(m)
		if !ok {
			continue
		}
		w.wordsFit(m.Type, rule)
		f.Rule = rule
		f.See(m.Type)
		s.Fields = append(s.Fields, f)
	}
}

// firstName returns the name of the first member of t that has one and an address, by which C
// reaches it through unnamed ones; or else of one that has no address. It returns "" if there is
// none.
func firstName(t *ctype.Type) string {
	name, _ := firstOf(t)
	return name
}

func firstOf(t *ctype.Type) (name string, addressed bool) {
	for _, m := range t.Fields {
		inner, n, a := m.Type.Strip(), m.Name, m.BitSize == 0
		if n == "" && a && inner != nil {
			n, a = firstOf(inner)
		}
		switch {
		case n != "" && a:
			return n, true
		case name == "":
			name = n
		}
	}
	return name, false
}

// findCounts returns the members of t that can count others.
func (d *deriver) findCounts(t *ctype.Type, cName string, offset int64) map[string]Count {
	out := map[string]Count{}
	for _, m := range t.Fields {
		inner := m.Type.Strip()
		if inner == nil || m.BitSize > 0 {
			continue
		}
		if m.Name == "" && (inner.Kind == ctype.Struct || isViewed(inner)) {
			maps.Copy(out, d.findCounts(inner, cName, offset+m.Offset))
		}
		signed := inner.Kind == ctype.Int
		if inner.Kind == ctype.Enum {
			if e := inner.Elem.Strip(); e != nil {
				signed = e.Kind == ctype.Int
			}
		}
		switch inner.Kind {
		case ctype.Int, ctype.Uint, ctype.Enum, ctype.Char, ctype.Bool:
			c := Count{C: m.Name, Offset: offset + m.Offset, Size: inner.Size, Signed: signed}
			if tag, ok := d.options.Tags[cName+"."+m.Name]; !ok || !tag.Skip {
				c.Go = Exported(m.Name)
			}
			out[m.Name] = c
		}
	}
	return out
}

// setProperties sets the properties that follow from a struct's fields. word is the largest
// alignment in Go.
func setProperties(s *Struct, word int64) {
	s.Flat = !s.Part
	var end, align int64 = 0, 1
	for i := range s.Fields {
		f := &s.Fields[i]
		a := goAlign(f.Rule, word)
		align = max(align, a)
		at := (end + a - 1) / a * a
		if f.Rule.Op != Load || f.Rule.From != "" || !f.Rule.Aligned || at != f.Offset {
			s.Flat = false
		}
		end = f.Offset + f.Rule.Size
		s.Fails = s.Fails || canFail(f.Rule)
		s.Allocs = s.Allocs || allocates(f.Rule)
	}
	if (end+align-1)/align*align != s.C.Size {
		s.Flat = false
	}
}

// goAlign returns the alignment in Go of the value of a rule that loads.
func goAlign(r Rule, word int64) int64 {
	switch {
	case r.Op == Deref, r.Op == Slice, r.Op == Tail, r.Op == Text, r.Op == Chars: // in Go a pointer comes first
		return word
	case r.Struct != nil:
		var a int64 = 1
		for _, f := range r.Struct.Fields {
			a = max(a, goAlign(f.Rule, word))
		}
		return a
	case r.Elem != nil:
		return goAlign(*r.Elem, word)
	}
	return max(1, min(r.Size, word))
}

func canFail(r Rule) bool {
	switch r.Op {
	case Text, Slice, Tail, Union, Deref:
		return true
	case Chars:
		return r.UTF8 == Refuse
	case Nested:
		return r.Struct.Fails
	case Each:
		return canFail(*r.Elem)
	}
	return false
}

func allocates(r Rule) bool {
	switch r.Op {
	case Text, Chars, Slice, Tail, Deref:
		return true
	case Nested:
		return r.Struct.Allocs
	case Each:
		return allocates(*r.Elem)
	case Union:
		return slices.ContainsFunc(r.Cases, func(c Case) bool { return allocates(c.Rule) })
	}
	return false
}
