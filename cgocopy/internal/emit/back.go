package emit

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// canWriteBack reports whether a struct can have a method ToC, which writes a Go value to C memory. Members
// with pointers cannot be written.
func canWriteBack(s *plan.Struct) bool {
	return !slices.ContainsFunc(s.Fields, func(m plan.Field) bool { return !canWrite(m.Rule) })
}

func canWrite(r plan.Rule) bool {
	switch r.Op {
	case plan.Load:
		return r.From == ""
	case plan.Bool, plan.Bits:
		return true
	case plan.Chars:
		return r.Go == "string"
	case plan.Nested:
		return canWriteBack(r.Struct)
	case plan.Each:
		return canWrite(*r.Elem)
	}
	return false
}

func (f *file) writeToC(s *plan.Struct) {
	if !canWriteBack(s) {
		return
	}
	f.writeLine("// ToC writes d to the %s at p. It fails, and may have written a part, where", s.CName)
	f.writeLine("// a text has no room, its NUL included.")
	f.writeLine("func (d *%s) ToC(p unsafe.Pointer) error {", s.Go)
	f.writeLine("if p == nil {\nreturn cgocopy.ErrNilPointer\n}")
	if s.Flat && f.loose[s] {
		f.writeLine("*(*[Sizeof%s]byte)(p) = *(*[Sizeof%s]byte)(unsafe.Pointer(d))\nreturn nil\n}\n", s.Go, s.Go)
		return
	}
	if s.Flat {
		f.writeLine("*(*%s)(p) = *d\nreturn nil\n}\n", s.Go)
		return
	}
	for _, m := range s.Fields {
		v := value{file: f, name: s.Go + "." + m.C, loose: f.loose[s]}
		v.emitStore("d."+m.Go, m.Rule, addressExpr("p", m.Offset))
	}
	f.writeLine("return nil\n}\n")
}

// emitStore emits statements that write src to p.
func (v value) emitStore(src string, r plan.Rule, p string) {
	switch r.Op {
	case plan.Load:
		if r.Aligned && !v.loose {
			v.writeLine("*(*%s)(%s) = %s", r.Go, p, src)
		} else {
			v.writeLine("*(*[%d]byte)(%s) = *(*[%d]byte)(unsafe.Pointer(&%s))", r.Size, p, r.Size, src)
		}
	case plan.Bool:
		v.writeLine("cgocopy.PutBits(%s, 0, 8, cgocopy.Bit(%s))", p, boolExpr(src, r))
	case plan.Bits:
		number := fmt.Sprintf("uint64(%s)", src)
		if r.Go == "bool" || r.From == "bool" {
			number = fmt.Sprintf("cgocopy.Bit(%s)", boolExpr(src, r))
		}
		v.writeLine("cgocopy.PutBits(%s, %d, %d, %s)", p, r.Bit, r.Width, number)
	case plan.Chars:
		v.emitCheck(fmt.Sprintf("cgocopy.PutChars(%s, %d, %s)", p, r.N, src))
	case plan.Nested:
		v.emitCheck(fmt.Sprintf("%s.ToC(%s)", src, p))
	case plan.Each:
		i := indexName(v.loops)
		v.writeLine("for %s := range %s {", i, src)
		inner := v
		inner.loops++
		inner.emitStore(fmt.Sprintf("%s[%s]", src, i), *r.Elem, fmt.Sprintf("unsafe.Add(%s, %s*%d)", p, i, r.Size/r.N))
		v.writeLine("}")
	}
}

// boolExpr returns an expression of type bool for src, which may have a named type of the user.
func boolExpr(src string, r plan.Rule) string {
	if r.From == "bool" {
		return "bool(" + src + ")"
	}
	return src
}
