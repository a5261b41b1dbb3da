package randtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// program is the C and Go source of a batch of random structs. expect, tails and types have an element per
// struct.
type program struct {
	r      *rand.Rand
	header strings.Builder // C declarations
	fill   strings.Builder // C functions that fill one struct each
	expect []string        // expected Go values, as Go expressions
	tails  []bool          // the struct ends in a flexible array
	tags   []string        // values of -tag
	types  []string        // C names
	serial int             // number of the last name
	clang  bool            // clang compiles the batch
}

// member is a random member of a struct. value writes C statements that fill the member of the struct at
// the C expression at, and returns the expected Go value, as a Go expression.
type member struct {
	decl  string // declaration in C
	named string // name in C
	goes  string // name in Go
	value func(p *program, at string) (goes string)
	inner []member // members, if it is a struct without a name; else nil
}

// name returns a new name with a prefix. Some names are as long as in generated C code.
func (p *program) name(prefix string) string {
	p.serial++
	long := ""
	if p.r.IntN(30) == 0 {
		long = strings.Repeat("long", 1+p.r.IntN(40))
	}
	return fmt.Sprintf("%s%s%d", prefix, long, p.serial)
}

// exported is the Go name of one of our names, which are lower case and digits.
func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// line writes one statement of C.
func (p *program) line(format string, args ...any) {
	fmt.Fprintf(&p.fill, "\t"+format+"\n", args...)
}

// number is a C number type, its Go type, and a way to make values.
type number struct {
	c, goes string
	bits    int
	signed  bool
	float   bool
}

func numbers() []number {
	return []number{
		{"signed char", "int8", 8, true, false}, {"unsigned char", "uint8", 8, false, false},
		{"short", "int16", 16, true, false}, {"unsigned short", "uint16", 16, false, false},
		{"int", "int32", 32, true, false}, {"unsigned int", "uint32", 32, false, false},
		{"long long", "int64", 64, true, false}, {"unsigned long long", "uint64", 64, false, false},
		{"int8_t", "int8", 8, true, false}, {"uint16_t", "uint16", 16, false, false},
		{"int32_t", "int32", 32, true, false}, {"uint64_t", "uint64", 64, false, false},
		{"float", "float32", 32, true, true}, {"double", "float64", 64, true, true},
	}
}

// draw returns a random number of so many bits, as a C and as a Go expression.
func (p *program) draw(bits int, signed, float bool) (c, goes string) {
	switch {
	case float: // exact in both sizes
		x := float64(p.r.IntN(1<<20)-1<<19) / 16
		return fmt.Sprintf("%g", x), fmt.Sprintf("%g", x)
	case signed:
		x := int64(p.r.Uint64()) >> (64 - bits)
		if x == -1<<63 {
			x++
		}
		return fmt.Sprintf("%dLL", x), fmt.Sprint(x)
	}
	x := p.r.Uint64() >> (64 - bits)
	return fmt.Sprintf("%dULL", x), fmt.Sprint(x)
}

// members returns random members for the struct owner: most of them, or fewer. depth is the number of
// structs that may be nested in them.
func (p *program) members(owner string, most, depth int, packed bool) []member {
	var list []member
	for n := 1 + p.r.IntN(most); len(list) < n; {
		list = append(list, p.member(owner, depth, packed)...)
	}
	return list
}

func (p *program) member(owner string, depth int, packed bool) []member {
	switch k := p.r.IntN(26); {
	case k < 7:
		return []member{p.scalar()}
	case k < 9:
		return []member{p.chars()}
	case k < 11:
		return []member{p.array()}
	case k == 11:
		return p.bits()
	case k == 12:
		return []member{p.boolean()}
	case k == 13:
		return []member{p.enum()}
	case k == 14:
		return []member{p.text()}
	case k == 15:
		return p.counted(owner)
	case k == 16:
		return p.union(owner, depth)
	case k < 20 && depth > 0:
		return []member{p.nested(depth-1, packed)}
	case k == 20 && depth > 0:
		return []member{p.pointer(owner, depth-1)}
	case k == 21 && depth > 0:
		return p.structs(owner, depth-1)
	case k == 22:
		return p.countedText(owner)
	case k == 23 && depth > 0:
		return []member{p.anonymous(owner, depth-1, packed)}
	}
	return []member{p.scalar()}
}

func (p *program) scalar() member {
	t, name := numbers()[p.r.IntN(len(numbers()))], p.name("m")
	return member{decl: fmt.Sprintf("%s %s;", t.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		c, goes := p.draw(t.bits, t.signed, t.float)
		p.line("%s.%s = %s;", at, name, c)
		return goes
	}}
}

func (p *program) boolean() member {
	name := p.name("b")
	return member{decl: fmt.Sprintf("_Bool %s;", name), named: name, goes: exported(name), value: func(p *program, at string) string {
		v := p.r.IntN(2)
		p.line("%s.%s = %d;", at, name, v)
		return fmt.Sprint(v == 1)
	}}
}

// word returns a random text of n bytes without a NUL. It may be invalid UTF-8.
func (p *program) word(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + p.r.IntN(255))
	}
	return b
}

func (p *program) chars() member {
	n, name := 1+p.r.IntN(40), p.name("s")
	rows := 0
	if p.r.IntN(4) == 0 {
		rows = 1 + p.r.IntN(3)
	}
	decl := fmt.Sprintf("char %s[%d];", name, n)
	if rows > 0 {
		decl = fmt.Sprintf("char %s[%d][%d];", name, rows, n)
	}
	one := func(p *program, at string) string {
		w := p.word(p.r.IntN(n + 1)) // of n bytes: without a NUL
		p.line("memset(%s, 0x5a, %d);", at, n)
		for i, c := range w {
			p.line("%s[%d] = (char)%d;", at, i, c)
		}
		if len(w) < n {
			p.line("%s[%d] = 0;", at, len(w))
		}
		return fmt.Sprintf("%q", w)
	}
	return member{decl: decl, named: name, goes: exported(name), value: func(p *program, at string) string {
		if rows == 0 {
			return one(p, at+"."+name)
		}
		var all []string
		for i := range rows {
			all = append(all, one(p, fmt.Sprintf("%s.%s[%d]", at, name, i)))
		}
		return fmt.Sprintf("[%d]string{%s}", rows, strings.Join(all, ", "))
	}}
}

func (p *program) array() member {
	t, name := numbers()[p.r.IntN(len(numbers()))], p.name("a")
	n, m := 1+p.r.IntN(5), 0
	dims := fmt.Sprintf("[%d]", n)
	if p.r.IntN(3) == 0 {
		m = 1 + p.r.IntN(4)
		dims += fmt.Sprintf("[%d]", m)
	}
	return member{decl: fmt.Sprintf("%s %s%s;", t.c, name, dims), named: name, goes: exported(name), value: func(p *program, at string) string {
		row := func(at string, n int) string {
			var all []string
			for i := range n {
				c, goes := p.draw(t.bits, t.signed, t.float)
				p.line("%s[%d] = %s;", at, i, c)
				all = append(all, goes)
			}
			return "{" + strings.Join(all, ", ") + "}"
		}
		if m == 0 {
			return fmt.Sprintf("[%d]%s%s", n, t.goes, row(at+"."+name, n))
		}
		var rows []string
		for i := range n {
			rows = append(rows, row(fmt.Sprintf("%s.%s[%d]", at, name, i), m))
		}
		return fmt.Sprintf("[%d][%d]%s{%s}", n, m, t.goes, strings.Join(rows, ", "))
	}}
}

// bits returns adjacent bit-fields, with random gaps and new storage units.
func (p *program) bits() []member {
	types := []number{{"unsigned int", "uint32", 32, false, false}, {"int", "int32", 32, true, false}, {"unsigned long long", "uint64", 64, false, false}, {"unsigned char", "uint8", 8, false, false}, {"short", "int16", 16, true, false}}
	var list []member
	for range 1 + p.r.IntN(4) {
		t, name := types[p.r.IntN(len(types))], p.name("f")
		width := 1 + p.r.IntN(min(t.bits, 57)) // wider ones could reach into a ninth byte if packed
		if p.clang {
			width = min(width, t.bits-1) // it does not describe a bit-field as wide as its type, which is rejected
		}
		decl := fmt.Sprintf("%s %s : %d;", t.c, name, width)
		if t.signed {
			decl = "signed " + decl // the sign of a plain int bit-field depends on the compiler
		}
		switch p.r.IntN(6) {
		case 0:
			decl += fmt.Sprintf(" %s : 0;", t.c)
		case 1:
			decl += fmt.Sprintf(" %s : %d;", t.c, 1+p.r.IntN(t.bits))
		}
		list = append(list, member{decl: decl, named: name, goes: exported(name), value: func(p *program, at string) string {
			c, goes := p.draw(width, t.signed, false)
			p.line("%s.%s = %s;", at, name, c)
			return goes
		}})
	}
	return list
}
