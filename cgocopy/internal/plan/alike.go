package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// View returns the member of a union that represents all of them, because they are read alike:
// whichever C has written, this one has all of its bits, as numbers of the same sort. path is its
// path in C from the union, or "" if it has no name. It returns false for all other types.
func View(t *ctype.Type) (path string, m ctype.Field, ok bool) {
	s := t.Strip()
	if s == nil || s.Kind != ctype.Union || !sameRuns(s) {
		return "", ctype.Field{}, false
	}
	m = s.Fields[0]
	path = m.Name
	rest, inner, ok := View(m.Type)
	switch {
	case !ok:
		return path, m, true
	case path == "" || rest == "":
		return path + rest, inner, true
	}
	return path + "." + rest, inner, true
}

// isViewed reports whether the members of an anonymous union join the struct around it as if there
// were only the first one.
func isViewed(t *ctype.Type) bool {
	_, _, ok := View(t)
	return ok
}

// sameRuns reports whether the members of a union are read alike.
func sameRuns(union *ctype.Type) bool {
	if len(union.Fields) == 0 || union.Incomplete {
		return false
	}
	first := union.Fields[0]
	var want []run
	for i, m := range union.Fields[1:] {
		if m.BitSize == 0 && first.BitSize == 0 && m.Type.Strip() == first.Type.Strip() {
			continue
		}
		if want == nil {
			var ok bool
			if want, ok = runsOf(first); !ok {
				return false
			}
		}
		if got, ok := runsOf(union.Fields[i+1]); !ok || !slices.Equal(got, want) {
			return false
		}
	}
	return true
}

// run is a number, or several unsigned ones or characters side by side: among those the boundaries
// make no difference.
type run struct {
	from, bits int64
	sort       string
}

// maxRuns limits how much of a large array is looked at.
const maxRuns = 4096

// runsOf returns the numbers that a member consists of, in memory order. It returns false if
// something in it is no number and no pointer.
func runsOf(m ctype.Field) ([]run, bool) {
	var list []run
	if !addRuns(&list, m, 0) {
		return nil, false
	}
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	merged := list[:0]
	for _, r := range list {
		if n := len(merged); n > 0 {
			last := &merged[n-1]
			if last.sort == r.sort && (r.sort == unsigned || r.sort == character) && last.from+last.bits == r.from {
				last.bits += r.bits
				continue
			}
		}
		merged = append(merged, r)
	}
	return merged, true
}

// Sorts of numbers that merge.
const (
	unsigned  = "unsigned"
	character = "char"
)

func addRuns(list *[]run, m ctype.Field, from int64) bool {
	from += 8*m.Offset + m.BitOffset
	t := m.Type.Strip()
	if t != nil && t.Kind == ctype.Enum {
		t = t.Elem.Strip()
	}
	if t == nil || len(*list) >= maxRuns {
		return false
	}
	bits := 8 * t.Size
	if m.BitSize > 0 {
		bits = m.BitSize
	}
	number := func(sort string) bool {
		*list = append(*list, run{from, bits, sort})
		return bits > 0
	}
	switch t.Kind {
	case ctype.Uint:
		return number(unsigned)
	case ctype.Char:
		return number(character)
	case ctype.Bool:
		if m.BitSize > 0 {
			return number(unsigned)
		}
		return number("bool")
	case ctype.Int, ctype.Float:
		return number(fmt.Sprint(t.Kind))
	case ctype.Pointer:
		return number("to " + t.Elem.String())
	case ctype.Array:
		elem := t.Elem.Strip()
		if t.Count <= 0 || elem == nil {
			return false
		}
		if elem.Kind == ctype.Uint || elem.Kind == ctype.Char {
			return addRuns(list, ctype.Field{Type: &ctype.Type{Kind: elem.Kind, Size: t.Size}}, from)
		}
		for i := range t.Count {
			if !addRuns(list, ctype.Field{Type: t.Elem, Offset: i * (t.Size / t.Count)}, from) {
				return false
			}
		}
		return true
	case ctype.Struct:
		if t.Incomplete || t.Why != "" {
			return false
		}
		for _, inner := range t.Fields {
			if !addRuns(list, inner, from) {
				return false
			}
		}
		return true
	case ctype.Union:
		return sameRuns(t) && addRuns(list, t.Fields[0], from)
	}
	return false
}
