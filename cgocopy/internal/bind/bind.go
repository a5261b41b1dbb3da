package bind

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Pair is a Go struct of the user and the C struct that fills it.
type Pair struct {
	Go   string
	C    string // as the user wrote it
	Type *ctype.Type
}

// Result has the content of the generated code, and the notes to print.
type Result struct {
	Plan    *plan.Plan
	Imports []string  // import paths of the generated file, sorted
	Untaken []Untaken // members of C structs that no field takes
	Wide    bool      // the code is only correct with int, uint and uintptr of 64 bits
}

// Untaken is a member that no field takes.
type Untaken struct {
	Pos    string // file:line of its declaration; "" if unknown
	Member string // e.g. GameObject.pad (char [4])
	Go     string // Go type without a field for it
}

// String returns the note to print, one line.
func (l Untaken) String() string {
	note := l.Member + " is taken by no field of " + l.Go
	if l.Pos == "" {
		return note
	}
	return l.Pos + ": " + note
}

// binder collects the result of [Derive], and the errors of the user.
type binder struct {
	*Source
	options  plan.Options
	structs  map[*types.Named]*plan.Struct
	fieldPos map[string]token.Pos // by TYPE.FIELD
	refusals plan.Refusals
	out      *Result
}

// Derive plans how the pairs are filled. The error is of type plan.Refusals and has everything that is
// wrong with the pairs.
func Derive(s *Source, pairs []Pair, o plan.Options) (*Result, error) {
	b := &binder{Source: s, options: o, structs: map[*types.Named]*plan.Struct{}, fieldPos: map[string]token.Pos{}, out: &Result{Plan: &plan.Plan{}}}
	for _, p := range pairs {
		n, why := s.findStruct(p.Go)
		t := p.Type.Strip()
		switch {
		case why != "":
			b.reject(plan.Refusal{Struct: p.Go, Type: p.C, Reason: why, Remedy: "declare it as a struct, e.g. type " + p.Go + " struct { … }"})
		case t == nil || t.Kind != ctype.Struct:
			b.reject(plan.Refusal{Pos: s.positionOf(n.Obj().Pos()), Struct: p.Go, Type: p.C, Reason: "cannot be filled from what is no struct", Remedy: "name a struct of C"})
		default:
			cName := p.C
			if t.Tag() == cName && p.Type.Kind != ctype.Typedef {
				cName = t.Name // "struct node" for the bare tag "node"
			}
			b.planStruct(n, t, cName, n.Obj().Pos())
		}
	}
	if len(b.refusals) == 0 {
		b.rejectCycles()
	}
	if len(b.refusals) > 0 {
		return nil, b.refusals
	}
	slices.Sort(b.out.Imports)
	b.out.Imports = slices.Compact(b.out.Imports)
	return b.out, nil
}

func (b *binder) reject(r plan.Refusal) { b.refusals = append(b.refusals, r) }

// rejectCycles rejects fields without a depth limit that lead back to their own struct. It names the Go
// fields of the C members that plan.FindCycles finds.
func (b *binder) rejectCycles() {
	for _, r := range plan.FindCycles(b.out.Plan) {
		for _, s := range b.out.Plan.Structs {
			for _, f := range s.Fields {
				if f.C == r.Field && f.Pos == r.Pos {
					member := fmt.Sprintf("takes %s.%s (%s%s), which ", s.CName, f.C, f.Type, formatPos(", ", f.Pos, ""))
					b.reject(plan.Refusal{Pos: b.positionOf(b.fieldPos[s.Go+"."+f.Go]), Struct: s.Go, Field: f.Go, Type: f.Rule.Go, Reason: member + r.Reason, Remedy: "add ,depth=N to its tag, or leave it alone with the tag `cgocopy:\"-\"`"})
				}
			}
		}
	}
}

// planStruct plans how Go type n is filled from C type t, called cName. It plans each Go type once. use is
// the position for errors. It returns nil if it has rejected n.
func (b *binder) planStruct(n *types.Named, t *ctype.Type, cName string, use token.Pos) *plan.Struct {
	name := n.Obj().Name()
	rejectStruct := func(pos token.Pos, reason, remedy string) *plan.Struct {
		b.reject(plan.Refusal{Pos: b.positionOf(pos), Struct: name, Type: cName, Reason: reason, Remedy: remedy})
		return nil
	}
	if reason, remedy := plan.WhyUnusable(t, b.options); reason != "" {
		return rejectStruct(use, "cannot be filled: "+cName+" "+reason, remedy)
	}
	if s := b.structs[n]; s != nil {
		if s.C != t {
			return rejectStruct(use, "is filled from "+s.CName+" already", "declare a Go type for each of the two")
		}
		return s
	}
	s := &plan.Struct{Go: name, C: t, CName: cName, UserType: true}
	b.structs[n] = s
	if m, pos := b.existingMethod(n); m != "" {
		return rejectStruct(pos, "has a method "+m+" already", "give that one another name, or fill a type of your own")
	}
	if o := b.types.Scope().Lookup("Sizeof" + name); o != nil {
		return rejectStruct(o.Pos(), "needs the name Sizeof"+name, "give what has it another name")
	}
	b.planFields(s, n)
	plan.Finish(s, b.options.Word)
	s.Flat = b.isFlat(s, n)
	b.out.Plan.Structs = append(b.out.Plan.Structs, s)
	return s
}

// planFields plans the fields of s, and notes the members that no field takes.
func (b *binder) planFields(s *plan.Struct, n *types.Named) {
	list := plan.Members(s.C)
	taken := map[string]string{} // field that takes each member; "" if a member only counts another
	for _, f := range b.findFields(s, n.Underlying().(*types.Struct), "", list) {
		b.planField(s, f, list, taken)
	}
	for _, m := range list {
		if _, ok := taken[m.Name]; ok {
			continue
		}
		s.Part = true
		b.out.Untaken = append(b.out.Untaken, Untaken{m.Pos(), fmt.Sprintf("%s.%s (%s)", s.CName, m.Name, m.Type), s.Go})
	}
}

// planField plans the field f of s. It finds its member in list, derives the rule of the member and fits it
// to the Go type. It adds the member to taken even if it rejects the field.
func (b *binder) planField(s *plan.Struct, f field, list []plan.Member, taken map[string]string) {
	goType, imports := b.formatType(f.Type())
	rejectField := func(reason, remedy string) {
		b.reject(plan.Refusal{Pos: b.positionOf(f.Pos()), Struct: s.Go, Field: f.path, Type: goType, Reason: reason, Remedy: remedy})
	}
	if f.err != nil {
		rejectField("has a tag that cannot be read: "+f.err.Error(), "fix the tag")
		return
	}
	if plan.IsMethod(f.Name()) {
		rejectField("has the name of a method that is generated", "give it another one")
		return
	}
	m, why := findMember(f, list)
	if why != "" {
		rejectField(why+" in "+s.CName+formatPos(" (", s.C.Pos(), ")"), "name one with the tag `cgocopy:\"NAME\"`, or leave the field alone with `cgocopy:\"-\"`")
		return
	}
	member := fmt.Sprintf("%s.%s (%s%s)", s.CName, m.Name, m.Type, formatPos(", ", m.Pos(), ""))
	if other := taken[m.Name]; other != "" {
		rejectField("takes "+member+", as "+other+" does", "take one of them away, or leave it alone with the tag `cgocopy:\"-\"`")
		return
	}
	taken[m.Name] = f.path
	for _, count := range []string{f.tag.Len, f.tag.On} { // members that the tag uses
		if _, ok := taken[count]; count != "" && !ok {
			taken[count] = "" // another field may still take it
		}
	}
	options := b.options
	options.Tags = b.caseTags(s.CName+"."+m.Name, m.Type, f)
	rule, err := m.Rule(s.CName, completeTag(f.tag, m.Type, f.Type()), options)
	if err != nil {
		for _, r := range err.(plan.Refusals) { //nolint:errorlint // Rule returns that type
			rejectField(fmt.Sprintf("cannot take %s, which %s", member, r.Reason), r.Remedy)
		}
		return
	}
	if c := m.Type.Strip(); f.tag.Enum && (c == nil || c.Kind != ctype.Enum) {
		rejectField("takes "+member+", which is no enum", "take the word enum out of its tag")
		return
	}
	w := &typeFitter{binder: b, offset: m.Offset, pos: f.Pos()}
	rule, miss := w.fitRule(rule, m.Type, f.Type())
	if miss != nil {
		if miss.reason != "" {
			rejectField(fmt.Sprintf("cannot hold %s: %s", member, miss.reason), miss.remedy)
		}
		return
	}
	b.fieldPos[s.Go+"."+f.path] = f.Pos()
	b.out.Imports = append(b.out.Imports, imports...)
	field := plan.Field{Go: f.path, C: m.Name, Type: m.Type.String(), Pos: m.Pos(), Tag: f.tag, Offset: m.Offset, Nameless: m.Nameless(), Rule: rule}
	field.ResolveView(m.Type)
	s.Fields = append(s.Fields, field)
}

func formatPos(before, pos, after string) string {
	if pos == "" {
		return ""
	}
	return before + pos + after
}

// isFlat reports whether n, the Go type of s, can be copied in one load. It must have the size and the
// offsets of its C type, a field for each member, and no other fields. Otherwise the copy could overwrite
// Go's padding.
func (b *binder) isFlat(s *plan.Struct, n *types.Named) bool {
	if s.Part || b.sizes.Sizeof(n) != s.C.Size {
		return false
	}
	offsets := map[string]int64{}
	for _, f := range s.Fields {
		isCopied := f.Rule.Op == plan.Load && f.Rule.From == "" && f.Rule.Aligned
		if !isCopied {
			return false
		}
		offsets[f.Go] = f.Offset
	}
	return b.hasOffsets(n.Underlying().(*types.Struct), "", 0, offsets)
}

// hasOffsets reports whether each field of t has its offset in want, by path. base and path are those of t
// in the outermost struct.
func (b *binder) hasOffsets(t *types.Struct, path string, base int64, want map[string]int64) bool {
	vars := slices.Collect(t.Fields())
	for i, offset := range b.sizes.Offsetsof(vars) {
		f := vars[i]
		wanted, isPlanned := want[path+f.Name()]
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case isPlanned && wanted == base+offset:
			// The field is where its member is.
		case f.Name() == "_" && isNumeric(f.Type()):
			// Explicit padding may be overwritten.
		case !isPlanned && f.Embedded() && isStruct && b.hasOffsets(inner, path+f.Name()+".", base+offset, want):
			// All fields of the embedded struct are where their members are.
		default:
			return false
		}
	}
	return true
}

func isNumeric(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsNumeric != 0
	case *types.Array:
		return isNumeric(u.Elem())
	}
	return false
}
