package randtest

import (
	"fmt"
	"strings"
)

func (p *program) enum() member {
	tag, name := p.name("e"), p.name("m")
	low := p.r.IntN(2) == 0
	first, second := p.name("K"), p.name("K")
	values := []int64{3, 70000}
	if low {
		values[1] = -5
	}
	fmt.Fprintf(&p.header, "enum %s { %s = %d, %s = %d };\n", tag, first, values[0], second, values[1])
	return member{decl: fmt.Sprintf("enum %s %s;", tag, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		i := p.r.IntN(2)
		p.line("%s.%s = %s;", at, name, []string{first, second}[i])
		return fmt.Sprint(values[i])
	}}
}

func (p *program) text() member {
	name := p.name("t")
	return member{decl: fmt.Sprintf("const char *%s;", name), named: name, goes: exported(name), value: func(p *program, at string) string {
		if p.r.IntN(5) == 0 {
			p.line("%s.%s = 0;", at, name)
			return `""`
		}
		w := p.word(p.r.IntN(30))
		p.line("static const char v%s[] = {%s0};", name, bytesOf(w))
		p.line("%s.%s = v%s;", at, name, name)
		return fmt.Sprintf("%q", w)
	}}
}

func bytesOf(w []byte) string {
	var b strings.Builder
	for _, c := range w {
		fmt.Fprintf(&b, "(char)%d,", c)
	}
	return b.String()
}

// union returns a union and its discriminant. Some unions have no name.
func (p *program) union(owner string, depth int) []member {
	a, b := p.scalar(), p.chars()
	if depth > 0 && p.r.IntN(3) == 0 {
		b = p.nested(depth-1, false)
	}
	name, on := p.name("u"), p.name("k")
	field, dot := name, "."+name
	decl := fmt.Sprintf("union { %s %s } %s;", a.decl, b.decl, name)
	if p.r.IntN(4) == 0 { // without a name: the name of its first member represents it
		decl, field, dot = fmt.Sprintf("union { %s %s };", a.decl, b.decl), a.named, ""
	}
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,union=%s:0:%s,7:%s", owner, field, on, a.named, b.named))
	second := p.r.IntN(2) == 1
	return []member{
		{decl: decl, named: field, goes: exported(field), value: func(p *program, at string) string {
			if !second {
				return fmt.Sprintf("%s{%s: %s}", exported(owner)+exported(field), a.goes, a.value(p, at+dot))
			}
			return fmt.Sprintf("%s{%s: %s}", exported(owner)+exported(field), b.goes, b.value(p, at+dot))
		}},
		{decl: fmt.Sprintf("int %s;", on), named: on, goes: exported(on), value: func(p *program, at string) string {
			v := map[bool]int{false: 0, true: 7}[second]
			p.line("%s.%s = %d;", at, on, v)
			return fmt.Sprint(v)
		}},
	}
}

// nested returns a struct with a name, or an array of structs.
func (p *program) nested(depth int, packed bool) member {
	tag := p.declare(depth, 4, packed)
	name, n := p.name("x"), p.r.IntN(4)
	decl := fmt.Sprintf("%s %s;", tag.c, name)
	if n > 0 {
		decl = fmt.Sprintf("%s %s[%d];", tag.c, name, n)
	}
	return member{decl: decl, named: name, goes: exported(name), value: func(p *program, at string) string {
		if n == 0 {
			return tag.value(p, at+"."+name)
		}
		var all []string
		for i := range n {
			all = append(all, tag.valueInBlock(p, fmt.Sprintf("%s.%s[%d]", at, name, i)))
		}
		return fmt.Sprintf("[%d]%s{%s}", n, tag.goes, strings.Join(all, ", "))
	}}
}

// declared is a struct that the header declares.
type declared struct {
	c, goes string   // type names in C and Go
	list    []member // its members
	tail    bool     // it ends in a flexible array
}

// value writes C statements that fill the struct at the C expression at, and returns the expected Go value.
func (d declared) value(p *program, at string) string {
	return d.goes + "{" + strings.Join(values(p, d.list, at), ", ") + "}"
}

// values fills the members of a struct, and returns NAME: VALUE for each in Go.
func values(p *program, list []member, at string) []string {
	var all []string
	for _, m := range list {
		if len(m.inner) > 0 {
			all = append(all, values(p, m.inner, at)...)
			continue
		}
		all = append(all, m.goes+": "+m.value(p, at))
	}
	return all
}

// valueInBlock is value in a C block, so that the struct can be filled several times: the variables that
// pointers point to have the names of members.
func (d declared) valueInBlock(p *program, at string) string {
	p.line("{")
	defer p.line("}")
	return d.value(p, at)
}

// declare declares a random struct in the header, with at most most members.
func (p *program) declare(depth, most int, packed bool, last ...member) declared {
	name := p.name("t")
	packed = packed || p.r.IntN(6) == 0
	list := p.members(name, most, depth, packed)
	tail := p.r.IntN(8) == 0 && len(last) == 0 && most > 4
	if tail {
		last = p.tail(name)
		list = append(list, last[0])
	}
	p.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if tail {
		list = append(list, last[1])
	}
	attribute := ""
	switch {
	case packed && p.r.IntN(2) == 0:
		attribute = " __attribute__((packed))"
	case packed:
		attribute = " __attribute__((packed, aligned(2)))"
	case p.r.IntN(8) == 0:
		attribute = " __attribute__((aligned(32)))"
	}
	var decls []string
	for _, m := range list {
		decls = append(decls, "\t"+m.decl)
	}
	c := "struct " + name
	if p.r.IntN(2) == 0 {
		c = name
		fmt.Fprintf(&p.header, "typedef struct%s {\n%s\n} %s;\n", attribute, strings.Join(decls, "\n"), name)
	} else {
		fmt.Fprintf(&p.header, "struct%s %s {\n%s\n};\n", attribute, name, strings.Join(decls, "\n"))
	}
	return declared{c, exported(name), list, tail}
}

// addStruct declares a struct, and adds the C function that fills it and the expected value.
func (p *program) addStruct() {
	d := p.declare(2, 9, false)
	name := strings.TrimPrefix(d.c, "struct ")
	p.types = append(p.types, name)
	fmt.Fprintf(&p.fill, "static void fill_%s(void *to) {\n\t%s *v = to;\n\tmemset(v, 0xa5, sizeof *v);\n", name, d.c)
	p.expect = append(p.expect, d.value(p, "(*v)"))
	p.fill.WriteString("}\n")
	p.tails = append(p.tails, d.tail)
}
