package traffic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/tarebench/tare/load"
)

// object is a mapping of a document.
type object = map[string]any

// readOpenAPI makes a request of each operation of a document, from its examples.
func (f *Feed) readOpenAPI(r io.Reader) error {
	src, err := io.ReadAll(io.LimitReader(r, mostEntry+1))
	if err != nil {
		return err
	}
	if len(src) > mostEntry {
		return fmt.Errorf("longer than %d bytes", mostEntry)
	}
	var doc object
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return err
	}
	d := document{doc}
	paths := d.object(doc["paths"])
	if doc["openapi"] == nil || len(paths) == 0 {
		return errors.New("not an OpenAPI 3 document: no openapi, or no paths")
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := d.object(paths[path])
		for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
			op := d.object(item[method])
			if op == nil {
				continue
			}
			if f.full() {
				return nil
			}
			q, err := d.request(strings.ToUpper(method), path, item, op)
			if err == nil {
				err = load.CheckRequest(q)
			}
			if err != nil {
				f.broken(0, strings.ToUpper(method)+" "+path, err)
				continue
			}
			f.Requests = append(f.Requests, q)
		}
	}
	return nil
}

type document struct{ root object }

// object is v, or what it refers to, as a mapping; nil: it is none.
func (d document) object(v any) object {
	o, _ := v.(object)
	for range 16 { // references to references
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		at, found := d.root, strings.HasPrefix(ref, "#/")
		for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at, _ = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)].(object)
		}
		if o = at; !found {
			return nil
		}
	}
	return nil
}

// list is v as a list.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// base is the path that all paths are behind.
func (d document) base() string {
	for _, s := range list(d.root["servers"]) {
		if text, ok := d.object(s)["url"].(string); ok {
			if u, err := url.Parse(text); err == nil {
				return strings.TrimSuffix(u.EscapedPath(), "/")
			}
		}
	}
	return ""
}

// example is the example of a parameter, a schema or a kind of body.
func (d document) example(o object) (any, bool) {
	if v, ok := o["example"]; ok {
		return v, true
	}
	examples := d.object(o["examples"])
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if v, ok := d.object(examples[name])["value"]; ok {
			return v, true
		}
	}
	if l := list(o["examples"]); len(l) > 0 { // of a schema in OpenAPI 3.1
		return l[0], true
	}
	if s := d.object(o["schema"]); s != nil {
		if v, ok := d.example(s); ok {
			return v, true
		}
		if l := list(s["enum"]); len(l) > 0 {
			return l[0], true
		}
		v, ok := s["default"]
		return v, ok
	}
	return nil, false
}

// request is one operation with its examples.
func (d document) request(method, path string, item, op object) (load.Request, error) {
	q := load.Request{Method: method}
	query := url.Values{}
	for _, v := range append(slices.Clone(list(item["parameters"])), list(op["parameters"])...) {
		p := d.object(v)
		name, _ := p["name"].(string)
		value, ok := d.example(p)
		needed, _ := p["required"].(bool)
		text := fmt.Sprint(value)
		switch {
		case !ok && needed:
			return q, fmt.Errorf("no example of %s", name)
		case !ok:
		case p["in"] == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
		case p["in"] == "query":
			query.Set(name, text)
		case p["in"] == "header" && !secret(name):
			q.Header = append(q.Header, [2]string{name, text})
		}
	}
	if _, rest, open := strings.Cut(path, "{"); open {
		name, _, _ := strings.Cut(rest, "}")
		return q, fmt.Errorf("no example of %s", name)
	}
	q.Path = d.base() + path
	if len(query) > 0 {
		q.Path += "?" + query.Encode()
	}
	body := d.object(op["requestBody"])
	kinds := d.object(body["content"])
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		v, ok := d.example(d.object(kinds[kind]))
		if !ok {
			continue
		}
		text, isText := v.(string)
		if q.Body = []byte(text); !isText || strings.Contains(kind, "json") {
			var err error
			if q.Body, err = json.Marshal(v); err != nil {
				return q, fmt.Errorf("the example of %s: %w", kind, err)
			}
		}
		q.Header = append(q.Header, [2]string{"Content-Type", kind})
		return q, nil
	}
	if needed, _ := body["required"].(bool); needed {
		return q, errors.New("no example of the body")
	}
	return q, nil
}
