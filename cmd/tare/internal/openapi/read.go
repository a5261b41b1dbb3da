// Package openapi reads the operations of OpenAPI documents (2.0, called Swagger, and 3.0 and later, in
// YAML or JSON). It builds requests from their examples. tare routes and the feeds of tare load use it,
// so both get the same paths.
package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
)

// MaxBytes limits the size of a document. The largest published documents have some ten megabytes.
const MaxBytes = 32 << 20

// maxOperations bounds the operations of a document: aliases can repeat a path item.
const maxOperations = 200_000

// Document is a parsed document.
type Document struct {
	Name       string // file name
	Format     string // e.g. OpenAPI 3.1.0
	Base       string // path of the document's first server; "" for /
	Operations []Operation
	Skipped    []Skipped // skipped path items and operations
	Notes      []string  // notes for the user, a line each

	reader  *yamlfile.Reader // records errors; nil once the document is read
	root    *node
	swagger bool              // OpenAPI 2
	since31 bool              // OpenAPI 3.1 and later, whose schemas may have fields next to $ref
	refs    map[string]target // targets of references that have been followed
	bases   map[*node]base    // first server by list of servers
	methods map[*node][]field // operations by path item
}

// Operation is a method of a path.
type Operation struct {
	Method    string // capitals
	Path      string // includes the path of its server; parameters are written as {id}
	Line, Col int    // position of the path, from 1

	body  *node   // value of the method's key
	items []*node // its path item, and those that its $ref leads to
}

// Skipped is a path item or operation that is not read.
type Skipped struct {
	Line, Col int    // position, from 1
	Path      string // path for messages
	Why       string // a sentence without its end
}

func operationKeys() []string {
	return []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}
}

// Read reads a document of YAML, or of JSON, which is YAML as well. The error is a *[yamlfile.Error].
func Read(name string, src []byte) (*Document, error) {
	r, root, err := yamlfile.Open(name, src, yamlfile.Format{
		Noun: "description", Begin: "it is for an OpenAPI document, or a list of routes such as GET /users/{id}",
		MaxBytes: MaxBytes, MaxDepth: 1000,
	})
	if err != nil {
		return nil, err
	}
	c := converter{reader: r, anchors: map[string]*node{}}
	d := &Document{Name: name, reader: r, root: c.convert(root), refs: map[string]target{}, bases: map[*node]base{}, methods: map[*node][]field{}}
	d.readRoot()
	d.reader = nil // frees the text
	return d, r.Err
}

func (d *Document) readRoot() {
	if d.root.kind != mapping {
		d.reader.Fail(d.root.at, "this is "+d.root.kind.String()+", and no OpenAPI document", "a mapping with openapi: and paths:, or a list of routes such as GET /users/{id}")
		return
	}
	if !d.readVersion() {
		return
	}
	paths, ok := d.root.find("paths")
	switch {
	case !ok:
		d.reader.Fail(d.root.at, "the document has no paths", "paths: is where routes are")
		return
	case paths.value.kind != mapping:
		d.reader.Fail(paths.value.at, "paths is "+paths.value.kind.String()+", not a mapping", "e.g. /users/{id}: {get: {}}")
		return
	}
	outer := d.basePath(d.root, base{})
	d.Base = outer.path
	for _, f := range paths.value.fields {
		d.readPath(f, outer)
		if len(d.Operations)+len(d.Skipped) > maxOperations {
			d.reader.Fail(f.at, fmt.Sprintf("more than %d routes", maxOperations), "write those that differ")
		}
		if d.reader.Err != nil {
			return
		}
	}
	if len(d.Operations) == 0 && len(d.Skipped) == 0 {
		d.reader.Fail(paths.value.at, "the paths have no operations", "e.g. /users/{id}: {get: {}}")
	}
}

func (d *Document) readVersion() bool {
	key, prefix, noun := "openapi", "3.", "OpenAPI "
	version := d.root.get(key)
	if version == nil {
		key, prefix, noun = "swagger", "2", "Swagger "
		if version = d.root.get(key); version == nil {
			d.reader.Fail(d.root.at, `it has neither "openapi" nor "swagger"`, "begin with openapi: 3.1.0 and paths:, or give a list of routes such as GET /users/{id}")
			return false
		}
	}
	v := version.scalar()
	if !strings.HasPrefix(v+".", prefix) {
		d.reader.Fail(version.at, fmt.Sprintf("%s: %s is not known", key, v), "swagger: 2.0, or openapi: 3.0 and later")
		return false
	}
	d.Format, d.swagger = noun+v, key == "swagger"
	d.since31 = !d.swagger && v != "3" && !strings.HasPrefix(v+".", "3.0.")
	return true
}

// readPath adds the operations of one path. Those of the path item hide those of its $ref. outer is the
// document's server.
func (d *Document) readPath(f field, outer base) {
	if strings.HasPrefix(f.name, "x-") || f.value.isNull() {
		return
	}
	if f.value.kind != mapping {
		d.reader.Fail(f.value.at, fmt.Sprintf("%s is %s, not a mapping", f.name, f.value.kind), "e.g. {get: {}}")
		return
	}
	items := d.pathItems(f)
	for _, item := range slices.Backward(items) {
		outer = d.basePath(item, outer)
	}
	var seen []string
	for _, item := range items {
		for _, op := range d.operationsOf(item) {
			if slices.Contains(seen, op.name) {
				continue
			}
			seen = append(seen, op.name)
			method, path := strings.ToUpper(op.name), f.name
			server := d.basePath(op.value, outer)
			if strings.HasPrefix(path, "/") {
				path = server.path + path
			}
			at, why := f.at, whyNoPath(path)
			if server.why != "" {
				at, why = server.at, server.why
			}
			if why != "" {
				d.Skipped = append(d.Skipped, Skipped{Line: at.Line, Col: at.Col, Path: method + " " + format.Line(path, 200), Why: why})
				continue
			}
			d.Operations = append(d.Operations, Operation{
				Method: method, Path: path, Line: f.at.Line, Col: f.at.Col, body: op.value, items: items,
			})
		}
	}
}

// whyNoPath returns why requests and routes for a path would differ. Only braces make a parameter in
// OpenAPI, but :id and * are parameters of routers.
func whyNoPath(path string) string {
	open := 0 // number of open braces
	for _, c := range path {
		switch c {
		case '{':
			open++
		case '}':
			open--
		}
		if open < 0 {
			return "its path closes a brace that it does not open"
		}
	}
	if open > 0 {
		return "its path does not close a brace"
	}
	for s := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(s, ":") || strings.HasPrefix(s, "*") {
			return fmt.Sprintf("%q is plain text in OpenAPI and a parameter of routers; write {name}", format.Line(s, 80))
		}
	}
	return ""
}

// operationsOf returns the operations of a path item. It searches each path item once, because that may
// be large and belong to many paths.
func (d *Document) operationsOf(item *node) []field {
	found, ok := d.methods[item]
	if !ok {
		for _, f := range item.fields {
			if slices.Contains(operationKeys(), f.name) {
				found = append(found, f)
			}
		}
		d.methods[item] = found
	}
	return found
}
