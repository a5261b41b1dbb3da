package routestudy

import (
	"fmt"
	"strings"
	"testing"
)

func listOf(t *testing.T, name, src string) (*Document, string) {
	t.Helper()
	d, err := Read(name, []byte(src))
	if err != nil {
		t.Fatalf("%.300s: %v", src, err)
	}
	return d, strings.ReplaceAll(strings.TrimSuffix(d.Table.List(), "\n"), "\n", "|")
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, src, want, format, base string }{
		{"a.yaml", "openapi: 3.0.3\npaths:\n  /b: {get: {}, post: {}, summary: x, x-y: {get: {}}}\n  x-z: {get: {}}\n  /a/{id}:\n    delete:\n", "DELETE /a/{id}|GET /b|POST /b", "OpenAPI 3.0.3", ""},
		{"a.yaml", "---\npaths: {/a: {get: }}\nopenapi: 3.1\nservers: []\n", "GET /a", "OpenAPI 3.1", ""},
		{"a.json", `{"openapi": "3.1.0", "servers": [{"url": "https://example.com/v1/"}], "paths": {"/": {"get": {}}, "/a": {"put": {"x": [1, {}]}}}}`, "GET /v1/|PUT /v1/a", "OpenAPI 3.1.0", "/v1"},
		{"a", "swagger: '2.0'\nhost: example.com\nbasePath: /v2/\npaths: {/a: {get: {}}}\nservers: [{url: /v3}]", "GET /v2/a", "Swagger 2.0", "/v2"},
		{"a", "swagger: 2.0\nbasePath: /\npaths: {/a: {get: {}}}", "GET /a", "Swagger 2.0", ""},
		{"a", "openapi: 3.0.0\nservers:\n- url: 'https://{host}:{port}/{base}'\n  variables: {host: {default: h}, base: {default: api/v1}}\npaths: {/a: {get: {}}}", "GET /api/v1/a", "OpenAPI 3.0.0", "/api/v1"},
		{"a", "openapi: 3.0.0\nservers: [{url: 'https://h?x=/y'}]\npaths: {'/a': {get: {}}, \"/b\": {get: {}}}", "GET /a|GET /b", "OpenAPI 3.0.0", ""},
		{"a", "openapi: 3.0.0\nx-c: &c\n  get: {}\n  put: {}\npaths:\n  /a: *c\n  /b:\n    <<: *c\n    post: {}\n  /d: &d {get: {}}\n  /e: *d", "GET /a|PUT /a|GET /b|POST /b|PUT /b|GET /d|GET /e", "OpenAPI 3.0.0", ""},
		{"a", "openapi: 3.0.0\npaths:\n  /a: &a\n    <<: [*a, &b {put: {}}]\n    get: {}\n  /b: {<<: *b}", "GET /a|PUT /a|PUT /b", "OpenAPI 3.0.0", ""},
		{"a", "openapi: 3.0.0\npaths:\n  ? /a\n  : {get: {}}\n", "GET /a", "OpenAPI 3.0.0", ""},
		{"a", "openapi: 3.0.0\npaths: {'/f': {get: {}}, '/f/{path...}': {get: {}, put: {}}, '/f/{path+}': {delete: {}}, '/g/{id}/{p:.*}': {get: {}}, '/h/{*}': {get: {}}, '/i/{*p}': {get: {}}}", "GET /f|DELETE /f/{path...}|GET /f/{path...}|PUT /f/{path...}|GET /g/{id}/{p...}|GET /h/{rest...}|GET /i/{p...}", "OpenAPI 3.0.0", ""},
		{"<stdin>", "\ufeff# mine\n\nGET /a/:b\nput /c\n", "GET /a/{b}|PUT /c", "", ""},
		{"r.TXT", "GET /a", "GET /a", "", ""},
	} {
		d, got := listOf(t, c.name, c.src)
		if got != c.want || d.Format != c.format || d.Base != c.base || len(d.Remarks()) > 0 {
			t.Errorf("%s\n got %s, %q, %q, %q\nwant %s, %q, %q", c.src, got, d.Format, d.Base, d.Remarks(), c.want, c.format, c.base)
		}
	}
}

func TestReadErrors(t *testing.T) {
	deep := "openapi: 3.0.0\npaths: " + strings.Repeat("[", 21000)
	for src, want := range map[string]string{
		"":                          "api.yaml:1:1: nothing in the file; it is for an OpenAPI document, or a list of routes such as GET /users/{id}",
		"hello":                     "api.yaml:1:1: this is text, and no OpenAPI document",
		"[1]":                       "api.yaml:1:1: this is a list, and no OpenAPI document",
		"paths: {}":                 `api.yaml:1:1: it has neither "openapi" nor "swagger"`,
		"openapi: 3.0.0":            "api.yaml:1:1: the document has no paths",
		"openapi: 4.0.0":            "api.yaml:1:10: openapi: 4.0.0 is not known",
		"swagger: 1.2\n":            "api.yaml:1:10: swagger: 1.2 is not known",
		"openapi: [3]":              "api.yaml:1:10: openapi: ",
		"openapi: 3.0.0\npaths:\n":  "api.yaml:2:7: paths is empty, not a mapping",
		"openapi: 3.0.0\npaths: {}": "api.yaml:2:8: the paths have no operations",
		"openapi: 3.0.0\npaths: {/a: {summary: x}}":         "api.yaml:2:8: the paths have no operations",
		"openapi: 3.0.0\npaths:\n  /a: [get]":               "api.yaml:3:7: /a is a list, not a mapping",
		"openapi: 3.0.0\npaths:\n  /a: *b":                  "api.yaml:3:7: ",
		"openapi: 3.0.0\npaths:\n\t/a: {}":                  "api.yaml:3:1: a tab where the line begins",
		"openapi: 3.0.0\npaths: {/a: {get: {}\n":            "api.yaml:2:",
		"openapi: 3.0.0\npaths:\n  /a: {get: {}}\n  /a: {}": "api.yaml:4:3: mapping key \"/a\" already defined",
		"openapi: 3.0.0\n---\nopenapi: 3.0.0\n":             "api.yaml:3:1: a second document",
		"{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": }":    "api.yaml:1:",
		"openapi: 3.0.0\npaths:\n  /f/{a}{b}: {get: {}}":    `api.yaml:3:3: GET /f/{a}{b}: "{a}{b}": a segment may hold one parameter and letters, digits, dots, dashes and underscores; a dot or a dash must follow the parameter, as in /files/v-{name}.json; nothing is left to be measured`,
		"openapi: 3.0.0\npaths: {/a: {head: {}}}":           "api.yaml:2:9: HEAD /a: only GET, POST, PUT, PATCH, DELETE are measured",
		"GET /a\nfoo":                      `api.yaml:2:1: "foo" is not a method and a path`,
		"openapi: 3.0.0\npaths: {\xff: 1}": "api.yaml:2:9: not UTF-8 text",
		deep:                               "api.yaml:2:1007: nested too deeply; write fewer levels",
		"openapi: 3.0.0\nx: " + strings.Repeat("y", MostBytes): fmt.Sprintf("api.yaml:1:1: the file has %d bytes; a description file has at most", MostBytes+18),
	} {
		_, err := Read("api.yaml", []byte(src))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("%.80q: %v\nwant %s", src, err, want)
		}
	}
}

// TestRemarks: what is left out or changed is named with its place.
func TestRemarks(t *testing.T) {
	d, _ := listOf(t, "api.yaml", `openapi: 3.0.0
servers: [{url: /v1}, {url: /v2}, {url: /v3}]
paths:
  /u/{id}: {get: {}, head: {}}
  /u/{name}: {get: {}}
  /u/{user}/p: {get: {}}
  /f/{a}{b}: {get: {}}
  /else: {$ref: other.yaml#/x}
  /files/{path}: {get: {}}
  /files/{path...}: {get: {}}
  /a/:id: {get: {}}
  /b/*: {get: {}}
  /c/{id: {get: {}}
  /d/id}: {get: {}}
  /e: {servers: {url: /v2}, get: {}}
`)
	want := []string{
		`api.yaml:2:23: this server has its paths below "/v2/"; those of the first one, below "/v1/", are measured`,
		`api.yaml:8:11: /else: its $ref (other.yaml#/x) is in another document, and only this one is read; left out`,
		`api.yaml:11:3: GET /v1/a/:id: ":id" is plain text in OpenAPI and a parameter of routers; write {name}; left out`,
		`api.yaml:12:3: GET /v1/b/*: "*" is plain text in OpenAPI and a parameter of routers; write {name}; left out`,
		"api.yaml:13:3: GET /v1/c/{id: its path does not close a brace; left out",
		"api.yaml:14:3: GET /v1/d/id}: its path closes a brace that it does not open; left out",
		"api.yaml:15:8: GET /e: servers is a mapping, not a list; left out",
		"api.yaml:4:3: HEAD /v1/u/{id}: only GET, POST, PUT, PATCH, DELETE are measured: routers answer other methods by themselves, or not at all; left out",
		"api.yaml:5:3: GET /v1/u/{name}: it is the same route as GET /v1/u/{id} in line 4; left out",
		`api.yaml:7:3: GET /v1/f/{a}{b}: "{a}{b}": a segment may hold one parameter and letters, digits, dots, dashes and underscores; a dot or a dash must follow the parameter, as in /files/v-{name}.json; left out`,
		"api.yaml:10:3: GET /v1/files/{path...}: a catch-all, and GET /v1/files/{path} in line 9 can be for the same paths: not all routers can have both; left out",
		"api.yaml:6:3: GET /v1/u/{user}/p names a parameter otherwise than another route of the same place does, which several routers refuse; all are asked for one name, here /v1/u/{id}/p",
	}
	if got := d.Remarks(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d, _ = listOf(t, "r.txt", "GET /a/{x}/c\nGET /a/b/{y}\n")
	if got := strings.Join(d.Remarks(), "\n"); got != "r.txt:2:1: GET /a/b/{y} and GET /a/{x}/c (r.txt:1:1) both match some paths, and neither is more specific: net/http cannot have both, and chi is the baseline instead" {
		t.Error(got)
	}
	bad := "openapi: 3.0.0\npaths:\n  /ok: {get: {}}\n"
	for i := range 25 {
		bad += fmt.Sprintf("  /%d/:id: {get: {}}\n", i)
	}
	d, _ = listOf(t, "api.yaml", bad)
	if got := d.Remarks(); len(got) != maxSkipped+1 || got[maxSkipped] != "api.yaml: 15 more paths are left out" {
		t.Errorf("%d remarks, the last %s", len(got), got[len(got)-1])
	}
	many := "GET /ok\n" + strings.Repeat("HEAD /a\n", 25)
	d, _ = listOf(t, "r.txt", many)
	if got := d.Remarks(); len(got) != maxSkipped+1 || got[maxSkipped] != "r.txt: 15 more routes are omitted" {
		t.Errorf("%d remarks, the last %s", len(got), got[len(got)-1])
	}
}

// TestReferences: a path item may be elsewhere in the same document.
func TestReferences(t *testing.T) {
	d, got := listOf(t, "api.yaml", `openapi: 3.1.0
paths:
  /a: {get: {}, $ref: '#/components/pathItems/one', delete: {}}
  /b: {$ref: '#/paths/~1a'}
  /c: {$ref: '#/x-list/1'}
  /circle: {put: {}, $ref: '#/paths/~1circle'}
  /none: {$ref: '#/components/none'}
  /list: {$ref: '#/x-list'}
  /%7Bx%7D: {$ref: '#/paths/~1%257Bx%257D'}
components:
  pathItems:
    one: {get: {}, post: {}}
x-list: [0, {patch: {}}]
`)
	if want := "DELETE /a|GET /a|POST /a|DELETE /b|GET /b|POST /b|PATCH /c|PUT /circle"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	want := []string{
		"api.yaml:6:22: /circle: its $ref (#/paths/~1circle) leads in a circle; left out",
		"api.yaml:7:11: /none: its $ref (#/components/none) is not in the document; left out",
		"api.yaml:8:11: /list: its $ref (#/x-list) is a list, and no path item; left out",
		"api.yaml:9:14: /%7Bx%7D: its $ref (#/paths/~1%257Bx%257D) leads in a circle; left out",
	}
	if got := d.Remarks(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestALargeDocument: ten thousand routes, with what documents say of each.
func TestALargeDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.3\npaths:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  /v1/r%d/{id}/s%d:\n    get: {responses: {\"200\": {description: \"fine [1\"}}}\n    post: {responses: {\"200\": {description: ok}}}\n", i, i%7)
	}
	d, _ := listOf(t, "api.yaml", b.String())
	if len(d.Table.Routes) != 10000 || len(d.Remarks()) > 0 {
		t.Errorf("%d routes, %q", len(d.Table.Routes), d.Remarks())
	}
	if _, err := Read("r.txt", []byte(d.Table.List()+strings.ReplaceAll(d.Table.List(), "/v1/", "/v2/")+"GET /x\n")); err == nil || err.Error() != "r.txt: 20001 routes; a table has at most 20000" {
		t.Errorf("%v", err)
	}
}

// FuzzRead: whatever is in a file, it is refused in one line, or its routes can
// be listed and read again.
func FuzzRead(f *testing.F) {
	f.Add("openapi: 3.0.0\npaths: {/a/{b}: {get: {}}}\n")
	f.Add("swagger: '2.0'\nbasePath: v1\npaths:\n  /a: &x {get: }\n  /b: *x\n")
	f.Add("openapi: 3.1\nservers: [{url: '{a}', variables: {a: {default: /b}}}]\npaths: {/a: {<<: {put: 1}}}")
	f.Add("openapi: 3.1.0\npaths: {/a: {get: {}}, /b: {$ref: '#/paths/~1a'}, /c: {$ref: '#/paths/~1c'}}")
	f.Add("GET /a\nput /b/:c # x\n")
	f.Add("openapi: 3.0.0\npaths: {/f/{p...}: {get: {}, put: {}}, '/f/*': {post: {}}, /f/x: {put: {}}}\n")
	f.Add("{\"openapi\": \"3\", \"paths\": {\"/a\": {\"get\": {}}}}")
	f.Add("openapi: 3.0.0\na: &a *a\npaths: *a\n")
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Read("file", []byte(src))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "file:") {
				t.Errorf("%q", err)
			}
			return
		}
		again, err := Read("again.txt", []byte(d.Table.List()))
		if err != nil || again.Table.List() != d.Table.List() {
			t.Errorf("%v: %q", err, d.Table.List())
		}
		d.Remarks()
	})
}

// TestParts: where a parameter is a part of a segment, chi is the baseline, and
// a remark says so with the place of the first such route.
func TestParts(t *testing.T) {
	d, _ := listOf(t, "api.yaml", "openapi: 3.0.0\npaths:\n  /a/{id}: {get: {}}\n  /a/{id}.json: {get: {}, put: {}}\n")
	want := "api.yaml:4:3: GET /a/{id}.json has a parameter that is a part of a segment (and 1 more has): the routers that can have such a table are measured on it, chi is the baseline, and the others are void and say so; --whole-segments leaves such routes out and measures all"
	if got := d.Remarks(); len(got) != 1 || got[0] != want || d.Baseline() != "chi" {
		t.Errorf("got %q, baseline %s", got, d.Baseline())
	}
	d, _ = listOf(t, "api.yaml", "openapi: 3.0.0\npaths:\n  /a/{id}: {get: {}}\n")
	if got := d.Remarks(); len(got) != 0 || d.Baseline() != "nethttp" {
		t.Errorf("got %q, baseline %s", got, d.Baseline())
	}
}
