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

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/load"
)

// object is a mapping of a document.
type object = map[string]any

// readOpenAPI makes a request of each operation of a document, from its examples.
func (f *Feed) readOpenAPI(name string, r io.Reader) error {
	src, err := io.ReadAll(io.LimitReader(r, yamlfile.MaxOpenAPI+1))
	if err != nil {
		return err
	}
	_, root, err := yamlfile.Open(name, src, yamlfile.OpenAPI())
	if err != nil {
		return err
	}
	var doc object
	if err := yaml.NodeToValue(root, &doc); err != nil {
		return err
	}
	d := &document{root: doc}
	d.base = d.server()
	paths := d.object(doc["paths"])
	if doc["openapi"] == nil || len(paths) == 0 {
		return errors.New("not an OpenAPI 3 document: no openapi, or no paths")
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := d.object(paths[path])
		if item == nil {
			f.broken(0, path, noObject(paths[path]))
			continue
		}
		for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
			v, there := item[method]
			if !there {
				continue
			}
			if f.More = f.More || d.cost > mostRead; f.full() {
				return nil
			}
			op, q, err := d.object(v), load.Request{}, noObject(v)
			if op != nil {
				q, err = f.described(d, strings.ToUpper(method), path, item, op)
			}
			if err == nil {
				err = load.CheckRequest(q)
			}
			if err == nil && length(q) > mostEntry {
				err = fmt.Errorf("longer than %d bytes", mostEntry)
			}
			if err != nil {
				f.broken(0, strings.ToUpper(method)+" "+path, err)
				continue
			}
			f.keep(q)
		}
	}
	return nil
}

type document struct {
	root object
	base string // the path that all paths are behind
	cost int    // what was read, in bytes of examples or as much work: an anchor may stand for many
}

// Costs in bytes of an example, which take about as long.
const (
	costOfParameter = 100
	costOfKey       = 200 // that is sorted
)

// object is v, or what it refers to, as a mapping; nil: it is none.
func (d *document) object(v any) object {
	o, _ := v.(object)
	for range 16 { // references to references
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		pointer, found := strings.CutPrefix(ref, "#/")
		if !found || len(ref) > yamlfile.MaxRef {
			return nil
		}
		d.cost += 10 * len(ref)
		o = d.root
		for key := range strings.SplitSeq(pointer, "/") {
			o, _ = o[yamlfile.PointerKey(key)].(object)
		}
	}
	return nil
}

// noObject is why object has none of v.
func noObject(v any) error {
	o, _ := v.(object)
	if ref, ok := o["$ref"].(string); ok {
		return fmt.Errorf("$ref: %s is not in this document; bundle all its files into one", ref)
	}
	return errors.New("not a mapping")
}

// list is v as a list.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// server is the path of the first server.
func (d *document) server() string {
	for _, s := range list(d.root["servers"]) {
		if text, ok := d.object(s)["url"].(string); ok {
			if u, err := url.Parse(text); err == nil {
				return strings.TrimSuffix(u.EscapedPath(), "/")
			}
		}
	}
	return ""
}

// example is the example of a parameter or a kind of body, or of its schema.
func (d *document) example(o object) (any, error) {
	v, ok := d.ownExample(o)
	if s := d.object(o["schema"]); !ok && s != nil {
		if v, ok = d.ownExample(s); !ok {
			if l := list(s["enum"]); len(l) > 0 {
				v, ok = l[0], true
			} else {
				v, ok = s["default"]
			}
		}
	}
	if !ok {
		return nil, errNoExample
	}
	n := size(v, mostExample)
	d.cost += n
	switch {
	case n > mostExample:
		return nil, fmt.Errorf("an example of more than %d bytes", mostExample)
	case d.cost > mostRead:
		return nil, fmt.Errorf("more than %d bytes of examples until here", mostRead)
	}
	return v, nil
}

var errNoExample = errors.New("no example")

// ownExample is an example that stands at a parameter, a schema or a kind of body.
func (d *document) ownExample(o object) (any, bool) {
	if v, ok := o["example"]; ok {
		return v, true
	}
	examples := d.object(o["examples"])
	d.cost += costOfKey * len(examples)
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if v, ok := d.object(examples[name])["value"]; ok {
			return v, true
		}
	}
	if l := list(o["examples"]); len(l) > 0 { // of a schema in OpenAPI 3.1
		return l[0], true
	}
	return nil, false
}

// size is how many bytes v takes when it is written, about; it stops counting beyond
// most. A document of a few bytes can repeat an anchor any number of times.
func size(v any, most int) (n int) {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case []any:
		for i := 0; i < len(v) && n <= most; i++ {
			n += size(v[i], most-n) + 1
		}
	case object:
		for k, x := range v {
			if n += len(k) + 3 + size(x, most-n); n > most {
				break
			}
		}
	}
	return n + 2
}

// described returns the request of one operation, made from its examples. Parameters
// with secret names are held back.
func (f *Feed) described(d *document, method, path string, item, op object) (load.Request, error) {
	q := load.Request{Method: method}
	query, long := url.Values{}, 0
	for _, v := range append(slices.Clone(list(item["parameters"])), list(op["parameters"])...) {
		d.cost += costOfParameter
		p := d.object(v)
		name, _ := p["name"].(string)
		value, err := d.example(p)
		needed, _ := p["required"].(bool)
		text := fmt.Sprint(value)
		switch {
		case err != nil && (needed || !errors.Is(err, errNoExample)):
			return q, fmt.Errorf("%w of %s", err, name)
		case err != nil:
		case p["in"] == "path":
			if len(path)+strings.Count(path, "{"+name+"}")*3*len(text) > mostLine {
				return q, fmt.Errorf("the example of %s makes a path of more than %d bytes", name, mostLine)
			}
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
		case (p["in"] == "query" || p["in"] == "header") && f.holdsBack(name):
		case p["in"] == "query":
			if long += 3 * (len(name) + len(text)); long > mostEntry {
				return q, fmt.Errorf("the example of %s makes a query of more than %d bytes", name, mostEntry)
			}
			query.Set(name, text)
		case p["in"] == "header":
			q.Header = append(q.Header, [2]string{name, text})
		}
	}
	if _, rest, open := strings.Cut(path, "{"); open {
		name, _, _ := strings.Cut(rest, "}")
		return q, fmt.Errorf("%w of %s", errNoExample, name)
	}
	q.Path = d.base + path
	if len(query) > 0 {
		q.Path += "?" + query.Encode()
	}
	body := d.object(op["requestBody"])
	kinds := d.object(body["content"])
	d.cost += costOfKey * len(kinds)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		v, err := d.example(d.object(kinds[kind]))
		if errors.Is(err, errNoExample) {
			continue
		}
		if err != nil {
			return q, fmt.Errorf("%w of %s", err, kind)
		}
		text, isText := v.(string)
		if q.Body = []byte(text); !isText || strings.Contains(kind, "json") {
			if q.Body, err = json.Marshal(v); err != nil {
				return q, fmt.Errorf("the example of %s: %w", kind, err)
			}
		}
		q.Header = append(q.Header, [2]string{"Content-Type", kind})
		return q, nil
	}
	if needed, _ := body["required"].(bool); needed {
		return q, fmt.Errorf("%w of the body", errNoExample)
	}
	return q, nil
}
