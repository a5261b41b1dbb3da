package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// filler writes one C function that fills a struct, and the Go statements for the expected value. An
// example is SET(v->age, 42LL); and want.Age = 42. The parameters c and g are the path of a value in C and
// in Go.
type filler struct {
	c, g    *strings.Builder // C and Go source
	n       uint64           // values so far
	variant int              // which case of each union to fill
	depth   int              // C loops around the current line
}

// loopPosition is the position of a value in nested loops over arrays. Elements get a constant plus their
// index.
type loopPosition struct {
	loops int    // loops around the value
	index string // index among all elements, as an expression of both C and Go; "" outside of loops
}

// Test returns the file of a test for generated code. C fills every member with a different value, and the
// Go code must find these values. Pointers are nil.
func Test(u Unit) ([]byte, error) {
	f := u.newFile()
	const path = runtimePath + "/cgocopytest"
	name := "Test" + "Cgocopy" + u.Name
	var c, g strings.Builder
	var fills []string
	for _, s := range u.Plan.Structs {
		if !hasCName(s) {
			continue
		}
		for variant := range countVariants(s) { // each fills another member of the unions
			fill := fmt.Sprintf("fill%d", len(fills))
			fills = append(fills, fmt.Sprintf("{Func: %q, Type: %q}", fill, s.CName))
			w := &filler{c: &c, g: &g, variant: variant}
			fmt.Fprintf(&c, "static void %s(%s *v) {\n", fill, s.CName)
			title := s.Go
			if variant > 0 {
				title += fmt.Sprint(variant + 1)
			}
			fmt.Fprintf(&g, "t.Run(%q, func(t *testing.T) {\nvar want %s\n", title, s.Go)
			w.fillStruct(s, "v->", "want", loopPosition{})
			c.WriteString("}\n")
			fmt.Fprintf(&g, "cgocopytest.Same(t, c, %q, Sizeof%s, want)\n})\n", fill, s.Go)
		}
	}
	f.writeLine("import (\n\t\"testing\"\n\n\t%q\n)\n", path)
	f.writeLine("// %s has C fill every member, and Go find what C filled.", name)
	f.writeLine("func %s(t *testing.T) {", name)
	f.writeLine("c := cgocopytest.Run(t, cgocopytest.Program{")
	f.writeLine("Headers: []string{%s},", quoteList(u.Headers))
	if len(u.Flags) > 0 {
		f.writeLine("Flags: []string{%s},", quoteList(u.Flags))
	}
	if u.CXX {
		f.writeLine("CXX: true,")
	}
	if u.Build != "" {
		f.writeLine("Tags: %q,", u.Build)
	}
	source := "fills" + "Cgocopy" + u.Name
	f.writeLine("Source: %s,\nFills: []cgocopytest.Fill{\n%s,\n},\n})", source, strings.Join(fills, ",\n"))
	f.WriteString(g.String())
	f.writeLine("}\n")
	f.writeLine("// %s is C: it fills members as %s expects them.", source, name)
	undefine := &file{}
	undefine.writeUndefs(u.Undefine)
	f.writeLine("const %s = `\n%s%s`", source, undefine, c.String())
	return f.formatSource()
}

func quoteList(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return strings.Join(out, ", ")
}

// countVariants returns how often a struct must be filled to fill each case of its unions.
func countVariants(s *plan.Struct) int {
	n := 1
	var visit func(r plan.Rule)
	visit = func(r plan.Rule) {
		n = max(n, len(r.Cases))
		if r.Op == plan.Slice || r.Op == plan.Deref || r.Op == plan.Tail {
			return
		}
		if r.Struct != nil {
			for _, f := range r.Struct.Fields {
				visit(f.Rule)
			}
		}
		if r.Elem != nil {
			visit(*r.Elem)
		}
		for _, c := range r.Cases {
			visit(c.Rule)
		}
	}
	for _, f := range s.Fields {
		visit(f.Rule)
	}
	return n
}

func (w *filler) writeC(format string, args ...any) {
	w.c.WriteString(strings.Repeat("\t", w.depth+1))
	fmt.Fprintf(w.c, format+"\n", args...)
}

func (w *filler) writeGo(format string, args ...any) {
	fmt.Fprintf(w.g, format+"\n", args...)
}

// fillStruct fills a struct. It sets counts to 0, because the pointers to the elements are nil. It sets
// discriminants to the union member of the current variant.
func (w *filler) fillStruct(s *plan.Struct, c, g string, at loopPosition) {
	fixed := map[string]int64{} // counts and discriminants
	for _, f := range s.Fields {
		r := f.Rule
		for r.Elem != nil && r.Len == nil && r.On == nil {
			r = *r.Elem
		}
		if r.Len != nil {
			fixed[r.Len.C] = 0
		}
		if r.On != nil {
			fixed[r.On.C] = r.Cases[w.variant%len(r.Cases)].Value
		}
	}
	for _, f := range s.Fields {
		if _, ok := fixed[f.C]; ok && f.Rule.Num != "" {
			continue // it is set below
		}
		r := f.Rule
		if f.Nameless && r.Op == plan.Union {
			w.fillUnion(r, c, g+"."+f.Go, at)
			continue
		}
		w.fillValue(r, c+f.C, g+"."+f.Go, at)
	}
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		n := fixed[name]
		w.writeC("SET(%s%s, %dLL);", c, name, n)
		for _, f := range s.Fields {
			if f.C == name && n != 0 {
				w.writeGo("%s.%s = %d", g, f.Go, n)
			}
			// The struct is planned from a union, whose members all begin with the discriminant.
			if r := f.Rule; f.C == "" && r.On.C == name {
				selected := r.Cases[w.variant%len(r.Cases)]
				path, _ := plan.FindNumber(selected.Rule, r.On.Offset, r.On.Size)
				w.writeGo("%s.%s.%s%s = %d", g, f.Go, selected.Field, path, n)
			}
		}
	}
}

func (w *filler) fillValue(r plan.Rule, c, g string, at loopPosition) {
	if r.View != "" {
		c += "." + r.View
	}
	switch {
	case r.Op == plan.Chars:
		w.fillText(r, c, g, at)
	case r.Op == plan.Bits:
		w.fillBits(r, c, g, at)
	case r.Op == plan.Union:
		w.fillUnion(r, c+".", g, at)
	case r.Op == plan.Opaque:
		w.n++
		w.writeC("ADDR(%s, %#x);", c, 0x1000+16*w.n)
		w.writeGo("%s = %#x", g, 0x1000+16*w.n)
	case r.Op == plan.Text, r.Op == plan.Slice, r.Op == plan.Deref:
		w.writeC("NIL(%s);", c)
	case r.Op == plan.Tail:
		// Its count is 0.
	case r.Struct != nil:
		w.fillStruct(r.Struct, c+".", g, at)
	case r.Elem != nil:
		i := indexName(at.loops)
		inner := loopPosition{at.loops + 1, i}
		if at.index != "" {
			inner.index = fmt.Sprintf("(%s)*%d + %s", at.index, r.N, i)
		}
		w.writeC("for (int %s = 0; %s < %d; %s++) {", i, i, r.N, i)
		outerGo := w.g
		w.g = &strings.Builder{}
		w.depth++
		w.fillValue(*r.Elem, c+"["+i+"]", g+"["+i+"]", inner)
		w.depth--
		w.writeC("}")
		body := w.g.String()
		if w.g = outerGo; body != "" { // otherwise i would be unused
			w.writeGo("for %s := range %s {\n%s}", i, g, body)
		}
	case r.Op == plan.Bool:
		w.fillBool(r, c, g, at, "SET(%s, %s);")
	default:
		w.fillNumber(r, c, g, at)
	}
}

// fillUnion fills the member of a union that the current variant selects.
func (w *filler) fillUnion(r plan.Rule, c, g string, at loopPosition) {
	selected := r.Cases[w.variant%len(r.Cases)]
	w.fillValue(selected.Rule, c+selected.C, g+"."+selected.Field, at)
}
