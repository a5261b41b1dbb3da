package emit

import "github.com/tarebench/tare/cgocopy/internal/plan"

// looseFinder finds structs that C may place at an unaligned address.
type looseFinder struct {
	word  int64 // largest alignment in Go, in bytes
	loose map[*plan.Struct]bool
}

// findLoose finds the loose structs of a plan. C may place them at an unaligned address, so Go must not
// load their members in one access. These are structs inside packed structs, and those whose size is no
// multiple of their alignment.
func findLoose(p *plan.Plan) map[*plan.Struct]bool {
	l := looseFinder{word: p.Word, loose: map[*plan.Struct]bool{}}
	if l.word == 0 {
		l.word = 8
	}
	for i := len(p.Structs) - 1; i >= 0; i-- { // each struct after the structs that contain it
		s := p.Structs[i]
		if s.C != nil && s.C.Size%l.alignOf(s) != 0 {
			l.loose[s] = true
		}
		for _, f := range s.Fields {
			l.markInside(f.Rule, f.Offset, l.loose[s])
		}
	}
	return l.loose
}

// markInside marks the loose structs in a value of rule r at an offset. loose is that of the struct around
// it.
func (l looseFinder) markInside(r plan.Rule, offset int64, loose bool) {
	switch {
	case r.Op == plan.Slice, r.Op == plan.Deref: // the target of a pointer is separate
		return
	case r.Struct != nil:
		if loose || offset%l.alignOf(r.Struct) != 0 {
			l.markStruct(r.Struct)
		}
	case r.Elem != nil:
		if r.N > 0 && r.Size/r.N%l.alignOfRule(*r.Elem) != 0 {
			loose = true
		}
		l.markInside(*r.Elem, offset, loose)
	}
	for _, c := range r.Cases {
		l.markInside(c.Rule, offset, loose)
	}
}

func (l looseFinder) markStruct(s *plan.Struct) {
	if l.loose[s] {
		return
	}
	l.loose[s] = true
	for _, f := range s.Fields {
		l.markInside(f.Rule, f.Offset, true)
	}
}

// alignOf returns the largest alignment of the loads of a struct's members, in bytes.
func (l looseFinder) alignOf(s *plan.Struct) int64 {
	var a int64 = 1
	for _, f := range s.Fields {
		a = max(a, l.alignOfRule(f.Rule))
	}
	return a
}

// alignOfRule returns the alignment that the loads of a rule need, in bytes.
func (l looseFinder) alignOfRule(r plan.Rule) int64 {
	switch {
	case r.Op == plan.Text, r.Op == plan.Slice, r.Op == plan.Deref, r.Op == plan.Opaque:
		return max(r.Size, 1)
	case r.Op == plan.Union:
		var a int64 = 1
		for _, c := range r.Cases {
			a = max(a, l.alignOfRule(c.Rule))
		}
		return a
	case r.Struct != nil:
		return l.alignOf(r.Struct)
	case r.Elem != nil:
		return l.alignOfRule(*r.Elem)
	case r.Op == plan.Load:
		return max(1, min(r.Size, l.word))
	}
	return 1
}

// Assumptions for the size of the first chunk of memory for texts. If they are wrong, generated code uses a
// little more memory.
const (
	usualText    = 16      // bytes of a text
	maxTextBytes = 1 << 14 // bytes of a struct, as large as the chunks of cgocopy.Arena
)

func estimateTextBytes(s *plan.Struct) int64 {
	var sum int64
	var visit func(r plan.Rule, times int64)
	visit = func(r plan.Rule, times int64) {
		switch r.Op {
		case plan.Chars:
			sum += times * min(r.N, usualText)
		case plan.Text:
			sum += times * usualText
		case plan.Each:
			visit(*r.Elem, times*r.N)
		case plan.Nested:
			sum += times * estimateTextBytes(r.Struct)
		}
	}
	for _, f := range s.Fields {
		visit(f.Rule, 1)
	}
	return max(1, min(sum, maxTextBytes))
}
