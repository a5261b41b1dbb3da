package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Wanted is a C type for which the user requests a Go type.
type Wanted struct {
	Name string // as the user wrote it
	Type *ctype.Type
}

// Options are the decisions of the user, and facts about the machine that C is compiled for.
type Options struct {
	Calls []WantedCall
	Tags  map[string]Tag // by STRUCT.MEMBER in C, STRUCT, or FUNCTION.out
	Word  int64          // largest alignment in Go, in bytes: 4 on 386 and arm, else 8
	Rust  bool           // the user states that structs of Rust are repr(C)
	Big   bool           // big endian

	OmitPointers bool // omit pointers that no tag names
}

// Enum is a Go type for the values of a C enum.
type Enum struct {
	Go     string
	C      *ctype.Type
	Under  string // underlying Go type, e.g. int32
	Values []Value
}

// Value is a constant of an enum.
type Value struct {
	Go, C string
	N     int64
}

// Plan is the content of the generated code.
type Plan struct {
	Structs []*Struct // each comes before the structs that contain it
	Enums   []*Enum
	Calls   []*Call
	Word    int64    // as in Options; zero means 8
	Omitted []string // omitted pointers, e.g. node.next (struct node *)
}

type deriver struct {
	options        Options
	userTypes      bool // the user has declared the Go types; package bind plans the structs in them
	structs        map[*ctype.Type]*Struct
	enums          map[*ctype.Type]*Enum
	requestedNames map[*ctype.Type]string // bare names of requested types
	names          map[string]*ctype.Type // Go names in use, with their types
	used           map[string]bool        // keys of options.Tags that have a member or type
	plan           *Plan
	refusals       Refusals
}

// Derive plans a Go type for each wanted C type and the types in it, and a Go function for each wanted C
// function. The error is of type Refusals and has everything that is wrong.
func Derive(wanted []Wanted, o Options) (*Plan, error) {
	d := &deriver{
		options:        o,
		structs:        map[*ctype.Type]*Struct{},
		enums:          map[*ctype.Type]*Enum{},
		requestedNames: map[*ctype.Type]string{},
		names:          map[string]*ctype.Type{},
		plan:           &Plan{Word: o.Word},
		used:           map[string]bool{},
	}
	firstNames := map[*ctype.Type]string{} // the first requested name of a type
	// A member may use another name for the same type, so names come first.
	for _, w := range wanted {
		if t := w.Type.Strip(); t != nil && firstNames[t] == "" {
			d.requestedNames[t], firstNames[t] = bareName(w.Name), w.Name
		}
	}
	for _, w := range wanted {
		d.planWanted(w, firstNames[w.Type.Strip()])
	}
	for _, c := range o.Calls {
		d.planCall(c)
	}
	d.rejectCycles()
	for key := range o.Tags {
		if !d.used[key] {
			d.reject(Refusal{Struct: key, Type: "tag", Reason: "names no member of a type that was requested", Remedy: "write Struct.member as C does"})
		}
	}
	if len(d.refusals) > 0 {
		slices.SortStableFunc(d.refusals, func(a, b Refusal) int { return strings.Compare(a.Struct+"."+a.Field, b.Struct+"."+b.Field) })
		return nil, slices.Compact(d.refusals) // a type that several members have is rejected for each of them
	}
	return d.plan, nil
}

// planWanted plans a wanted type. firstName is the first of the wanted names of this type.
func (d *deriver) planWanted(w Wanted, firstName string) {
	t, name := w.Type.Strip(), bareName(w.Name)
	rejectWanted := func(reason, remedy string) {
		d.reject(Refusal{Struct: w.Name, Type: w.Type.String(), Pos: positionOf(t), Reason: reason, Remedy: remedy})
	}
	isUnion := t != nil && t.Kind == ctype.Union
	hasDiscriminant := d.options.Tags[name].On != ""
	switch {
	case t != nil && firstName != w.Name:
		rejectWanted("is the same type as "+firstName, "ask for one of the two")
	case isUnion && !hasDiscriminant && !isViewed(t):
		rejectWanted("is a union, and nothing around it shows which member holds", fmt.Sprintf("where its members begin with a number that does, say so with -tag '%s=union=MEMBER:0:first,1:second'; or name the structs in it, and fill the one that holds; or a struct that it is in", name))
	case !isUnion && (t == nil || t.Kind != ctype.Struct):
		rejectWanted("is no struct", "name a struct; members of other types are taken over with the struct they are in")
	default:
		d.planStruct(t, Exported(name), name)
	}
}

func positionOf(t *ctype.Type) string {
	if t == nil {
		return ""
	}
	return t.Pos()
}

// bareName returns a name of C without struct, union or enum before it.
func bareName(name string) string { return name[1+strings.LastIndexByte(name, ' '):] }

func (d *deriver) reject(r Refusal) { d.refusals = append(d.refusals, r) }

// claimName claims a Go name for a type. It rejects the type if another one has the name.
func (d *deriver) claimName(t *ctype.Type, goName, cName string) bool {
	if old, taken := d.names[goName]; taken && old != t {
		d.reject(Refusal{Pos: positionOf(t), Struct: cName, Type: t.String(), Reason: fmt.Sprintf("would be called %s in Go, as %s is", goName, old), Remedy: "generate them into two packages"})
		return false
	}
	d.names[goName] = t
	return true
}

// planStruct plans struct or union t, once. goName and cName are its names, unless the user requests
// another name. It returns nil if it has rejected t.
func (d *deriver) planStruct(t *ctype.Type, goName, cName string) *Struct {
	if s := d.structs[t]; s != nil {
		return s
	}
	if name := d.requestedNames[t]; name != "" {
		goName, cName = Exported(name), name
	}
	if reason, remedy := WhyUnusable(t, d.options); reason != "" {
		d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: reason, Remedy: remedy})
		return nil
	}
	if !d.claimName(t, goName, cName) {
		return nil
	}
	s := &Struct{Go: goName, C: t, CName: cName}
	if t.Tag() == cName {
		s.CName = t.Name
	}
	d.structs[t] = s
	tag, hasTag := d.options.Tags[cName]
	if hasTag {
		d.used[cName] = true
		s.Free = tag.Free
		switch {
		case t.Kind == ctype.Union && !tag.equals(Tag{Free: tag.Free, On: tag.On, Cases: tag.Cases}):
			d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: "has a tag that a union cannot have", Remedy: "there are union=MEMBER:0:first,1:second and free=FUNCTION"})
		case t.Kind == ctype.Struct && (tag.Free == "" || !tag.equals(Tag{Free: tag.Free})):
			d.reject(Refusal{Pos: t.Pos(), Struct: cName, Type: t.String(), Reason: "has a tag that a struct cannot have", Remedy: "the only one is free=FUNCTION"})
		}
	}
	if t.Kind == ctype.Union && tag.On != "" {
		d.planEvent(s, t, cName, tag)
	} else {
		d.addFields(s, t, cName, 0, "")
	}
	setProperties(s, d.options.Word)
	d.plan.Structs = append(d.plan.Structs, s)
	return s
}

// WhyUnusable returns why struct t cannot be copied, and a remedy. Both are "" if t can be copied.
func WhyUnusable(t *ctype.Type, o Options) (reason, remedy string) {
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

// addFields adds a field to s for each member of t. t is the C type of s, or an anonymous struct or union
// in it, at offset. cName is the C name of s, and path the prefix of the members' names.
func (d *deriver) addFields(s *Struct, t *ctype.Type, cName string, offset int64, path string) {
	counts := d.findCounts(s.C, cName, 0)
	list := t.Fields
	if t.Kind == ctype.Union { // its first member represents all
		list = list[:1]
	}
	for _, m := range list {
		inner := m.Type.Strip()
		name := m.Name
		if name == "" && inner != nil && inner.Kind == ctype.Union {
			name = firstName(inner)
			if d.options.Tags[cName+"."+path+name].On == "" && isViewed(inner) {
				d.addFields(s, inner, cName, offset+m.Offset, path)
				continue
			}
		}
		if name == "" {
			if inner != nil && inner.Kind == ctype.Struct {
				d.addFields(s, inner, cName, offset+m.Offset, path)
			}
			continue // other members without a name are padding
		}
		key := cName + "." + path + name
		tag, hasTag := d.options.Tags[key]
		if hasTag {
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
		if w.rejectFieldName(m.Type, "leave it out with -tag '"+key+"=-'") {
			continue
		}
		rule, ok := w.planMember(m)
		if !ok {
			continue
		}
		w.checkTag(m.Type, rule)
		f.Rule = rule
		f.ResolveView(m.Type)
		s.Fields = append(s.Fields, f)
	}
}

// rejectFieldName rejects the member, of type t, if its Go field cannot have its name.
func (w *memberContext) rejectFieldName(t *ctype.Type, remedy string) bool {
	name := w.field.Go
	switch {
	case name == "":
		w.reject(t, "has a name that cannot be written in Go", remedy)
	case IsMethod(name):
		w.reject(t, "would be called "+name+" in Go, as a method is", remedy)
	case slices.ContainsFunc(w.struc.Fields, func(f Field) bool { return f.Go == name }):
		w.reject(t, "would be the second "+name+" in Go", "leave one of them out with a tag -")
	default:
		return false
	}
	return true
}

// firstName returns the name by which C can refer to the anonymous union t. It is the first member with a
// name and an address, also in anonymous structs. Only a union without such a member has the name of a
// bit-field, or "".
func firstName(t *ctype.Type) string {
	name, _ := firstOf(t)
	return name
}

func firstOf(t *ctype.Type) (name string, hasAddress bool) {
	for _, m := range t.Fields {
		inner, memberName, isAddressable := m.Type.Strip(), m.Name, m.BitSize == 0
		if memberName == "" && isAddressable && inner != nil {
			memberName, isAddressable = firstOf(inner)
		}
		switch {
		case memberName != "" && isAddressable:
			return memberName, true
		case name == "":
			name = memberName
		}
	}
	return name, false
}

// findCounts returns the members of t that can count other members, or select the member of a union, by
// name. They may be in anonymous structs or unions. offset is the offset of t in the outermost struct.
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

// setProperties sets Flat, Fails and Allocs, which follow from the fields of s. word is the largest
// alignment in Go, in bytes.
func setProperties(s *Struct, word int64) {
	s.Flat = !s.Part
	var end, align int64 = 0, 1 // end of the fields so far, and alignment of the struct, in Go
	for i := range s.Fields {
		f := &s.Fields[i]
		fieldAlign := goAlign(f.Rule, word)
		align = max(align, fieldAlign)
		goOffset := roundUp(end, fieldAlign)
		isCopied := f.Rule.Op == Load && f.Rule.From == "" && f.Rule.Aligned
		if !isCopied || goOffset != f.Offset {
			s.Flat = false
		}
		end = f.Offset + f.Rule.Size
		s.Fails = s.Fails || canFail(f.Rule)
		s.Allocs = s.Allocs || allocates(f.Rule)
	}
	if roundUp(end, align) != s.C.Size {
		s.Flat = false
	}
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }

// goAlign returns the alignment of the Go value that rule r fills, in bytes.
func goAlign(r Rule, word int64) int64 {
	switch {
	case r.Op == Deref, r.Op == Slice, r.Op == Tail, r.Op == Text, r.Op == Chars: // the Go value begins with a pointer
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
