package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// value writes how one value is taken over.
type value struct {
	*file
	name  string // for errors: Struct.member
	left  string // how many pointers may still follow, as source
	loops int    // around it
	loose bool   // the struct may lie anywhere

	circular bool // what it owns can lead to its own kind
}

// at is the address base+offset.
func at(base string, offset int64) string {
	if offset == 0 {
		return base
	}
	return fmt.Sprintf("unsafe.Add(%s, %d)", base, offset)
}

// fail leaves the method.
func (v value) fail(err string) {
	v.line("if err := %s; err != nil {\nreturn cgocopy.In(%q, err)\n}", err, v.name)
}

// take writes statements that fill dst by rule r from base+offset.
func (v value) take(dst string, r plan.Rule, base string, offset int64) {
	p := at(base, offset)
	r.Aligned = r.Aligned && !v.loose
	switch r.Op {
	case plan.Load:
		v.load(dst, r, p)
	case plan.Bool:
		v.line("%s = *(*byte)(%s) != 0", dst, p)
	case plan.Opaque:
		v.load(dst, r, p)
	case plan.Chars:
		v.chars(dst, r, p)
	case plan.Text:
		v.text(dst, r, pointer(r, p))
	case plan.Nested:
		call := fmt.Sprintf("%s.fromC(%s)", dst, v.arguments(r.Struct, p, "a", v.left))
		if r.Struct.Fails {
			v.fail(call)
		} else {
			v.line("%s", call)
		}
	case plan.Each:
		i := index(v.loops)
		v.line("for %s := range %s {", i, dst)
		inner := v
		inner.loops++
		inner.element(fmt.Sprintf("%s[%s]", dst, i), *r.Elem, p, i, r.Size/r.N)
		v.line("}")
	case plan.Slice:
		v.slice(dst, r, pointer(r, p))
	case plan.Tail:
		v.slice(dst, r, p)
	case plan.Bits:
		v.bits(dst, r, p)
	case plan.Union:
		v.union(dst, r, base, offset)
	case plan.Deref:
		v.deref(dst, r, p)
	}
}

// index names the variables of loops in loops.
func index(loops int) string {
	if loops == 0 {
		return "i"
	}
	return fmt.Sprintf("i%d", loops+1)
}

// pointer is the pointer that lies at p.
func pointer(r plan.Rule, p string) string {
	if !r.Aligned {
		return fmt.Sprintf("cgocopy.Pointer(%s)", p)
	}
	return fmt.Sprintf("*(*unsafe.Pointer)(%s)", p)
}

// less is how many pointers may follow behind one that rule r takes.
func (v value) less(r plan.Rule) string { return fmt.Sprintf("min(%s, %d)-1", v.left, r.Depth) }

// text takes what a pointer to text leads to.
func (v value) text(dst string, r plan.Rule, p string) {
	if r.Len == nil {
		v.line("{\ns, err := a.Text(%s, %s, %d)", text(dst, r), p, r.Max)
		v.line("if err != nil {\nreturn cgocopy.In(%q, err)\n}", v.name)
	} else {
		v.line("{\nq := %s", p)
		v.line("n, err := cgocopy.Count(%q, q, %s, %d)\nif err != nil {\nreturn err\n}", v.beside(r.Len.C), v.number(r.Len), r.Max)
		v.line("s := a.Counted(%s, q, n)", text(dst, r))
	}
	v.utf8(dst, r, "s")
	v.line("}")
}

// load is one assignment, or one of bytes where Go may not load it at once.
func (v value) load(dst string, r plan.Rule, p string) {
	switch {
	case r.From != "" && !r.Aligned:
		v.line("{\nvar raw %s\n*(*[%d]byte)(unsafe.Pointer(&raw)) = *(*[%d]byte)(%s)\n%s = %s(raw)\n}", r.From, r.Size, r.Size, p, dst, r.Go)
	case r.From != "":
		v.line("%s = %s(*(*%s)(%s))", dst, r.Go, r.From, p)
	case r.Aligned:
		v.line("%s = *(*%s)(%s)", dst, r.Go, p)
	default:
		v.line("*(*[%d]byte)(unsafe.Pointer(&%s)) = *(*[%d]byte)(%s)", r.Size, dst, r.Size, p)
	}
}

// element is one of an array, stride bytes after the other.
func (v value) element(dst string, r plan.Rule, p, i string, stride int64) {
	q := "q" + strings.Repeat("q", v.loops-1)
	v.line("%s := unsafe.Add(%s, %s*%d)", q, p, i, stride)
	v.take(dst, r, q, 0)
}

// text is what a text is compared with, to be kept where it is the same.
func text(dst string, r plan.Rule) string {
	if r.Go != "string" {
		return fmt.Sprintf("string(%s)", dst)
	}
	return dst
}

func (v value) chars(dst string, r plan.Rule, p string) {
	if r.UTF8 == plan.Keep && r.Go == "string" {
		v.line("%s = a.Chars(%s, %s, %d)", dst, dst, p, r.N)
		return
	}
	v.line("{\ns := a.Chars(%s, %s, %d)", text(dst, r), p, r.N)
	v.utf8(dst, r, "s")
	v.line("}")
}

// utf8 assigns a text, looked at as its tag demands.
func (v value) utf8(dst string, r plan.Rule, s string) {
	switch r.UTF8 {
	case plan.Replace:
		s = fmt.Sprintf("cgocopy.ValidUTF8(%s)", s)
	case plan.Refuse:
		v.fail(fmt.Sprintf("cgocopy.CheckUTF8(%s)", s))
	}
	if r.Go != "string" {
		s = fmt.Sprintf("%s(%s)", r.Go, s)
	}
	v.line("%s = %s", dst, s)
}

// number is the C number of a count or a discriminant.
func (v value) number(c *plan.Count) string {
	sign := "u"
	if c.Signed {
		sign = ""
	}
	if c.Size > 1 && (v.loose || c.Offset%c.Size != 0) {
		return fmt.Sprintf("%sint%d(cgocopy.Bytes(%s, %d))", sign, 8*c.Size, at("p", c.Offset), c.Size)
	}
	return fmt.Sprintf("*(*%sint%d)(%s)", sign, 8*c.Size, at("p", c.Offset))
}

// owner is the struct's name in front of a member's.
func (v value) beside(member string) string {
	owner, _, _ := strings.Cut(v.name, ".")
	return owner + "." + member
}

func (v value) slice(dst string, r plan.Rule, elements string) {
	v.line("{\nq := %s", elements)
	v.line("n, err := cgocopy.Count(%q, q, %s, %d)\nif err != nil {\nreturn err\n}", v.beside(r.Len.C), v.number(r.Len), r.Max)
	if r.Depth > 0 {
		v.line("if n > 0 && %s <= 0 {\nreturn cgocopy.In(%q, cgocopy.ErrDepth)\n}", v.left, v.name)
		v.left = v.less(r)
	}
	v.loose = v.loose && r.Op == plan.Tail
	e := *r.Elem
	if e.Op == plan.Load && e.Aligned && e.From == "" {
		v.line("%s = cgocopy.Values(%s, q, n)\n}", dst, dst)
		return
	}
	v.line("%s = cgocopy.Resize(%s, n)", dst, dst)
	i := index(v.loops)
	v.line("for %s := range %s {", i, dst)
	inner := v
	inner.loops++
	inner.line("e := unsafe.Add(q, %s*%d)", i, e.Size)
	inner.take(fmt.Sprintf("%s[%s]", dst, i), e, "e", 0)
	v.line("}\n}")
}

func (v value) bits(dst string, r plan.Rule, p string) {
	raw := fmt.Sprintf("cgocopy.Bytes(%s, %d)", p, r.Size)
	if r.Bit > 0 {
		raw += fmt.Sprintf(" >> %d", r.Bit)
	}
	switch {
	case r.Go == "bool", r.From == "bool":
		v.line("%s = (%s)&%#x != 0", dst, raw, mask(r.Width))
	case r.Signed:
		v.line("%s = %s(int64((%s)<<%d) >> %d)", dst, r.Go, raw, 64-r.Width, 64-r.Width)
	default:
		v.line("%s = %s((%s) & %#x)", dst, r.Go, raw, mask(r.Width))
	}
}

func mask(width int64) uint64 { return ^uint64(0) >> (64 - width) }

func (v value) union(dst string, r plan.Rule, base string, offset int64) {
	v.line("%s = %s{}", dst, r.Go)
	v.line("switch k := int64(%s); k {", v.number(r.On))
	for _, c := range members(r) {
		v.line("case %s:", c.values(", "))
		v.take(dst+"."+c.Field, c.Rule, base, offset)
	}
	v.line("default:\nreturn &cgocopy.UnionError{Field: %q, N: k}\n}", v.beside(r.On.C))
}

func (v value) deref(dst string, r plan.Rule, p string) {
	v.line("if q := %s; q == nil {\n%s = nil\n} else {", pointer(r, p), dst)
	v.line("if %s <= 0 {\nreturn cgocopy.In(%q, cgocopy.ErrDepth)\n}", v.left, v.name)
	v.line("if %s == nil {\n%s = new(%s)\n}", dst, dst, r.Struct.Go)
	switch {
	case r.Struct.Flat:
		v.line("*%s = *(*%s)(q)", dst, r.Struct.Go)
	case r.Struct.Fails:
		v.fail(fmt.Sprintf("%s.fromC(%s)", dst, v.arguments(r.Struct, "q", "a", v.less(r))))
	default:
		v.line("%s.fromC(%s)", dst, v.arguments(r.Struct, "q", "a", v.less(r)))
	}
	v.line("}")
}
