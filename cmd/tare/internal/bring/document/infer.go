package document

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/kinds/codec"
)

// rootName is what a document's own type is called.
const rootName = "Document"

// deepest is how deep structs are nested; what lies deeper is any.
const deepest = 100

// noteMost is how many notes of one kind are told one by one.
const noteMost = 6

// Type is a Go type for documents, as source.
type Type struct {
	Name   string   // what it is called in messages: "inferred", or import/path.Type
	Source string   // its declarations, the document's own first; no package clause, no imports
	Root   string   // struct, slice, map, or other
	Item   string   // of a slice of structs: their type's name
	Uses   []string // packages that the source imports
	Why    string   // why there is no source, where there is none; one line
	Notes  []string // what was decided, one line each
}

// Infer makes the Go type that holds all of docs: what may be null or is left
// out somewhere is a pointer, what has values of several kinds is any, and
// objects whose keys are data are maps.
func Infer(docs []codec.Document) (Type, error) {
	root := new(shape)
	for _, d := range docs {
		if err := root.add(d.Body); err != nil {
			return Type{}, fmt.Errorf("%s: %w", d, err)
		}
	}
	root.nulls = 0 // a document that is null leaves what it is read into as it is
	g := &generator{names: map[string]bool{rootName: true}}
	t := Type{Name: "inferred"}
	expr := g.expr(root, "$", rootName, 0)
	if expr == rootName {
		t.Root = "struct"
	} else {
		switch {
		case strings.HasPrefix(expr, "[]"):
			t.Root = "slice"
			if g.structs[expr[2:]] {
				t.Item = expr[2:]
			}
		case strings.HasPrefix(expr, "map["):
			t.Root = "map"
		default:
			t.Root = "other"
		}
		g.decls = append([]string{fmt.Sprintf("// %s is a whole document.\ntype %[1]s %s\n", rootName, expr)}, g.decls...)
	}
	t.Source = strings.Join(g.decls, "\n")
	t.Notes = g.notes.lines()
	return t, nil
}

// generator writes declarations.
type generator struct {
	decls   []string
	names   map[string]bool // of types
	structs map[string]bool
	notes   notes
}

// expr is the type of what is at path; a struct gets the given name where it is
// free.
func (g *generator) expr(s *shape, path, name string, depth int) string {
	switch kinds := s.kinds(); {
	case len(kinds) == 0:
		return "any"
	case len(kinds) > 1:
		g.notes.add("mixed", brief(path)+" is "+s.mixed()+": any")
		return "any"
	case depth > deepest:
		g.notes.add("deep", fmt.Sprintf("%s and what is nested deeper than %d levels: any", brief(path), deepest))
		return "any"
	}
	pointer := ""
	if s.nulls > 0 {
		pointer = "*"
	}
	switch {
	case s.texts > 0:
		return pointer + "string"
	case s.bools > 0:
		return pointer + "bool"
	case s.arrays > 0:
		if s.items == nil {
			return "[]any"
		}
		return "[]" + g.expr(s.items, path+"[]", singular(name, depth), depth+1)
	case s.objects > 0:
		return g.object(s, path, name, pointer, depth)
	}
	return pointer + g.numeric(s, path)
}

func (g *generator) numeric(s *shape, path string) string {
	switch {
	case s.reals == 0 && s.unsigned == 0:
		return "int64"
	case s.reals == 0 && s.ints == 0:
		return "uint64"
	case s.unsigned+s.large > 0:
		g.notes.add("large", brief(path)+" has numbers that no int64 holds: float64, which rounds them")
	}
	return "float64"
}

// object declares a struct, or is a map.
func (g *generator) object(s *shape, path, name, pointer string, depth int) string {
	if values, ok := s.dataKeys(); ok {
		if len(s.fields) > 0 {
			g.notes.add("map", fmt.Sprintf("%s is a map: its keys (%s) look like data", brief(path), examples(s.fields)))
		}
		return "map[string]" + g.expr(values, path+".*", singular(name, depth), depth+1)
	}
	name = g.free(name)
	at := len(g.decls)
	g.decls = append(g.decls, "")
	if g.structs == nil {
		g.structs = map[string]bool{}
	}
	g.structs[name] = true
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is %s.\ntype %[1]s struct {\n", name, legiblePath(path))
	taken := map[string]bool{}
	for _, f := range s.fields {
		own := unique(exported(f.key), taken)
		optional := f.seen < s.objects
		seen := *f.shape
		if optional { // a pointer, so that zero is not left out
			seen.nulls++
		}
		tag := f.key
		if optional {
			tag += ",omitempty"
		} else if f.key == "-" {
			tag += ","
		}
		fmt.Fprintf(&b, "\t%s %s `json:\"%s\"`\n", own, g.expr(&seen, path+"."+f.key, exported(f.key), depth+1), tag)
	}
	b.WriteString("}\n")
	g.decls[at] = b.String()
	return pointer + name
}

// free is name, or that with a number, which no other type has.
func (g *generator) free(name string) string {
	if name == rootName && len(g.decls) == 0 && len(g.structs) == 0 {
		return name
	}
	return unique(name, g.names)
}

// legiblePath is a path in a comment of one line.
func legiblePath(path string) string {
	if path == "$" {
		return "a whole document"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, "what is at "+brief(path))
}

// brief is a path that fits into a line.
func brief(path string) string {
	const most = 80
	r := []rune(path)
	if len(r) <= most {
		return path
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2:])
}

func examples(fields []*field) string {
	const most = 3
	var keys []string
	for i, f := range fields {
		if i == most {
			keys = append(keys, "…")
			break
		}
		keys = append(keys, fmt.Sprintf("%q", cut(f.key)))
	}
	return strings.Join(keys, ", ")
}

func cut(s string) string {
	const most = 24
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// notes are lines by kind, of which only the first few are kept.
type notes struct {
	order []string
	kept  map[string][]string
	more  map[string]int
}

func (n *notes) add(kind, line string) {
	if n.kept == nil {
		n.kept, n.more = map[string][]string{}, map[string]int{}
	}
	if n.kept[kind] == nil {
		n.order = append(n.order, kind)
	}
	if len(n.kept[kind]) < noteMost {
		n.kept[kind] = append(n.kept[kind], line)
	} else {
		n.more[kind]++
	}
}

func (n *notes) lines() []string {
	var out []string
	for _, kind := range n.order {
		out = append(out, n.kept[kind]...)
		if more := n.more[kind]; more > 0 {
			out = append(out, fmt.Sprintf("and %d more places like this", more))
		}
	}
	return out
}

// imports is the import declaration that the source needs.
func (t Type) imports() string {
	var b strings.Builder
	for _, path := range t.Uses {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	if len(t.Uses) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// marked is source with a mark in the comment above the document's own type.
func marked(source, mark string) string {
	at := strings.Index(source, "type "+rootName+" ")
	if mark == "" || at < 0 {
		return source
	}
	return source[:at] + mark + source[at:]
}
