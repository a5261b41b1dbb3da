package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// View is for unions whose members are read alike, such as uint64 and uint32[2]. Their bits are the same,
// in numbers of the same sort, so the first member can always be read. View returns this member, and its
// path in C from the union. It returns false for all other types.
func View(t *ctype.Type) (path string, m ctype.Field, ok bool) {
	s := t.Strip()
	if s == nil || s.Kind != ctype.Union || !sameRuns(s) {
		return "", ctype.Field{}, false
	}
	m = s.Fields[0]
	path = m.Name
	innerPath, inner, ok := View(m.Type)
	switch {
	case !ok:
		return path, m, true
	case path == "" || innerPath == "":
		return path + innerPath, inner, true
	}
	return path + "." + innerPath, inner, true
}

// isViewed reports whether t is a union whose members are read alike.
func isViewed(t *ctype.Type) bool {
	_, _, ok := View(t)
	return ok
}

// sameRuns reports whether all members of a union have the same runs, and so are read alike.
func sameRuns(union *ctype.Type) bool {
	if len(union.Fields) == 0 || union.Incomplete {
		return false
	}
	first := union.Fields[0]
	var want []run
	for i, m := range union.Fields[1:] {
		if m.BitSize == 0 && first.BitSize == 0 && m.Type.Strip() == first.Type.Strip() {
			continue // of the same type as the first
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

// run is one number in memory. Adjacent unsigned numbers, or adjacent characters, are one run: uint64 and
// uint32[2] have the same bits.
type run struct {
	from, bits int64  // first bit from the start of the union, and number of bits
	sort       string // runs of the same sort can be read as each other
}

// maxRuns is the largest number of runs of a member that is compared.
const maxRuns = 4096

// runsOf returns the runs of a member in memory order. It returns false for other values than numbers and
// pointers, and for too many runs.
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

// Sorts of runs that merge with adjacent runs of the same sort.
const (
	unsigned  = "unsigned"
	character = "char"
)

// addRuns adds the numbers of member m to list. from is the first bit of what m is in. It returns false as
// runsOf does.
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
	addRun := func(sort string) bool {
		*list = append(*list, run{from, bits, sort})
		return bits > 0
	}
	switch t.Kind {
	case ctype.Uint:
		return addRun(unsigned)
	case ctype.Char:
		return addRun(character)
	case ctype.Bool:
		if m.BitSize > 0 {
			return addRun(unsigned)
		}
		return addRun("bool")
	case ctype.Int, ctype.Float:
		return addRun(fmt.Sprint(t.Kind))
	case ctype.Pointer:
		return addRun("to " + t.Elem.String())
	case ctype.Array:
		elem := t.Elem.Strip()
		if t.Count <= 0 || elem == nil {
			return false
		}
		if elem.Kind == ctype.Uint || elem.Kind == ctype.Char { // all elements are one run
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
