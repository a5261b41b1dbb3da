package emit

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// value writes the Go statements that copy one value from C memory. A plain load writes, for example: d.Age
// = *(*int32)(unsafe.Add(p, 8)). In its emit methods, dst is the Go expression to assign to. p is the Go
// expression of the address in C memory.
type value struct {
	*file
	name      string // for errors: STRUCT.MEMBER
	remaining string // Go expression for the number of pointers that may still follow
	loops     int    // loops around the statements
	loose     bool   // the struct may be at an unaligned address, see [findLoose]

	circular bool // emitRelease: the pointers of the struct can form a cycle
}

func addressExpr(base string, offset int64) string {
	if offset == 0 {
		return base
	}
	return fmt.Sprintf("unsafe.Add(%s, %d)", base, offset)
}

// emitCheck emits a return of the expression err if it is not nil.
func (v value) emitCheck(err string) {
	v.writeLine("if err := %s; err != nil {\nreturn cgocopy.In(%q, err)\n}", err, v.name)
}

// emitLoad emits statements that fill dst from base+offset.
func (v value) emitLoad(dst string, r plan.Rule, base string, offset int64) {
	p := addressExpr(base, offset)
	r.Aligned = r.Aligned && !v.loose
	switch r.Op {
	case plan.Load:
		v.emitPlainLoad(dst, r, p)
	case plan.Bool:
		v.writeLine("%s = *(*byte)(%s) != 0", dst, p)
	case plan.Opaque:
		v.emitPlainLoad(dst, r, p)
	case plan.Chars:
		v.emitChars(dst, r, p)
	case plan.Text:
		v.emitText(dst, r, pointerExpr(r, p))
	case plan.Nested:
		call := fmt.Sprintf("%s.fromC(%s)", dst, v.fromCArgs(r.Struct, p, "a", v.remaining))
		if r.Struct.Fails {
			v.emitCheck(call)
		} else {
			v.writeLine("%s", call)
		}
	case plan.Each:
		i := indexName(v.loops)
		v.writeLine("for %s := range %s {", i, dst)
		inner := v
		inner.loops++
		inner.emitElement(fmt.Sprintf("%s[%s]", dst, i), *r.Elem, p, i, r.Size/r.N)
		v.writeLine("}")
	case plan.Slice:
		v.emitSlice(dst, r, pointerExpr(r, p))
	case plan.Tail:
		v.emitSlice(dst, r, p)
	case plan.Bits:
		v.emitBits(dst, r, p)
	case plan.Union:
		v.emitUnion(dst, r, base, offset)
	case plan.Deref:
		v.emitDeref(dst, r, p)
	}
}

// indexName returns the name of the index variable of a loop that has loops around it.
func indexName(loops int) string {
	if loops == 0 {
		return "i"
	}
	return fmt.Sprintf("i%d", loops+1)
}

func pointerExpr(r plan.Rule, p string) string {
	if !r.Aligned {
		return fmt.Sprintf("cgocopy.Pointer(%s)", p)
	}
	return fmt.Sprintf("*(*unsafe.Pointer)(%s)", p)
}

// depthExpr returns the Go expression for the number of pointers that may follow after a pointer of rule r.
func (v value) depthExpr(r plan.Rule) string {
	return fmt.Sprintf("min(%s, %d)-1", v.remaining, r.Depth)
}

// emitText emits the copy of the text at p.
func (v value) emitText(dst string, r plan.Rule, p string) {
	if r.Len == nil {
		v.writeLine("{\ns, err := a.Text(%s, %s, %d)", oldText(dst, r), p, r.Max)
		v.writeLine("if err != nil {\nreturn cgocopy.In(%q, err)\n}", v.name)
	} else {
		v.writeLine("{\nq := %s", p)
		v.writeLine("n, err := cgocopy.Count(%q, q, %s, %d)\nif err != nil {\nreturn err\n}", v.siblingName(r.Len.C), v.countExpr(r.Len), r.Max)
		v.writeLine("s := a.Counted(%s, q, n)", oldText(dst, r))
	}
	v.emitUTF8(dst, r, "s")
	v.writeLine("}")
}

// emitPlainLoad emits an assignment, of bytes if the value may be unaligned.
func (v value) emitPlainLoad(dst string, r plan.Rule, p string) {
	switch {
	case r.From != "" && !r.Aligned:
		v.writeLine("{\nvar raw %s\n*(*[%d]byte)(unsafe.Pointer(&raw)) = *(*[%d]byte)(%s)\n%s = %s(raw)\n}", r.From, r.Size, r.Size, p, dst, r.Go)
	case r.From != "":
		v.writeLine("%s = %s(*(*%s)(%s))", dst, r.Go, r.From, p)
	case r.Aligned:
		v.writeLine("%s = *(*%s)(%s)", dst, r.Go, p)
	default:
		v.writeLine("*(*[%d]byte)(unsafe.Pointer(&%s)) = *(*[%d]byte)(%s)", r.Size, dst, r.Size, p)
	}
}

// emitElement emits the copy of element i of the array at p. Elements have a distance of stride bytes.
func (v value) emitElement(dst string, r plan.Rule, p, i string, stride int64) {
	q := strings.Repeat("q", v.loops) // its own name in each nested loop
	v.writeLine("%s := unsafe.Add(%s, %s*%d)", q, p, i, stride)
	v.emitLoad(dst, r, q, 0)
}

// oldText returns the Go expression of the existing text in dst, which stays if the new text is equal.
func oldText(dst string, r plan.Rule) string {
	if r.Go != "string" {
		return fmt.Sprintf("string(%s)", dst)
	}
	return dst
}

func (v value) emitChars(dst string, r plan.Rule, p string) {
	if r.UTF8 == plan.Keep && r.Go == "string" {
		v.writeLine("%s = a.Chars(%s, %s, %d)", dst, dst, p, r.N)
		return
	}
	v.writeLine("{\ns := a.Chars(%s, %s, %d)", oldText(dst, r), p, r.N)
	v.emitUTF8(dst, r, "s")
	v.writeLine("}")
}

// emitUTF8 emits the assignment of the text s to dst, with the treatment of invalid UTF-8.
func (v value) emitUTF8(dst string, r plan.Rule, s string) {
	switch r.UTF8 {
	case plan.Replace:
		s = fmt.Sprintf("cgocopy.ValidUTF8(%s)", s)
	case plan.Refuse:
		v.emitCheck(fmt.Sprintf("cgocopy.CheckUTF8(%s)", s))
	}
	if r.Go != "string" {
		s = fmt.Sprintf("%s(%s)", r.Go, s)
	}
	v.writeLine("%s = %s", dst, s)
}

// countExpr returns the Go expression that reads a count or a discriminant of the struct at p.
func (v value) countExpr(c *plan.Count) string {
	sign := "u"
	if c.Signed {
		sign = ""
	}
	if c.Size > 1 && (v.loose || c.Offset%c.Size != 0) {
		return fmt.Sprintf("%sint%d(cgocopy.Bytes(%s, %d))", sign, 8*c.Size, addressExpr("p", c.Offset), c.Size)
	}
	return fmt.Sprintf("*(*%sint%d)(%s)", sign, 8*c.Size, addressExpr("p", c.Offset))
}

// siblingName returns the name of another member of the same struct, for errors.
func (v value) siblingName(member string) string {
	owner, _, _ := strings.Cut(v.name, ".")
	return owner + "." + member
}

// emitSlice emits the copy of counted elements. elements is the Go expression of their address.
func (v value) emitSlice(dst string, r plan.Rule, elements string) {
	v.writeLine("{\nq := %s", elements)
	v.writeLine("n, err := cgocopy.Count(%q, q, %s, %d)\nif err != nil {\nreturn err\n}", v.siblingName(r.Len.C), v.countExpr(r.Len), r.Max)
	if r.Depth > 0 {
		v.writeLine("if n > 0 && %s <= 0 {\nreturn cgocopy.In(%q, cgocopy.ErrDepth)\n}", v.remaining, v.name)
		v.remaining = v.depthExpr(r)
	}
	v.loose = v.loose && r.Op == plan.Tail
	e := *r.Elem
	if e.Op == plan.Load && e.Aligned && e.From == "" {
		v.writeLine("%s = cgocopy.Values(%s, q, n)\n}", dst, dst)
		return
	}
	v.writeLine("%s = cgocopy.Resize(%s, n)", dst, dst)
	i := indexName(v.loops)
	v.writeLine("for %s := range %s {", i, dst)
	inner := v
	inner.loops++
	inner.writeLine("e := unsafe.Add(q, %s*%d)", i, e.Size)
	inner.emitLoad(fmt.Sprintf("%s[%s]", dst, i), e, "e", 0)
	v.writeLine("}\n}")
}

func (v value) emitBits(dst string, r plan.Rule, p string) {
	raw := fmt.Sprintf("cgocopy.Bytes(%s, %d)", p, r.Size)
	if r.Bit > 0 {
		raw += fmt.Sprintf(" >> %d", r.Bit)
	}
	switch {
	case r.Go == "bool", r.From == "bool":
		v.writeLine("%s = (%s)&%#x != 0", dst, raw, bitMask(r.Width))
	case r.Signed:
		v.writeLine("%s = %s(int64((%s)<<%d) >> %d)", dst, r.Go, raw, 64-r.Width, 64-r.Width)
	default:
		v.writeLine("%s = %s((%s) & %#x)", dst, r.Go, raw, bitMask(r.Width))
	}
}

// bitMask returns a number whose lowest width bits are set.
func bitMask(width int64) uint64 { return ^uint64(0) >> (64 - width) }

// emitUnion emits the copy of the union member that the discriminant selects.
func (v value) emitUnion(dst string, r plan.Rule, base string, offset int64) {
	v.writeLine("%s = %s{}", dst, r.Go)
	v.writeLine("switch k := int64(%s); k {", v.countExpr(r.On))
	for _, c := range unionMembers(r) {
		v.writeLine("case %s:", c.joinValues(", "))
		v.emitLoad(dst+"."+c.Field, c.Rule, base, offset)
	}
	v.writeLine("default:\nreturn &cgocopy.UnionError{Field: %q, N: k}\n}", v.siblingName(r.On.C))
}

// emitDeref emits the copy of the struct that a pointer points to, into the existing Go value if there is
// one.
func (v value) emitDeref(dst string, r plan.Rule, p string) {
	v.writeLine("if q := %s; q == nil {\n%s = nil\n} else {", pointerExpr(r, p), dst)
	v.writeLine("if %s <= 0 {\nreturn cgocopy.In(%q, cgocopy.ErrDepth)\n}", v.remaining, v.name)
	v.writeLine("if %s == nil {\n%s = new(%s)\n}", dst, dst, r.Struct.Go)
	switch {
	case r.Struct.Flat:
		v.writeLine("*%s = *(*%s)(q)", dst, r.Struct.Go)
	case r.Struct.Fails:
		v.emitCheck(fmt.Sprintf("%s.fromC(%s)", dst, v.fromCArgs(r.Struct, "q", "a", v.depthExpr(r))))
	default:
		v.writeLine("%s.fromC(%s)", dst, v.fromCArgs(r.Struct, "q", "a", v.depthExpr(r)))
	}
	v.writeLine("}")
}
