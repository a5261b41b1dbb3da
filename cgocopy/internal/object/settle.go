package object

import (
	"debug/dwarf"
	"fmt"
	"math"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// sizeResolver computes the sizes of arrays and the alignments of structs and unions, each once.
type sizeResolver struct {
	state map[*ctype.Type]int // busy or done; 0 means not visited
}

// resolveSizes computes sizes and alignments after all types have been read. It fails if a type contains
// itself.
func (r *reader) resolveSizes() error {
	s := sizeResolver{state: map[*ctype.Type]int{}}
	for _, t := range r.arrays {
		if err := s.resolve(t, 0); err != nil {
			return err
		}
	}
	for _, t := range r.compounds {
		if err := s.resolve(t, 0); err != nil {
			return err
		}
	}
	return nil
}

const (
	busy = 1 // the types in the type are being resolved
	done = 2
)

// resolve computes the size or the alignment of t after those of the types in it. depth is the number of
// types around t.
func (s sizeResolver) resolve(t *ctype.Type, depth int) error {
	t = t.Strip()
	if t == nil || t.Kind != ctype.Array && t.Kind != ctype.Struct && t.Kind != ctype.Union {
		return nil
	}
	switch {
	case s.state[t] == done:
		return nil
	case s.state[t] == busy, depth > maxDepth:
		return fmt.Errorf("read DWARF: %s holds itself", t)
	}
	s.state[t] = busy
	if t.Kind == ctype.Array {
		if err := s.resolve(t.Elem, depth+1); err != nil {
			return err
		}
		size := SizeOf(t.Elem)
		overflows := t.Count > 0 && size > math.MaxInt64/t.Count
		if t.Count < ctype.Flexible || size < 0 || overflows {
			return fmt.Errorf("read DWARF: an array of %d times %d bytes", t.Count, size)
		}
		t.Size = max(t.Count, 0) * size
	}
	align := int64(0)
	for _, f := range t.Fields {
		if err := s.resolve(f.Type, depth+1); err != nil {
			return err
		}
		align = max(align, AlignOf(f.Type))
	}
	if t.Align == 0 {
		t.Align = align
	}
	s.state[t] = done
	return nil
}

// fillFunc completes the function type t: its parameters and its result.
func (r *reader) fillFunc(t *ctype.Type, e *dwarf.Entry, list *entries) (err error) {
	t.Kind = ctype.Func
	if t.Elem, err = r.elemType(e); err != nil {
		return err
	}
	prototyped, _ := e.Val(dwarf.AttrPrototyped).(bool)
	t.Variadic = !prototyped && t.Language == ctype.C
	return visitChildren(e, list, func(kid *dwarf.Entry) error {
		switch kid.Tag {
		case dwarf.TagFormalParameter:
			p, err := r.elemType(kid)
			if err != nil {
				return err
			}
			t.Params = append(t.Params, p)
		case dwarf.TagUnspecifiedParameters:
			t.Variadic = true
		}
		return nil
	})
}

// isCircular reports whether typedefs, pointers and arrays form a cycle without a struct or function. Only
// a damaged file has one. slow follows the chain at half the speed of x, so they meet in a cycle (Robert
// Floyd's algorithm).
func isCircular(t *ctype.Type) bool {
	slow := t
	for x, n := t, 0; x != nil; n++ {
		switch x.Kind {
		case ctype.Typedef, ctype.Pointer, ctype.Array, ctype.Enum, ctype.Other:
			// The chain continues.
		default:
			return false
		}
		x = x.Elem
		if n%2 == 1 {
			slow = slow.Elem
		}
		if x != nil && x == slow {
			return true
		}
	}
	return false
}
