package bind

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Pair is a Go type and the C type that fills it.
type Pair struct {
	Go   string
	C    string // as the user named it
	Type *ctype.Type
}

// Result is the content of the generated code, and the notes to print.
type Result struct {
	Plan    *plan.Plan
	Imports []string // of the generated file
	Left    []Left
	Wide    bool // an int, uint or uintptr must have 64 bits
}

// Left is a member that no field takes.
type Left struct {
	Pos    string // file:line; empty if unknown
	Member string // GameObject.pad (char [4])
	Go     string // the type that does not take it
}

// String returns a note about it, one line.
func (l Left) String() string {
	note := l.Member + " is taken by no field of " + l.Go
	if l.Pos == "" {
		return note
	}
	return l.Pos + ": " + note
}

// Derive plans how the pairs are filled. The error is of type plan.Refusals, and
// complete.
func Derive(s *Source, pairs []Pair, o plan.Options) (*Result, error) {
	b := &binder{Source: s, options: o, structs: map[*types.Named]*plan.Struct{}, at: map[string]token.Pos{}, out: &Result{Plan: &plan.Plan{}}}
	for _, p := range pairs {
		n, why := s.findStruct(p.Go)
		t := p.Type.Strip()
		switch {
		case why != "":
			b.reject(plan.Refusal{Struct: p.Go, Type: p.C, Reason: why, Remedy: "declare it as a struct, e.g. type " + p.Go + " struct { … }"})
		case t == nil || t.Kind != ctype.Struct:
			b.reject(plan.Refusal{Pos: s.positionOf(n.Obj().Pos()), Struct: p.Go, Type: p.C, Reason: "cannot be filled from what is no struct", Remedy: "name a struct of C"})
		default:
			says := p.C
			if t.Tag() == says && p.Type.Kind != ctype.Typedef {
				says = t.Name
			}
			b.structOf(n, t, says, n.Obj().Pos())
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

type binder struct {
	*Source
	options  plan.Options
	structs  map[*types.Named]*plan.Struct
	at       map[string]token.Pos // of fields that are filled, by type and name
	refusals plan.Refusals
	out      *Result
}

func (b *binder) reject(r plan.Refusal) { b.refusals = append(b.refusals, r) }

// rejectCycles rejects fields by which a struct leads to its own type without end.
func (b *binder) rejectCycles() {
	for _, r := range plan.Circles(b.out.Plan) {
		for _, s := range b.out.Plan.Structs {
			for _, f := range s.Fields {
				if f.C == r.Field && f.Pos == r.Pos {
					of := fmt.Sprintf("takes %s.%s (%s%s), which ", s.Says, f.C, f.Type, afterComma(f.Pos))
					b.reject(plan.Refusal{Pos: b.positionOf(b.at[s.Go+"."+f.Go]), Struct: s.Go, Field: f.Go, Type: f.Rule.Go, Reason: of + r.Reason, Remedy: "add ,depth=N to its tag, or leave it alone with the tag `cgocopy:\"-\"`"})
				}
			}
		}
	}
}

// structOf plans how n is filled from t, once. It returns nil if that is impossible.
func (b *binder) structOf(n *types.Named, t *ctype.Type, says string, asked token.Pos) *plan.Struct {
	name := n.Obj().Name()
	bad := func(at token.Pos, reason, remedy string) *plan.Struct {
		b.reject(plan.Refusal{Pos: b.positionOf(at), Struct: name, Type: says, Reason: reason, Remedy: remedy})
		return nil
	}
	if reason, remedy := plan.Unusable(t, b.options); reason != "" {
		return bad(asked, "cannot be filled: "+says+" "+reason, remedy)
	}
	if s := b.structs[n]; s != nil {
		if s.C != t {
			return bad(asked, "is filled from "+s.Says+" already", "declare a Go type for each of the two")
		}
		return s
	}
	s := &plan.Struct{Go: name, C: t, Says: says, Own: true}
	b.structs[n] = s
	if m, at := b.existingMethod(n); m != "" {
		return bad(at, "has a method "+m+" already", "give that one another name, or fill a type of your own")
	}
	if o := b.types.Scope().Lookup("Sizeof" + name); o != nil {
		return bad(o.Pos(), "needs the name Sizeof"+name, "give what has it another name")
	}
	b.planFields(s, n)
	plan.Finish(s, b.options.Word)
	s.Flat = b.isFlat(s, n)
	b.out.Plan.Structs = append(b.out.Plan.Structs, s)
	return s
}

// planFields plans the fields of s, and notes members that none of them takes.
func (b *binder) planFields(s *plan.Struct, n *types.Named) {
	list := plan.Members(s.C)
	taken := map[string]string{} // member to field
	for _, f := range b.findFields(s, n.Underlying().(*types.Struct), "", list) {
		b.planField(s, f, list, taken)
	}
	for _, m := range list {
		if _, ok := taken[m.Name]; ok {
			continue
		}
		s.Part = true
		b.out.Left = append(b.out.Left, Left{m.Pos(), fmt.Sprintf("%s.%s (%s)", s.Says, m.Name, m.Type), s.Go})
	}
}

// planField plans one field.
func (b *binder) planField(s *plan.Struct, f field, list []plan.Member, taken map[string]string) {
	goType, imports := b.formatType(f.Type())
	bad := func(reason, remedy string) {
		b.reject(plan.Refusal{Pos: b.positionOf(f.Pos()), Struct: s.Go, Field: f.path, Type: goType, Reason: reason, Remedy: remedy})
	}
	if f.err != nil {
		bad("has a tag that cannot be read: "+f.err.Error(), "fix the tag")
		return
	}
	if isMade(f.Name()) {
		bad("has the name of a method that is generated", "give it another one")
		return
	}
	m, why := findMember(f, list)
	if why != "" {
		bad(why+" in "+s.Says+inBrackets(s.C.Pos()), "name one with the tag `cgocopy:\"NAME\"`, or leave the field alone with `cgocopy:\"-\"`")
		return
	}
	of := fmt.Sprintf("%s.%s (%s%s)", s.Says, m.Name, m.Type, afterComma(m.Pos()))
	if other, twice := taken[m.Name]; twice && other != "" {
		bad("takes "+of+", as "+other+" does", "take one of them away, or leave it alone with the tag `cgocopy:\"-\"`")
		return
	}
	taken[m.Name] = f.path
	for _, used := range []string{f.tag.Len, f.tag.On} {
		if _, ok := taken[used]; used != "" && !ok {
			taken[used] = "" // as a count, which a field may take as well
		}
	}
	o := b.options
	o.Tags = b.caseTags(s.Says+"."+m.Name, m.Type, f)
	rule, err := m.Rule(s.Says, completeTag(f.tag, m.Type, f.Type()), o)
	if err != nil {
		for _, r := range err.(plan.Refusals) { //nolint:errorlint // Rule returns that type
			bad(fmt.Sprintf("cannot take %s, which %s", of, r.Reason), r.Remedy)
		}
		return
	}
	if c := m.Type.Strip(); f.tag.Enum && (c == nil || c.Kind != ctype.Enum) {
		bad("takes "+of+", which is no enum", "take the word enum out of its tag")
		return
	}
	w := &typeFitter{binder: b, offset: m.Offset, at: f.Pos()}
	rule, miss := w.fitRule(rule, m.Type, f.Type())
	if miss != nil {
		if miss.reason != "" {
			bad(fmt.Sprintf("cannot hold %s: %s", of, miss.reason), miss.remedy)
		}
		return
	}
	b.at[s.Go+"."+f.path] = f.Pos()
	b.out.Imports = append(b.out.Imports, imports...)
	field := plan.Field{Go: f.path, C: m.Name, Type: m.Type.String(), Pos: m.Pos(), Tag: f.tag, Offset: m.Offset, Nameless: m.Nameless(), Rule: rule}
	field.See(m.Type)
	s.Fields = append(s.Fields, field)
}

// inBrackets returns a position in brackets, afterComma one after a comma; "" if it is unknown.
func inBrackets(pos string) string {
	if pos == "" {
		return ""
	}
	return " (" + pos + ")"
}

func afterComma(pos string) string {
	if pos == "" {
		return ""
	}
	return ", " + pos
}

// isFlat reports whether n has the layout of its C type, takes all of it, and has nothing else:
// skipped members may be where Go has padding, and would be written with it.
func (b *binder) isFlat(s *plan.Struct, n *types.Named) bool {
	if s.Part || b.sizes.Sizeof(n) != s.C.Size {
		return false
	}
	at := map[string]int64{}
	for _, f := range s.Fields {
		if f.Rule.Op != plan.Load || f.Rule.From != "" || !f.Rule.Aligned {
			return false
		}
		at[f.Go] = f.Offset
	}
	return b.sameAs(n.Underlying().(*types.Struct), "", 0, at)
}

// sameAs reports whether all fields of t, which is at base, have the offsets of at.
func (b *binder) sameAs(t *types.Struct, path string, base int64, at map[string]int64) bool {
	vars := slices.Collect(t.Fields())
	for i, offset := range b.sizes.Offsetsof(vars) {
		f := vars[i]
		want, bound := at[path+f.Name()]
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case bound && want == base+offset, f.Name() == "_" && isNumeric(f.Type()):
		case !bound && f.Embedded() && isStruct && b.sameAs(inner, path+f.Name()+".", base+offset, at):
		default:
			return false
		}
	}
	return true
}

// isNumeric reports whether a type is a number, or an array of them.
func isNumeric(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsNumeric != 0
	case *types.Array:
		return isNumeric(u.Elem())
	}
	return false
}
