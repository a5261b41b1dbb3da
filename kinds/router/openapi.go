package router

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/fixture"
)

// mostRoutes is the most that are taken from a document.
const mostRoutes = 5000

// openAPI reads the routes out of an OpenAPI document (or one of Swagger 2,
// which has them in the same place): get, post, put, patch and delete of all
// paths. Errors begin with ":line:col: ", or with ": " where there is no
// position, to be put behind a file name.
//
// Routers want one name for the parameters of one place, and names that are
// words; documents have neither. The first name of a place is taken, with
// everything but letters and digits replaced, for all contenders alike.
func openAPI(src []byte) ([]fixture.Route, error) {
	var doc struct {
		OpenAPI  string                                `json:"openapi"`
		Swagger  string                                `json:"swagger"`
		BasePath string                                `json:"basePath"` // Swagger 2
		Paths    map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, positioned(src, err)
	}
	switch {
	case doc.OpenAPI == "" && doc.Swagger == "":
		return nil, errors.New(`: not an OpenAPI document: it has neither "openapi" nor "swagger"`)
	case len(doc.Paths) == 0:
		return nil, errors.New(": the document has no paths")
	}
	var list []written
	for path, operations := range doc.Paths {
		full := path
		if doc.Swagger != "" {
			full = strings.TrimSuffix(doc.BasePath, "/") + path
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if _, ok := operations[method]; !ok {
				continue
			}
			segments, err := split(full)
			if err != nil {
				return nil, fmt.Errorf(": paths: %s: %w", path, err)
			}
			list = append(list, written{strings.ToUpper(method), path, segments})
		}
	}
	if len(list) == 0 || len(list) > mostRoutes {
		return nil, fmt.Errorf(": the document has %d operations of get, post, put, patch and delete, want 1 to %d", len(list), mostRoutes)
	}
	slices.SortFunc(list, compare)
	return named(list)
}

// written is a route as the document has it.
type written struct {
	method   string
	path     string
	segments []segment
}

// segment is what a path has between two slashes.
type segment struct {
	text  string // of a literal, or the name of the parameter
	param bool
}

func split(path string) ([]segment, error) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, errors.New("a path begins with a slash")
	}
	texts := strings.Split(rest, "/")
	segments := make([]segment, len(texts))
	for i, text := range texts {
		name, param := strings.CutPrefix(text, "{")
		switch {
		case param && strings.IndexByte(name, '}') == len(name)-1 && len(name) > 1:
			segments[i] = segment{name[:len(name)-1], true}
		case strings.ContainsAny(text, "{}"):
			return nil, fmt.Errorf("segment %q: only a whole segment can be a parameter here, as in /files/{name}", text)
		case strings.ContainsAny(text, ":*?#%\\ \t\r\n"):
			return nil, fmt.Errorf("segment %q: routers give a meaning of their own to some character of it", text)
		case text == "" && i < len(texts)-1:
			return nil, errors.New("it has an empty segment")
		default:
			segments[i].text = text
		}
	}
	return segments, nil
}

// compare sorts a literal before the parameter of its place, and the same
// document always alike.
func compare(a, b written) int {
	for i := range min(len(a.segments), len(b.segments)) {
		x, y := a.segments[i], b.segments[i]
		switch {
		case x.param != y.param && y.param:
			return -1
		case x.param != y.param:
			return 1
		case !x.param && x.text != y.text:
			return strings.Compare(x.text, y.text)
		}
	}
	if d := len(a.segments) - len(b.segments); d != 0 {
		return d
	}
	if d := strings.Compare(a.method, b.method); d != 0 {
		return d
	}
	return strings.Compare(a.path, b.path)
}

// place is where routes go on after the same beginning.
type place struct {
	name  string // of the parameter that leads here; empty: a literal does
	next  map[segment]*place
	taken map[string]string // method → path of the route that ends here
}

// named gives every place one name. The error is two routes that are one.
func named(list []written) ([]fixture.Route, error) {
	root := &place{}
	routes := make([]fixture.Route, len(list))
	for i, w := range list {
		at, path, used := root, "", map[string]bool{}
		for _, s := range w.segments {
			at = at.follow(s, used)
			if s.param {
				path += "/{" + at.name + "}"
			} else {
				path += "/" + s.text
			}
		}
		if other, ok := at.taken[w.method]; ok {
			return nil, fmt.Errorf(": paths: %s and %s are the same route for %s", other, w.path, w.method)
		}
		if at.taken == nil {
			at.taken = map[string]string{}
		}
		at.taken[w.method] = w.path
		routes[i] = fixture.Route{Method: w.method, Path: path}
	}
	return routes, nil
}

// follow goes on with one segment. Names that were used on the way here are not
// given again.
func (p *place) follow(s segment, used map[string]bool) *place {
	at := s
	if s.param {
		at.text = "" // one place, whatever it is called
	}
	next, ok := p.next[at]
	if !ok {
		next = &place{}
		if s.param {
			next.name = unused(word(s.text), used)
		}
		if p.next == nil {
			p.next = map[segment]*place{}
		}
		p.next[at] = next
	}
	used[next.name] = true
	return next
}

// word makes a name that every router takes.
func word(name string) string {
	w := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if c := w[0]; c >= '0' && c <= '9' || c == '_' {
		w = "p" + w
	}
	return w
}

func unused(name string, used map[string]bool) string {
	if !used[name] {
		return name
	}
	for i := 2; ; i++ {
		if n := fmt.Sprintf("%s%d", name, i); !used[n] {
			return n
		}
	}
}

// positioned says where in src JSON is not what it should be.
func positioned(src []byte, err error) error {
	at := int64(len(src))
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typed):
		at = typed.Offset
		err = fmt.Errorf("%s is a %s, which it cannot be in an OpenAPI document", typed.Field, typed.Value)
	}
	before := src[:min(max(0, at-1), int64(len(src)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf(":%d:%d: %w", line, col, err)
}
