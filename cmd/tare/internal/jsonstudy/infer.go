package jsonstudy

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/kinds/codec"
)

// rootName is the name of the type of a document.
const rootName = "Document"

// maxDepth limits the nesting of structs; deeper values are any.
const maxDepth = 100

// maxNotes limits the notes of one kind.
const maxNotes = 6

// Type is the source of a Go type for JSON documents. It is inferred from the documents, or the user's.
type Type struct {
	Name   string   // "inferred", or import/path.Type of the user
	Source string   // declarations without package clause and imports, the type of a document first
	Root   string   // kind of the type of a document: struct, slice, map or other
	Item   string   // name of the items' type if Root is a slice of structs; otherwise ""
	Uses   []string // packages that the source imports
	Why    string   // why there is no source, one line; "" if there is
	Notes  []string // decisions about the type, one line each
}

// Infer returns a Go type for all of docs. A value that is null or missing in some documents becomes a
// pointer. A value of several kinds becomes any. An object whose keys look like data becomes a map.
// From {"id": 1, "name": "a"} and {"id": 2} it infers
//
//	type Document struct {
//		ID   int64   `json:"id"`
//		Name *string `json:"name,omitempty"`
//	}
func Infer(docs []codec.Document) (Type, error) {
	root := new(shape)
	for _, d := range docs {
		if err := root.add(d.Body); err != nil {
			return Type{}, fmt.Errorf("%s: %w", d, err)
		}
	}
	root.nulls = 0 // no pointer is needed: null leaves the document as it is
	g := &declarer{names: map[string]bool{rootName: true}}
	t := Type{Name: "inferred"}
	expr := g.typeExpr(root, "$", rootName, 0)
	if expr == rootName { // typeExpr has declared it as a struct
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
	t.Notes = g.notes.allLines()
	return t, nil
}

type declarer struct {
	decls   []string        // source of one type each
	names   map[string]bool // names of all types
	structs map[string]bool // names of types that are structs
	notes   lineNotes       // become Type.Notes
}

// typeExpr returns the Go type of the values at path, whose shape is s, and declares its structs.
func (g *declarer) typeExpr(s *shape, path, name string, depth int) string {
	switch kinds := s.kindNames(); {
	case len(kinds) == 0: // only null
		return "any"
	case len(kinds) > 1:
		g.notes.add("mixed", shortPath(path)+" is "+s.describeMixed()+": any")
		return "any"
	case depth > maxDepth:
		g.notes.add("deep", fmt.Sprintf("%s and what is nested deeper than %d levels: any", shortPath(path), maxDepth))
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
		return "[]" + g.typeExpr(s.items, path+"[]", singularName(name, depth), depth+1)
	case s.objects > 0:
		return g.declareObject(s, path, name, pointer, depth)
	}
	return pointer + g.numberType(s, path)
}

// numberType returns a type for all numbers of s, perhaps with a note on rounding.
func (g *declarer) numberType(s *shape, path string) string {
	switch {
	case s.reals == 0 && s.unsigned == 0:
		return "int64"
	case s.reals == 0 && s.ints == 0:
		return "uint64"
	case s.unsigned+s.large > 0:
		g.notes.add("large", shortPath(path)+" has numbers that no int64 holds: float64, which rounds them")
	}
	return "float64"
}

// declareObject declares a struct for objects and returns its type. If the keys are data, it returns a
// map type.
func (g *declarer) declareObject(s *shape, path, name, pointer string, depth int) string {
	if values, ok := s.mapValues(); ok {
		if len(s.fields) > 0 {
			g.notes.add("map", fmt.Sprintf("%s is a map: its keys (%s) look like data", shortPath(path), keyExamples(s.fields)))
		}
		return "map[string]" + g.typeExpr(values, path+".*", singularName(name, depth), depth+1)
	}
	name = g.uniqueName(name)
	position := len(g.decls)
	g.decls = append(g.decls, "") // reserves the place before the declarations of its fields
	if g.structs == nil {
		g.structs = map[string]bool{}
	}
	g.structs[name] = true
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is %s.\ntype %[1]s struct {\n", name, legiblePath(path))
	taken := map[string]bool{}
	for _, f := range s.fields {
		fieldName := pickUnique(exportedName(f.key), taken)
		isOptional := f.seen < s.objects // some objects do not have the key
		fieldShape := *f.shape
		if isOptional { // a pointer, so that zero is not omitted
			fieldShape.nulls++
		}
		tag := f.key
		if isOptional {
			tag += ",omitempty"
		} else if f.key == "-" { // the tag "-" would omit the field
			tag += ","
		}
		fmt.Fprintf(&b, "\t%s %s `json:\"%s\"`\n", fieldName, g.typeExpr(&fieldShape, path+"."+f.key, exportedName(f.key), depth+1), tag)
	}
	b.WriteString("}\n")
	g.decls[position] = b.String()
	return pointer + name
}

// uniqueName returns name, or name with a number. Only the first type can have rootName.
func (g *declarer) uniqueName(name string) string {
	if name == rootName && len(g.decls) == 0 && len(g.structs) == 0 {
		return name
	}
	return pickUnique(name, g.names)
}

// legiblePath describes a path for a comment.
func legiblePath(path string) string {
	if path == "$" {
		return "a whole document"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, "what is at "+shortPath(path))
}

func shortPath(path string) string {
	const maxLength = 80
	r := []rune(path)
	if len(r) <= maxLength {
		return path
	}
	return string(r[:maxLength/2]) + "…" + string(r[len(r)-maxLength/2:])
}

func keyExamples(fields []*field) string {
	const maxKeys = 3
	var keys []string
	for i, f := range fields {
		if i == maxKeys {
			keys = append(keys, "…")
			break
		}
		keys = append(keys, fmt.Sprintf("%q", cutKey(f.key)))
	}
	return strings.Join(keys, ", ")
}

func cutKey(key string) string {
	const maxLength = 24
	if r := []rune(key); len(r) > maxLength {
		return string(r[:maxLength]) + "…"
	}
	return key
}

// lineNotes stores the first notes of each kind, and counts the others.
type lineNotes struct {
	order []string            // kinds in the order of their first lines
	first map[string][]string // first lines by kind
	more  map[string]int      // numbers of further lines by kind
}

func (n *lineNotes) add(kind, line string) {
	if n.first == nil {
		n.first, n.more = map[string][]string{}, map[string]int{}
	}
	if n.first[kind] == nil {
		n.order = append(n.order, kind)
	}
	if len(n.first[kind]) < maxNotes {
		n.first[kind] = append(n.first[kind], line)
	} else {
		n.more[kind]++
	}
}

func (n *lineNotes) allLines() []string {
	var out []string
	for _, kind := range n.order {
		out = append(out, n.first[kind]...)
		if more := n.more[kind]; more > 0 {
			out = append(out, fmt.Sprintf("and %d more places like this", more))
		}
	}
	return out
}

func (t Type) importLines() string {
	var b strings.Builder
	for _, path := range t.Uses {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	if len(t.Uses) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// addMark adds a mark to the comment above the document's type. It requests generated code (see
// codeGenerator).
func addMark(source, mark string) string {
	i := strings.Index(source, "type "+rootName+" ")
	if mark == "" || i < 0 {
		return source
	}
	return source[:i] + mark + source[i:]
}
