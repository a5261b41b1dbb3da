package router

import (
	"fmt"
	"strings"
	"testing"
)

func document(paths string) []byte { return []byte(`{"openapi": "3.0.3", "paths": {` + paths + `}}`) }

func TestOpenAPI(t *testing.T) {
	for _, c := range []struct {
		doc  []byte
		want string
	}{
		{document(`"/a": {"get": {}, "head": {}, "options": {}, "trace": {}, "summary": "x"}`), "GET /a"},
		{document(`"/b": {"get": {}}, "/a/": {"post": null}`), "POST /a/|GET /b"},
		// a literal before a parameter, whatever they are called, and whatever follows
		{document(`"/{a}/z": {"get": {}}, "/b/{c}": {"get": {}}, "/b/c": {"get": {}}, "/~": {"get": {}}`), "GET /b/c|GET /b/{c}|GET /~|GET /{a}/z"},
		// one name for one place
		{document(`"/u/{id}": {"get": {}}, "/u/{user}/p": {"get": {}}, "/u/{user}/p/{id}": {"get": {}}`), "GET /u/{id}|GET /u/{id}/p|GET /u/{id}/p/{id2}"},
		{document(`"/{über-id}/{1}/{_x}": {"get": {}}`), "GET /{p_ber_id}/{p1}/{p_x}"},
		{[]byte(`{"swagger": "2.0", "basePath": "/v1/", "paths": {"/a/{b}": {"get": {}}}}`), "GET /v1/a/{b}"},
	} {
		routes, err := openAPI(c.doc)
		if err != nil {
			t.Errorf("%s: %v", c.doc, err)
			continue
		}
		var got []string
		for _, r := range routes {
			got = append(got, r.Method+" "+r.Path)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.doc, strings.Join(got, "|"), c.want)
		}
		if _, _, err := format(routes, nil); err != nil {
			t.Errorf("%s: contenders could not read it: %v", c.doc, err)
		}
	}
}

func TestNoOpenAPI(t *testing.T) {
	for want, doc := range map[string][]byte{
		":1:1: unexpected end of JSON input":                                   {},
		":2:7: invalid character":                                              []byte("{\n \"a\": ]}"),
		"paths is a number":                                                    []byte(`{"openapi": "3.0.3", "paths": 7}`),
		`it has neither "openapi" nor "swagger"`:                               []byte(`{"paths": {"/a": {"get": {}}}}`),
		": the document has no paths":                                          document(""),
		"has 0 operations":                                                     document(`"/a": {"trace": {}}`),
		": paths: a: a path begins with a slash":                               document(`"a": {"get": {}}`),
		`: paths: /f/{name}.json: segment "{name}.json": only a whole segment`: document(`"/f/{name}.json": {"get": {}}`),
		`segment "{}": only a whole segment`:                                   document(`"/{}": {"get": {}}`),
		`segment "{a}{b}": only a whole segment`:                               document(`"/{a}{b}": {"get": {}}`),
		`segment "users:batch": routers give a meaning`:                        document(`"/users:batch": {"get": {}}`),
		`segment "*": routers give a meaning`:                                  document(`"/*": {"get": {}}`),
		"it has an empty segment":                                              document(`"/a//b": {"get": {}}`),
		": paths: /a/{b} and /a/{c} are the same route for GET":                document(`"/a/{c}": {"get": {}}, "/a/{b}": {"get": {}}`),
	} {
		_, err := openAPI(doc)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), ":") {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}

func TestTooManyRoutes(t *testing.T) {
	var paths []string
	for i := range mostRoutes + 1 {
		paths = append(paths, fmt.Sprintf(`"/a%d": {"get": {}}`, i))
	}
	if _, err := openAPI(document(strings.Join(paths, ","))); err == nil || !strings.Contains(err.Error(), "5001 operations") {
		t.Errorf("%v", err)
	}
}

// FuzzOpenAPI: whatever is in a document, it is refused in one line, or
// becomes a table that contenders can read, the same each time.
func FuzzOpenAPI(f *testing.F) {
	f.Add(document(`"/a/{b}": {"get": {}}, "/a/b/": {"post": {}}`))
	f.Add(document(`"/u/{id}/{id2}": {"get": {}}, "/u/{user}/{id}": {"get": {}}`))
	f.Add([]byte(`{"swagger": "2.0", "basePath": "v1", "paths": {"/{a}b": {"get": {}}}}`))
	f.Add([]byte("{\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		routes, err := openAPI(src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), ":") {
				t.Errorf("%v", err)
			}
			return
		}
		raw, spec, err := format(routes, nil)
		if err != nil {
			t.Fatalf("%v: contenders cannot read %v", err, routes)
		}
		again, _ := openAPI(src)
		if same, _, err := format(again, nil); err != nil || string(same) != string(raw) {
			t.Errorf("%s, then %s", raw, same)
		}
		for _, r := range spec.Routes {
			if _, ok := spec.Answer(request(r.Method, concrete(r.BracePath()))); !ok {
				t.Errorf("no answer to %s %s", r.Method, r.BracePath())
			}
		}
	})
}
