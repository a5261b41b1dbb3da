package bind

import (
	"fmt"
	"go/types"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// fitNumber fits a number of C type s to the Go type g, written as text. The number is loaded unchanged and
// then converted. It is a misfit if values could be lost: g must not be narrower, and both must agree on
// sign and fractions.
func (w *typeFitter) fitNumber(r plan.Rule, s *ctype.Type, g types.Type, text string) (plan.Rule, *misfit) {
	b, ok := g.Underlying().(*types.Basic)
	size := int64(0)
	if ok && b.Info()&types.IsNumeric != 0 {
		size = w.sizes.Sizeof(g)
	}
	raw := rawOf(s)
	if s.Kind == ctype.Enum {
		r.Go = raw
	}
	better := "make it " + raw + ", or wider"
	switch {
	case size == 0 || b.Info()&types.IsComplex != 0: // g is no real number
		return newMisfit(better, "that is a number")
	case (s.Kind == ctype.Float) != (b.Info()&types.IsFloat != 0):
		return newMisfit(better, "one is an integer, the other has fractions")
	case size < s.Size:
		return newMisfit(better, "that has %d bits, %s has %d", 8*s.Size, text, 8*size)
	case s.Kind == ctype.Char && size > 1:
		return newMisfit("make it byte or int8", "whether char has a sign differs by processor, so it is not made wider")
	}
	unsigned := b.Info()&types.IsUnsigned != 0
	isSignedEnum := s.Kind == ctype.Enum && s.Elem.Strip() != nil && s.Elem.Strip().Kind == ctype.Int
	signed := s.Kind == ctype.Int || isSignedEnum
	signsDiffer := signed == unsigned
	hasKnownSign := s.Kind != ctype.Float && s.Kind != ctype.Char
	if hasKnownSign && signsDiffer && !keepsValues(s, size, unsigned) {
		if signed {
			return newMisfit(better, "that can be below zero, %s cannot", text)
		}
		if size == s.Size {
			return newMisfit("make it "+raw+", or wider", "that can be above the largest %s", text)
		}
	}
	// On a processor with words of 4 bytes, int and uint could lose values.
	if isWordSized(b.Kind()) && size == 8 && (s.Size == 8 || signsDiffer && !keepsValues(s, 4, unsigned)) {
		w.out.Wide = true
	}
	r.Go, r.From = text, ""
	switch {
	case size != s.Size:
		r.From = raw
	case s.Kind != ctype.Float && unsigned:
		r.Num = fmt.Sprintf("uint%d", 8*size)
	case s.Kind != ctype.Float:
		r.Num = fmt.Sprintf("int%d", 8*size)
	}
	return r, nil
}

// rawOf returns the Go number type with the layout of C type s, a number or an enum.
func rawOf(s *ctype.Type) string {
	if s.Kind == ctype.Enum && s.Elem.Strip() != nil {
		return rawOf(&ctype.Type{Kind: s.Elem.Strip().Kind, Size: s.Size})
	}
	switch s.Kind {
	case ctype.Int:
		return fmt.Sprintf("int%d", 8*s.Size)
	case ctype.Float:
		return fmt.Sprintf("float%d", 8*s.Size)
	case ctype.Char:
		return "byte"
	}
	return fmt.Sprintf("uint%d", 8*s.Size)
}

// isWordSized reports whether the size of a type depends on the processor.
func isWordSized(k types.BasicKind) bool {
	return k == types.Int || k == types.Uint || k == types.Uintptr
}

// keepsValues reports whether a Go integer of size bytes can store all values that enum s declares. It is
// false for other types, and for an enum without values.
func keepsValues(s *ctype.Type, size int64, unsigned bool) bool {
	if s.Kind != ctype.Enum || len(s.Enumerators) == 0 {
		return false
	}
	for _, v := range s.Enumerators {
		isBelow := unsigned && v.Value < 0
		isAbove := !unsigned && size < 8 && v.Value > 1<<(8*size-1)-1
		if isBelow || isAbove {
			return false
		}
	}
	return true
}

// fitBits fits a bit-field to an integer type that can store all of its values. A single unsigned bit also
// fits a bool.
func (w *typeFitter) fitBits(r plan.Rule, g types.Type, text string) (plan.Rule, *misfit) {
	b, ok := g.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsInteger|types.IsBoolean) == 0 {
		return newMisfit("make it "+r.Go, "that is %d bits", r.Width)
	}
	better := "make it " + r.Go
	if b.Kind() == types.Bool {
		if r.Width > 1 || r.Signed {
			return newMisfit(better, "that is a number of %d bits", r.Width)
		}
		r.Go, r.From = "bool", ""
		if text != "bool" {
			r.Go, r.From = text, "bool"
		}
		return r, nil
	}
	if r.Go == "bool" {
		return newMisfit(better, "that is a bool")
	}
	width := 8 * w.sizes.Sizeof(g) // bits of g for values that are not negative
	unsigned := b.Info()&types.IsUnsigned != 0
	switch {
	case r.Signed && unsigned:
		return newMisfit(better, "that can be below zero, %s cannot", text)
	case !r.Signed && !unsigned:
		width-- // the sign bit
	}
	if width < r.Width {
		return newMisfit(better, "that has %d bits, %s has room for %d", r.Width, text, width)
	}
	if isWordSized(b.Kind()) && r.Width > 31 {
		w.out.Wide = true
	}
	r.Go = text
	return r, nil
}
