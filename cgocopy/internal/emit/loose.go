package emit

import (
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// findLoose finds the structs that may be at unaligned addresses: those in packed ones, and those
// whose size is no multiple of their alignment. C aligns all others.
func findLoose(p *plan.Plan) map[*plan.Struct]bool {
	l := looseness{word: p.Word, loose: map[*plan.Struct]bool{}}
	if l.word == 0 {
		l.word = 8
	}
	for i := len(p.Structs) - 1; i >= 0; i-- { // each after its users
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

type looseness struct {
	word  int64
	loose map[*plan.Struct]bool
}

// markInside checks a value at offset.
func (l looseness) markInside(r plan.Rule, offset int64, loose bool) {
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

// markStruct marks a struct and those in it.
func (l looseness) markStruct(s *plan.Struct) {
	if l.loose[s] {
		return
	}
	l.loose[s] = true
	for _, f := range s.Fields {
		l.markInside(f.Rule, f.Offset, true)
	}
}

func (l looseness) alignOf(s *plan.Struct) int64 {
	var a int64 = 1
	for _, f := range s.Fields {
		a = max(a, l.alignOfRule(f.Rule))
	}
	return a
}

// alignOfRule returns the alignment of a rule's loads.
func (l looseness) alignOfRule(r plan.Rule) int64 {
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

// estimateTextBytes returns about how many bytes of text a struct has.
func estimateTextBytes(s *plan.Struct) int64 {
	var sum int64
	var look func(r plan.Rule, times int64)
	look = func(r plan.Rule, times int64) {
		switch r.Op {
		case plan.Chars:
			sum += times * min(r.N, 16)
		case plan.Text:
			sum += times * 16
		case plan.Each:
			look(*r.Elem, times*r.N)
		case plan.Nested:
			sum += times * estimateTextBytes(r.Struct)
		}
	}
	for _, f := range s.Fields {
		look(f.Rule, 1)
	}
	return max(1, min(sum, 1<<14))
}
