package routes

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/kinds/router"
)

// MostBytes is the largest document or list that is read.
const MostBytes = max(yamlfile.MaxOpenAPI, router.MostList)

// methods are the keys of a path item that are operations.
func methods() []string {
	return []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}
}

// openAPI reads the routes of a document of OpenAPI 2 or 3: the operations of
// all its paths, behind the path of the server. JSON is read as the YAML that it
// is as well.
func (d *Document) openAPI(src []byte) ([]router.Written, error) {
	r, root, err := yamlfile.Open(d.Name, src, yamlfile.OpenAPI())
	if err != nil {
		return nil, err
	}
	a := &openAPI{Reader: r, d: d, root: root, seen: map[ast.Node]mapping{}, refs: map[string]followed{}}
	list := a.routes()
	if r.Err != nil {
		return nil, r.Err
	}
	return list, nil
}

// openAPI is a document being read.
type openAPI struct {
	*yamlfile.Reader
	d       *Document
	root    ast.Node
	anchors map[string]ast.Node  // nil: not looked for yet
	seen    map[ast.Node]mapping // by its node
	refs    map[string]followed
}

func (a *openAPI) routes() []router.Written {
	top, ok := a.mapping(a.root)
	if !ok {
		a.Fail(a.Of(a.root), "this is "+kind(a.root)+", and no OpenAPI document", "a mapping with openapi: and paths:, or a list of routes such as GET /users/{id}")
		return nil
	}
	version, paths := field{}, field{}
	for _, f := range top.fields {
		switch f.name {
		case "openapi", "swagger":
			version = f
		case "paths":
			paths = f
		}
	}
	if version.value == nil {
		a.Fail(a.Of(a.root), `it has neither "openapi" nor "swagger"`, "begin with openapi: 3.1.0 and paths:, or give a list of routes such as GET /users/{id}")
		return nil
	}
	v := text(version.value)
	want := map[string]string{"openapi": "3.", "swagger": "2"}[version.name]
	if !strings.HasPrefix(v+".", want) {
		a.Fail(a.Of(version.value), fmt.Sprintf("%s: %s is not known", version.name, v), "swagger: 2.0, or openapi: 3.0 and later")
		return nil
	}
	a.d.Format = map[string]string{"openapi": "OpenAPI ", "swagger": "Swagger "}[version.name] + v
	if paths.value == nil {
		a.Fail(a.Of(a.root), "the document has no paths", "paths: is where routes are")
		return nil
	}
	items, ok := a.mapping(paths.value)
	if !ok {
		a.Fail(a.Of(paths.value), "paths is "+kind(paths.value)+", not a mapping", "e.g. /users/{id}: {get: {}}")
		return nil
	}
	a.base(version.name, top)
	var list []router.Written
	for _, item := range items.fields {
		if list = append(list, a.operations(item)...); len(list) > mostWritten {
			a.Fail(a.Of(item.key), fmt.Sprintf("more than %d routes", mostWritten), "write those that differ")
		}
		if a.Err != nil {
			return nil
		}
	}
	if len(list) == 0 && a.Err == nil {
		a.Fail(a.Of(paths.value), "the paths have no operations", "e.g. /users/{id}: {get: {}}")
	}
	return list
}

// mostWritten is how many routes a document may have: some are left out of its table.
const mostWritten = 10 * router.MostRoutes

// operations are the routes of one path.
func (a *openAPI) operations(item field) (list []router.Written) {
	if strings.HasPrefix(item.name, "x-") {
		return nil
	}
	own, ok := a.mapping(item.value)
	if !ok {
		if _, null := item.value.(*ast.NullNode); !null {
			a.Fail(a.Of(item.value), fmt.Sprintf("%s is %s, not a mapping", item.name, kind(item.value)), "e.g. {get: {}}")
		}
		return nil
	}
	path := item.name
	if strings.HasPrefix(path, "/") {
		path = a.d.Base + path
	}
	at := a.Of(item.key)
	for _, method := range a.methodsOf(item.name, own) {
		list = append(list, router.Written{Method: strings.ToUpper(method), Path: path, Line: at.Line, Col: at.Col})
	}
	return list
}

// base finds the path of the server: that of the first one, where a document
// has several.
func (a *openAPI) base(version string, top mapping) {
	for _, f := range top.fields {
		switch {
		case version == "swagger" && f.name == "basePath":
			a.d.Base = trimmed(text(f.value))
		case version == "openapi" && f.name == "servers":
			a.servers(f.value)
		default:
			continue
		}
		if len(a.d.Base) > mostBase {
			a.Fail(a.Of(f.key), fmt.Sprintf("the path of the server has more than %d bytes", mostBase), "write a shorter one")
		}
	}
}

// Bounds of what a few bytes of a document can have read or written many times.
const (
	mostBase    = 1024 // bytes of a server's path: it stands before each route
	mostServers = 1000 // that are looked at
)

func (a *openAPI) servers(n ast.Node) {
	list, ok := a.resolve(n).(*ast.SequenceNode)
	if !ok {
		return
	}
	for i, n := range list.Values[:min(len(list.Values), mostServers)] {
		server, _ := a.mapping(n)
		path := ""
		if f, ok := server.field("url"); ok {
			path = trimmed(serverPath(a.filled(text(f.value), server)))
		}
		if i == 0 {
			a.d.Base = path
		} else if path != a.d.Base {
			at := a.Of(n)
			a.d.Notes = append(a.d.Notes, fmt.Sprintf("%s:%d:%d: this server has its paths below %q; those of the first one, below %q, are measured", a.d.Name, at.Line, at.Col, path+"/", a.d.Base+"/"))
			return
		}
	}
}

// filled is a server's URL with its variables replaced by their defaults. Once these
// add up to more than 8 KiB, the variables that follow stay as they are.
func (a *openAPI) filled(url string, server mapping) string {
	f, _ := server.field("variables")
	variables, _ := a.mapping(f.value)
	added := 0
	return variable.ReplaceAllStringFunc(url, func(name string) string {
		v, ok := variables.field(name[1 : len(name)-1])
		if !ok {
			return name
		}
		own, _ := a.mapping(v.value)
		value, ok := own.field("default")
		if !ok {
			return name
		}
		if added += len(text(value.value)); added > 8<<10 {
			return name
		}
		return text(value.value)
	})
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// serverPath is the path of a URL, which may hold braces.
func serverPath(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	_, rest, absolute := strings.Cut(url, "://")
	if !absolute {
		return url
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// trimmed makes a path fit to stand before others: /v1, or nothing.
func trimmed(path string) string {
	path = strings.Trim(path, "/")
	if path == "" || path == "." {
		return ""
	}
	return "/" + path
}

// field is an entry of a mapping.
type field struct {
	name  string
	key   ast.Node
	value ast.Node
}

// mapping is the entries of a mapping, with those that it merges in.
type mapping struct {
	fields []field
	at     map[string]int
}

func (m mapping) field(name string) (field, bool) {
	i, ok := m.at[name]
	if !ok {
		return field{}, false
	}
	return m.fields[i], true
}

func (m *mapping) add(fields []field) {
	for _, f := range fields {
		if _, known := m.at[f.name]; !known {
			m.at[f.name] = len(m.fields)
			m.fields = append(m.fields, f)
		}
	}
}

// mapping reads a mapping, once however many aliases and references lead to it. It is
// false where n is none.
func (a *openAPI) mapping(n ast.Node) (mapping, bool) {
	n = a.resolve(n)
	entries, ok := n.(ast.MapNode)
	if !ok {
		return mapping{}, false
	}
	if m, ok := a.seen[n]; ok {
		return m, true
	}
	m := mapping{at: map[string]int{}}
	m.add(a.entries(n))
	for pairs := entries.MapRange(); pairs.Next(); {
		if _, merge := pairs.Key().(*ast.MergeKeyNode); !merge {
			continue
		}
		for _, from := range a.mergedFrom(pairs.Value()) {
			m.add(a.entries(from))
		}
	}
	a.seen[n] = m
	return m, true
}

// mergedFrom are the mappings that one takes entries from. What is merged into those is
// not followed: it may be the mapping itself.
func (a *openAPI) mergedFrom(n ast.Node) []ast.Node {
	n = a.resolve(n)
	if list, ok := n.(*ast.SequenceNode); ok {
		return list.Values
	}
	return []ast.Node{n}
}

// entries are those that a mapping has itself.
func (a *openAPI) entries(n ast.Node) (out []field) {
	m, ok := a.resolve(n).(ast.MapNode)
	if !ok {
		return nil
	}
	for pairs := m.MapRange(); pairs.Next(); {
		if _, merge := pairs.Key().(*ast.MergeKeyNode); !merge {
			out = append(out, field{text(pairs.Key()), pairs.Key(), a.resolve(pairs.Value())})
		}
	}
	return out
}

// resolve is what stands behind anchors, aliases and tags.
func (a *openAPI) resolve(n ast.Node) ast.Node {
	const most = 100 // an alias may lead to itself
	for range most {
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.TagNode:
			n = x.Value
		case *ast.AliasNode:
			if a.anchors == nil {
				a.anchors = yamlfile.Anchors(a.root)
			}
			value, ok := a.anchors[text(x.Value)]
			if !ok {
				return n
			}
			n = value
		default:
			return n
		}
	}
	return n
}

// text is what a scalar says.
func text(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.MappingKeyNode:
		return text(n.Value)
	}
	if t := n.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// kind is what a node is, in a word.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a mapping"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	}
	return "a single value"
}
