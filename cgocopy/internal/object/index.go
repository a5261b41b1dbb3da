package object

import (
	"maps"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// buildIndex fills byName and clashes, and merges equal types. A name belongs to a typedef; else to a type
// with this full name, e.g. struct point; else to the type with this tag, point.
func (f *File) buildIndex() {
	f.byName, f.clashes = map[string]*ctype.Type{}, map[string][2]*ctype.Type{}
	put := func(name string, t *ctype.Type) {
		old := f.byName[name]
		switch {
		case name == "":
			// A type without a name cannot be requested.
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
	for _, t := range f.Types {
		if tag := t.Tag(); tag != "" && (names[tag] == nil || isIncomplete(names[tag])) {
			put(tag, t)
		}
	}
	f.mergeTypes()
}

// mergeTypes merges equal types. Each unit that includes a header describes the header's types again. The
// type in byName stays. The others become typedefs of it, because fields already point to them.
func (f *File) mergeTypes() {
	type pair struct{ kept, duplicate *ctype.Type }
	var pairs []pair
	for _, t := range f.Types {
		kept := f.byName[t.Name]
		_, hasClash := f.clashes[t.Name]
		if hasClash || kept == nil || kept == t || isIncomplete(kept) || kept.Kind != t.Kind {
			continue
		}
		if isIncomplete(t) || sameLayout(kept, t) {
			pairs = append(pairs, pair{kept, t})
		}
	}
	for _, p := range pairs {
		kept, duplicate := p.kept.Strip(), p.duplicate.Strip()
		if kept == nil || duplicate == nil || kept == duplicate {
			continue
		}
		switch duplicate.Kind {
		case ctype.Struct, ctype.Union, ctype.Enum:
			*duplicate = ctype.Type{Kind: ctype.Typedef, Elem: kept} // without a name
		}
	}
}

// sameLayout reports whether two types have the same size and the same members.
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
		samePlace := f.Offset == g.Offset && f.BitOffset == g.BitOffset && f.BitSize == g.BitSize
		sameType := f.Type.String() == g.Type.String() && SizeOf(f.Type) == SizeOf(g.Type)
		if f.Name != g.Name || !samePlace || !sameType {
			return false
		}
	}
	return true
}

// isIncomplete reports whether a type is declared but not defined.
func isIncomplete(t *ctype.Type) bool {
	t = t.Strip()
	return t != nil && t.Incomplete
}
