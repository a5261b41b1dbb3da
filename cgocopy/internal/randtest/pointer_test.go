package randtest

import (
	"fmt"
	"strings"
)

// counted returns a pointer to numbers, and their count.
func (p *program) counted(owner string) []member {
	t, name := numbers()[p.r.IntN(len(numbers()))], p.name("p")
	c, count := numbers()[2+p.r.IntN(6)], p.name("n")
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,len=%s", owner, name, count))
	n := p.r.IntN(6)
	return []member{
		{decl: fmt.Sprintf("%s *%s;", t.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
			if n == 0 {
				p.line("%s.%s = 0;", at, name)
				return fmt.Sprintf("[]%s(nil)", t.goes)
			}
			var cs, gos []string
			for range n {
				c, goes := p.draw(t.bits, t.signed, t.float)
				cs, gos = append(cs, c), append(gos, goes)
			}
			p.line("static %s v%s[] = {%s};", t.c, name, strings.Join(cs, ", "))
			p.line("%s.%s = v%s;", at, name, name)
			return fmt.Sprintf("[]%s{%s}", t.goes, strings.Join(gos, ", "))
		}},
		p.count(c, count, n),
	}
}

// count returns a member with the value n that counts another.
func (p *program) count(c number, name string, n int) member {
	return member{decl: fmt.Sprintf("%s %s;", c.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		p.line("%s.%s = %d;", at, name, n)
		return fmt.Sprint(n)
	}}
}

// countedText returns a text and its length, or several texts and their count.
func (p *program) countedText(owner string) []member {
	name := p.name("t")
	c, count := numbers()[2+p.r.IntN(6)], p.name("n")
	n := p.r.IntN(6)
	if p.r.IntN(2) == 0 {
		p.tags = append(p.tags, fmt.Sprintf("%s.%s=,len=%s,string", owner, name, count))
		w := p.word(n)
		return []member{{decl: fmt.Sprintf("const char *%s;", name), named: name, goes: exported(name), value: func(p *program, at string) string {
			p.line("static const char v%s[] = {%s 1};", name, bytesOf(w))
			p.line("%s.%s = v%s;", at, name, name)
			return fmt.Sprintf("%q", w)
		}}, p.count(c, count, n)}
	}
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,len=%s", owner, name, count))
	return []member{{decl: fmt.Sprintf("const char **%s;", name), named: name, goes: exported(name), value: func(p *program, at string) string {
		if n == 0 {
			p.line("%s.%s = 0;", at, name)
			return "[]string(nil)"
		}
		p.line("static const char *v%s[%d];", name, n)
		var all []string
		for i := range n {
			w := p.word(p.r.IntN(9))
			p.line("static const char v%s_%d[] = {%s0};", name, i, bytesOf(w))
			p.line("v%s[%d] = v%s_%d;", name, i, name, i)
			all = append(all, fmt.Sprintf("%q", w))
		}
		p.line("%s.%s = v%s;", at, name, name)
		return fmt.Sprintf("[]string{%s}", strings.Join(all, ", "))
	}}, p.count(c, count, n)}
}

// pointer returns a pointer to one struct, or a nil pointer.
func (p *program) pointer(owner string, depth int) member {
	to := p.declare(depth, 4, false)
	name := p.name("p")
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,depth=5", owner, name))
	return member{decl: fmt.Sprintf("%s *%s;", to.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		if p.r.IntN(4) == 0 {
			p.line("%s.%s = 0;", at, name)
			return "nil"
		}
		p.line("static %s v%s;", to.c, name)
		p.line("memset(&v%s, 0xa5, sizeof v%s);", name, name)
		p.line("%s.%s = &v%s;", at, name, name)
		return "&" + to.valueInBlock(p, "v"+name)
	}}
}

// structs returns a pointer to several structs, and their count.
func (p *program) structs(owner string, depth int) []member {
	to := p.declare(depth, 4, false)
	name := p.name("p")
	c, count := numbers()[2+p.r.IntN(6)], p.name("n")
	n := p.r.IntN(4)
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,len=%s", owner, name, count))
	return []member{{decl: fmt.Sprintf("%s *%s;", to.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		if n == 0 {
			p.line("%s.%s = 0;", at, name)
			return fmt.Sprintf("[]%s(nil)", to.goes)
		}
		p.line("static %s v%s[%d];", to.c, name, n)
		p.line("memset(v%s, 0xa5, sizeof v%s);", name, name)
		p.line("%s.%s = v%s;", at, name, name)
		var all []string
		for i := range n {
			all = append(all, to.valueInBlock(p, fmt.Sprintf("v%s[%d]", name, i)))
		}
		return fmt.Sprintf("[]%s{%s}", to.goes, strings.Join(all, ", "))
	}}, p.count(c, count, n)}
}

// tail returns a count, and the flexible array whose elements it counts.
func (p *program) tail(owner string) []member {
	t, name := numbers()[p.r.IntN(len(numbers()))], p.name("a")
	c, count := numbers()[2+p.r.IntN(6)], p.name("n")
	n := p.r.IntN(5)
	p.tags = append(p.tags, fmt.Sprintf("%s.%s=,len=%s", owner, name, count))
	return []member{p.count(c, count, n), {decl: fmt.Sprintf("%s %s[];", t.c, name), named: name, goes: exported(name), value: func(p *program, at string) string {
		if n == 0 {
			return fmt.Sprintf("[]%s(nil)", t.goes)
		}
		var all []string
		for i := range n {
			c, goes := p.draw(t.bits, t.signed, t.float)
			p.line("%s.%s[%d] = %s;", at, name, i, c)
			all = append(all, goes)
		}
		return fmt.Sprintf("[]%s{%s}", t.goes, strings.Join(all, ", "))
	}}}
}

// anonymous returns a struct without a name, whose members belong to the struct around it.
func (p *program) anonymous(owner string, depth int, packed bool) member {
	list := p.members(owner, 3, depth, packed)
	var decls []string
	for _, m := range list {
		decls = append(decls, m.decl)
	}
	return member{decl: "struct { " + strings.Join(decls, " ") + " };", inner: list}
}
