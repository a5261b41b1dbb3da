package object

import (
	"debug/dwarf"
	"fmt"
	"math"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// circular reports whether a type is made of nothing but itself, by way of
// names, pointers and arrays. A struct or a function ends the way.
func circular(t *ctype.Type) bool {
	slow := t
	for x, n := t, 0; x != nil; n++ {
		switch x.Kind {
		case ctype.Typedef, ctype.Pointer, ctype.Array, ctype.Enum, ctype.Other:
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

// settle works out what can only be known when all types have been read: the
// sizes of arrays and the alignment of structs. It fails where a type holds
// itself.
func (r *reader) settle() error {
	s := settler{state: map[*ctype.Type]int{}}
	for _, t := range r.arrays {
		if err := s.settle(t, 0); err != nil {
			return err
		}
	}
	for _, t := range r.compounds {
		if err := s.settle(t, 0); err != nil {
			return err
		}
	}
	return nil
}

// settler remembers which types are done.
type settler struct {
	state map[*ctype.Type]int
}

const (
	busy = 1
	done = 2
)

func (s settler) settle(t *ctype.Type, deep int) error {
	t = t.Strip()
	if t == nil || t.Kind != ctype.Array && t.Kind != ctype.Struct && t.Kind != ctype.Union {
		return nil
	}
	switch {
	case s.state[t] == done:
		return nil
	case s.state[t] == busy, deep > deepest:
		return fmt.Errorf("read DWARF: %s holds itself", t)
	}
	s.state[t] = busy
	if t.Kind == ctype.Array {
		if err := s.settle(t.Elem, deep+1); err != nil {
			return err
		}
		size := SizeOf(t.Elem)
		if t.Count < ctype.Flexible || size < 0 || t.Count > 0 && size > math.MaxInt64/t.Count {
			return fmt.Errorf("read DWARF: an array of %d times %d bytes", t.Count, size)
		}
		t.Size = max(t.Count, 0) * size
	}
	align := int64(0)
	for _, f := range t.Fields {
		if err := s.settle(f.Type, deep+1); err != nil {
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

// function fills in parameters and result.
func (r *reader) function(t *ctype.Type, e *dwarf.Entry, list *entries) (err error) {
	t.Kind = ctype.Func
	if t.Elem, err = r.elem(e); err != nil {
		return err
	}
	prototyped, _ := e.Val(dwarf.AttrPrototyped).(bool)
	t.Variadic = !prototyped && t.Language == ctype.C
	return children(e, list, func(kid *dwarf.Entry) error {
		switch kid.Tag {
		case dwarf.TagFormalParameter:
			p, err := r.elem(kid)
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
