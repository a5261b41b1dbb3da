package object

import (
	"maps"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// buildIndex fills byName.
func (f *File) buildIndex() {
	f.byName, f.clashes = map[string]*ctype.Type{}, map[string][2]*ctype.Type{}
	put := func(name string, t *ctype.Type) {
		old := f.byName[name]
		switch {
		case name == "":
		case old == nil, isIncomplete(old) && !isIncomplete(t):
			f.byName[name] = t
		case !isIncomplete(t) && !sameLayout(old, t):
			f.clashes[name] = [2]*ctype.Type{old, t}
		}
	}
	for _, t := range f.Types {
		if t.Kind == ctype.Typedef {
			put(t.Name, t)
		}
	}
	names := maps.Clone(f.byName)
	for _, t := range f.Types {
		if t.Kind != ctype.Typedef && names[t.Name] == nil {
			put(t.Name, t)
		}
	}
	names = maps.Clone(f.byName)
	for _, t := range f.Types { // bare tags, if nothing else has the name
		if tag := t.Tag(); tag != "" && (names[tag] == nil || isIncomplete(names[tag])) {
			put(tag, t)
		}
	}
	f.mergeTypes()
}

// mergeTypes merges the types that units describe separately, as they do with types of a header
// that all of them include.
func (f *File) mergeTypes() {
	type pair struct{ one, same *ctype.Type }
	var pairs []pair
	for _, t := range f.Types {
		c := f.byName[t.Name]
		if _, twice := f.clashes[t.Name]; twice || c == nil || c == t || isIncomplete(c) || c.Kind != t.Kind {
			continue
		}
		if isIncomplete(t) || sameLayout(c, t) {
			pairs = append(pairs, pair{c, t})
		}
	}
	for _, p := range pairs {
		one, same := p.one.Strip(), p.same.Strip()
		if one == nil || same == nil || one == same {
			continue
		}
		switch same.Kind {
		case ctype.Struct, ctype.Union, ctype.Enum:
			*same = ctype.Type{Kind: ctype.Typedef, Elem: one} // without a name, it only represents one
		}
	}
}

// sameLayout reports whether two types have the same members at the same places.
func sameLayout(a, b *ctype.Type) bool {
	a, b = a.Strip(), b.Strip()
	if a == nil || b == nil || a == b {
		return a == b
	}
	if a.Kind != b.Kind || a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		if f.Name != g.Name || f.Offset != g.Offset || f.BitOffset != g.BitOffset || f.BitSize != g.BitSize || f.Type.String() != g.Type.String() || SizeOf(f.Type) != SizeOf(g.Type) {
			return false
		}
	}
	return true
}

// isIncomplete reports whether the definition of a name is unknown.
func isIncomplete(t *ctype.Type) bool {
	t = t.Strip()
	return t != nil && t.Incomplete
}
