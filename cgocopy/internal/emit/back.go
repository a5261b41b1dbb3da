package emit

import (
	"fmt"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// writable reports whether values of a struct can be written into C memory:
// nothing in it points anywhere.
func writable(s *plan.Struct) bool {
	for _, m := range s.Fields {
		if !canWrite(m.Rule) {
			return false
		}
	}
	return true
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
		return writable(r.Struct)
	case plan.Each:
		return canWrite(*r.Elem)
	}
	return false
}

// back writes ToC where that can be done.
func (f *file) back(s *plan.Struct) {
	if !writable(s) {
		return
	}
	f.line("// ToC writes d to the %s at p. It fails, and may have written a part, where", s.Says)
	f.line("// a text has no room, its NUL included.")
	f.line("func (d *%s) ToC(p unsafe.Pointer) error {", s.Go)
	f.line("if p == nil {\nreturn cgocopy.ErrNilPointer\n}")
	if s.Flat && f.loose[s] {
		f.line("*(*[Sizeof%s]byte)(p) = *(*[Sizeof%s]byte)(unsafe.Pointer(d))\nreturn nil\n}\n", s.Go, s.Go)
		return
	}
	if s.Flat {
		f.line("*(*%s)(p) = *d\nreturn nil\n}\n", s.Go)
		return
	}
	for _, m := range s.Fields {
		v := value{file: f, name: s.Go + "." + m.C, loose: f.loose[s]}
		v.give("d."+m.Go, m.Rule, at("p", m.Offset))
	}
	f.line("return nil\n}\n")
}

// give writes src to p.
func (v value) give(src string, r plan.Rule, p string) {
	switch r.Op {
	case plan.Load:
		if r.Aligned && !v.loose {
			v.line("*(*%s)(%s) = %s", r.Go, p, src)
		} else {
			v.line("*(*[%d]byte)(%s) = *(*[%d]byte)(unsafe.Pointer(&%s))", r.Size, p, r.Size, src)
		}
	case plan.Bool:
		v.line("cgocopy.PutBits(%s, 0, 8, cgocopy.Bit(%s))", p, truth(src, r))
	case plan.Bits:
		number := fmt.Sprintf("uint64(%s)", src)
		if r.Go == "bool" || r.From == "bool" {
			number = fmt.Sprintf("cgocopy.Bit(%s)", truth(src, r))
		}
		v.line("cgocopy.PutBits(%s, %d, %d, %s)", p, r.Bit, r.Width, number)
	case plan.Chars:
		v.fail(fmt.Sprintf("cgocopy.PutChars(%s, %d, %s)", p, r.N, src))
	case plan.Nested:
		v.fail(fmt.Sprintf("%s.ToC(%s)", src, p))
	case plan.Each:
		i := index(v.loops)
		v.line("for %s := range %s {", i, src)
		inner := v
		inner.loops++
		inner.give(fmt.Sprintf("%s[%s]", src, i), *r.Elem, fmt.Sprintf("unsafe.Add(%s, %s*%d)", p, i, r.Size/r.N))
		v.line("}")
	}
}

// truth is a value as a bool, which a type of the user's own may be named.
func truth(src string, r plan.Rule) string {
	if r.From == "bool" {
		return "bool(" + src + ")"
	}
	return src
}
