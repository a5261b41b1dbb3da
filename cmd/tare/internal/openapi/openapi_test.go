package openapi

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// describe returns the requests of a document in words, one a line, and why there is none
// of an operation.
func describe(t *testing.T, name, src string) string {
	t.Helper()
	d, err := Read(name, []byte(src))
	if err != nil {
		t.Fatalf("%.200s: %v", src, err)
	}
	var out []string
	r := NewRequests(d)
	for _, op := range d.Operations {
		q, err := r.Make(op)
		if err != nil {
			out = append(out, fmt.Sprintf("%s %s: %v", op.Method, op.Path, err))
			continue
		}
		line := q.Method + " " + q.Path
		for _, h := range q.Header {
			line += " " + h[0] + "=" + h[1]
		}
		if len(q.Body) > 0 {
			line += " " + string(q.Body)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestCase(t *testing.T) {
	src, err := os.ReadFile("testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := `GET /api/v2/users/42?ids=1&ids=2&filter%5Bage%5D=5&filter%5Bname%5D=ada&since=2026-01-02&big=12345678901234567890&ratio=1000000.0&zip=01234 X-Ids=a,b Cookie=sid=c00kie
POST /api/v2/login Content-Type=application/x-www-form-urlencoded user=ada&pass=a%26b
POST /api/v2/xml: the example of application/xml: it is a mapping, and not the text of a body
POST /other/pets Content-Type=application/json {"name":"Rex","age":3}
GET /api/v2/list/a,b%20c`
	if got := describe(t, "api.yaml", string(src)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// operation is a document with one operation, POST /a, that has these parameters and the
// rest.
func operation(parameters, rest string) string {
	return "openapi: 3.0.0\npaths:\n  /a" + strings.Repeat("/{p}", strings.Count(parameters, "in: path")) +
		":\n    post: {parameters: [" + parameters + "]" + rest + "}\n"
}

// The values of OpenAPI 3.1.1, Style Examples.
func TestStyles(t *testing.T) {
	examples := map[string]string{"empty": `""`, "text": "blue", "list": "[blue, black, brown]", "mapping": "{R: 100, G: 200, B: 150}"}
	for _, c := range []struct{ in, style, explode, kind, want string }{
		{"path", "matrix", "false", "empty", "/a/;p"},
		{"path", "matrix", "false", "text", "/a/;p=blue"},
		{"path", "matrix", "false", "list", "/a/;p=blue,black,brown"},
		{"path", "matrix", "false", "mapping", "/a/;p=R,100,G,200,B,150"},
		{"path", "matrix", "true", "text", "/a/;p=blue"},
		{"path", "matrix", "true", "list", "/a/;p=blue;p=black;p=brown"},
		{"path", "matrix", "true", "mapping", "/a/;R=100;G=200;B=150"},
		{"path", "label", "false", "text", "/a/.blue"},
		{"path", "label", "false", "list", "/a/.blue,black,brown"},
		{"path", "label", "false", "mapping", "/a/.R,100,G,200,B,150"},
		{"path", "label", "true", "list", "/a/.blue.black.brown"},
		{"path", "label", "true", "mapping", "/a/.R=100.G=200.B=150"},
		{"path", "simple", "false", "empty", "the example of p is empty"},
		{"path", "simple", "false", "text", "/a/blue"},
		{"path", "simple", "false", "list", "/a/blue,black,brown"},
		{"path", "simple", "false", "mapping", "/a/R,100,G,200,B,150"},
		{"path", "simple", "true", "list", "/a/blue,black,brown"},
		{"path", "simple", "true", "mapping", "/a/R=100,G=200,B=150"},
		{"query", "form", "false", "empty", "/a?p="},
		{"query", "form", "false", "text", "/a?p=blue"},
		{"query", "form", "false", "list", "/a?p=blue,black,brown"},
		{"query", "form", "false", "mapping", "/a?p=R,100,G,200,B,150"},
		{"query", "form", "true", "list", "/a?p=blue&p=black&p=brown"},
		{"query", "form", "true", "mapping", "/a?R=100&G=200&B=150"},
		{"query", "spaceDelimited", "false", "list", "/a?p=blue%20black%20brown"},
		{"query", "spaceDelimited", "false", "mapping", "/a?p=R%20100%20G%20200%20B%20150"},
		{"query", "spaceDelimited", "true", "list", "/a?p=blue&p=black&p=brown"},
		{"query", "pipeDelimited", "false", "list", "/a?p=blue%7Cblack%7Cbrown"},
		{"query", "pipeDelimited", "false", "mapping", "/a?p=R%7C100%7CG%7C200%7CB%7C150"},
		{"query", "pipeDelimited", "true", "list", "/a?p=blue&p=black&p=brown"},
		{"query", "deepObject", "true", "mapping", "/a?p%5BR%5D=100&p%5BG%5D=200&p%5BB%5D=150"},
		{"query", "deepObject", "false", "mapping", "/a?p%5BR%5D=100&p%5BG%5D=200&p%5BB%5D=150"},
		{"query", "deepObject", "true", "list", "the example of p: style deepObject is for mappings"},
		{"query", "simple", "false", "text", `parameter p: style "simple" is not one of a query parameter`},
		{"header", "simple", "false", "text", "/a p=blue"},
		{"header", "simple", "false", "list", "/a p=blue,black,brown"},
		{"header", "simple", "false", "mapping", "/a p=R,100,G,200,B,150"},
		{"header", "simple", "true", "list", "/a p=blue,black,brown"},
		{"header", "simple", "true", "mapping", "/a p=R=100,G=200,B=150"},
		{"cookie", "form", "false", "list", "/a Cookie=p=blue,black,brown"},
		{"cookie", "form", "false", "mapping", "/a Cookie=p=R,100,G,200,B,150"},
		{"cookie", "form", "true", "text", "/a Cookie=p=blue"},
		{"cookie", "form", "true", "list", "/a Cookie=p=blue; p=black; p=brown"},
	} {
		src := operation(fmt.Sprintf("{name: p, in: %s, style: %s, explode: %s, example: %s}", c.in, c.style, c.explode, examples[c.kind]), "")
		if got := describe(t, "f", src); got != "POST "+c.want && !strings.HasSuffix(got, ": "+c.want) {
			t.Errorf("%s %s, explode %s, %s: %s, want %s", c.in, c.style, c.explode, c.kind, got, c.want)
		}
	}
}

func TestParameters(t *testing.T) {
	for name, c := range map[string]struct{ parameters, want string }{
		"defaults of a query":    {"{name: p, in: query, example: [1, 2]}, {name: q, in: query, example: {a: 1}}", "/a?p=1&p=2&a=1"},
		"defaults of a path":     {"{name: p, in: path, example: [1, 'b c/d']}", "/a/1,b%20c%2Fd"},
		"escaped":                {"{name: 'ä [x]', in: query, example: 'a&b=c+d e%'}", "/a?%C3%A4%20%5Bx%5D=a%26b%3Dc%2Bd%20e%25"},
		"reserved":               {"{name: p, in: query, allowReserved: true, example: 'http://h/a?b=c&d#e'}", "/a?p=http://h/a?b%3Dc%26d%23e"},
		"null":                   {"{name: p, in: query, example: null}, {name: q, in: query, example: [1, null, 2]}, {name: r, in: query, example: ~, schema: {default: 3}}", "/a?q=1&q=2&r=3"},
		"null that is needed":    {"{name: p, in: query, required: true, example: null}", ": no example of p"},
		"empty list":             {"{name: p, in: query, example: []}", "/a"},
		"empty list, needed":     {"{name: p, in: query, required: true, example: []}", ": the example of p is empty"},
		"a list in a list":       {"{name: p, in: query, example: [[1]]}", ": the example of p: it has a list within a list, for which style form has no form"},
		"JSON":                   {"{name: p, in: query, content: {application/json: {example: {a: [1, x]}}}}", "/a?p=%7B%22a%22%3A%5B1%2C%22x%22%5D%7D"},
		"numbers":                {"{name: p, in: query, explode: false, example: [1.50, 1e+06, 0x1F, 01234, -0, 123456789012345678901234567890, .5, true, 2026-01-02T03:04:05Z, 2026-01-02]}", "/a?p=1.50,1e%2B06,0x1F,01234,-0,123456789012345678901234567890,.5,true,2026-01-02T03%3A04%3A05Z,2026-01-02"},
		"examples":               {"{name: p, in: query, examples: {z: {summary: x}, b: {value: 1}, a: {value: 2}}}", "/a?p=1"},
		"external examples":      {"{name: p, in: query, examples: {z: {externalValue: 'http://x'}}}", "/a"},
		"of the schema":          {"{name: p, in: query, schema: {example: 1, default: 2}}, {name: q, in: query, schema: {default: 2, enum: [3]}}, {name: r, in: query, schema: {enum: [null, 4, 5]}}, {name: s, in: query, schema: {type: array, items: {default: 6}}}, {name: t, in: query, schema: {const: 7}}", "/a?p=1&q=2&r=4&s=6&t=7"},
		"of allOf":               {"{name: p, in: query, schema: {allOf: [{type: string}, {default: x}]}}", "/a?p=x"},
		"described elsewhere":    {"{name: Accept, in: header, example: x}, {name: content-type, in: header, example: x}, {name: Authorization, in: header, required: true}", "/a"},
		"no place":               {"{name: p, example: 1}", `: parameter p: in: "" is no place of a parameter`},
		"a lost reference":       {"{$ref: 'b.yaml#/x'}", ": a parameter: its $ref (b.yaml#/x) is in another document, and only this one is read"},
		"a lost schema":          {"{name: p, in: query, schema: {$ref: '#/x'}}", "/a"},
		"a lost schema, needed":  {"{name: p, in: query, required: true, schema: {$ref: '#/x'}}", ": no example of p: its $ref (#/x) is not in the document"},
		"a style nobody has":     {"{name: p, in: query, style: x, example: 1}", `: parameter p: style "x" is not one of a query parameter`},
		"minItems":               {"{name: p, in: query, required: true, schema: {type: array, minItems: 2, items: {example: 1}}}", ": no example of p: it needs 2 items"},
		"a schema in itself":     {"{name: p, in: query, required: true, schema: &s {properties: {a: *s , b: {example: 1}}}}", "/a?b=1"},
		"only in itself":         {"{name: p, in: query, required: true, schema: &s {properties: {a: *s }}}", ": no example of p"},
		"the first alternative":  {"{name: p, in: query, schema: {oneOf: [{type: string}, {example: 1}, {example: 2}]}}", "/a?p=1"},
		"a property that is not": {"{name: p, in: query, required: true, schema: {required: [a, b], properties: {a: {example: 1}}}}", ": no example of p: b has none"},
	} {
		got := describe(t, "f", operation(c.parameters, ""))
		if want := "POST " + c.want; got != want && got != "POST /a"+c.want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	src := `openapi: 3.1.0
servers: [{url: '//h/{v}/', variables: {v: {default: v1}}}]
components: {parameters: {id: {name: id, in: path, example: 1}}}
paths:
  /a/{id}?x=1:
    parameters: [{$ref: '#/components/parameters/id'}, {name: id, in: query, example: 2}]
    get: {parameters: [{name: q, in: query, example: 3}, {name: id, in: path, example: 4}], servers: [{url: ./v2}]}
    put: {}
    servers: []
  /b#c: {get: }
  /d e/%20/ü: {$ref: '#/paths/~1f'}
  /f: {servers: [{url: 'https://h:1/f/g?x'}], head: {parameters: [{name: p, in: query, schema: {$ref: '#/components/parameters/id', default: 9}}]}}
  /{id}/{none}: {get: {parameters: [{$ref: '#/components/parameters/id'}]}}
`
	want := `GET /v2/a/4?x=1&id=2&q=3
PUT /v1/a/1?x=1&id=2
GET /v1/b#c: a path with # cannot be requested
HEAD /f/g/d%20e/%20/%C3%BC?p=9
HEAD /f/g/f?p=9
GET /v1/{id}/{none}: no example of none`
	if got := describe(t, "f", src); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestBodies(t *testing.T) {
	const item = "schema: {type: object, required: [zip], properties: {zip: {type: string, example: 01234}, at: {type: string, format: date-time, example: 2026-01-02T03:04:05Z}, n: {type: integer, example: 0042}, big: {example: 12345678901234567890}, f: {type: number, example: 1000000.0}, id: {readOnly: true, example: 1}, ok: {type: string, example: true}, none: {nullable: true}}}"
	for name, c := range map[string]struct{ content, want string }{
		"types of the schema":    {"application/json: {" + item + "}", `application/json {"zip":"01234","at":"2026-01-02T03:04:05Z","n":42,"big":12345678901234567890,"f":1000000.0,"ok":"true"}`},
		"an example":             {"application/json; charset=utf-8: {example: {zip: 01234, at: 2026-01-02, n: 0x1F, o: -0o17, u: [+5, .5, 5., 1e3, 6.0e2], x: null, y: '<&>', z: True, e: {}, l: []}, " + item + "}", `application/json; charset=utf-8 {"zip":"01234","at":"2026-01-02","n":31,"o":-15,"u":[5,0.5,5,1e3,6.0e2],"x":null,"y":"<&>","z":true,"e":{},"l":[]}`},
		"without a schema":       {"application/json: {example: {zip: 01234, n: 5, s: '5'}}", `application/json {"zip":"01234","n":5,"s":"5"}`},
		"no number of JSON":      {"application/json: {example: {n: .inf}, schema: {properties: {n: {type: number}}}}", ": the example of application/json: .inf is no number of JSON"},
		"JSON in a text":         {`application/json: {example: '{"a": 1.0}', schema: {type: object}}`, `application/json {"a": 1.0}`},
		"a text":                 {`application/json: {example: '{"a": 1}', schema: {type: string}}`, `application/json "{\"a\": 1}"`},
		"no JSON in a text":      {"application/json: {example: 'a: 1', schema: {type: object}}", ": the example of application/json: it is text, and not JSON"},
		"composed":               {"application/json: {schema: {allOf: [{properties: {a: {example: 1}}}, {properties: {a: {example: 2}, b: {type: string, example: 3}}}], properties: {c: {default: x}}}}", `application/json {"c":"x","a":1,"b":"3"}`},
		"a list":                 {"application/json: {schema: {type: array, items: {properties: {a: {enum: [x, y]}}}}}", `application/json [{"a":"x"}]`},
		"nothing":                {"application/json: {schema: {type: object, properties: {a: {type: string}}}}", ": no example of the body"},
		"a part is missing":      {"application/json: {schema: {required: [a], properties: {a: {required: [b], properties: {b: {}}}}}}", ": no example of the body: b has none"},
		"the second type":        {"application/xml: {}, text/plain: {example: hello}", "text/plain hello"},
		"XML":                    {"application/xml: {example: <a>1</a>}", "application/xml <a>1</a>"},
		"XML of a mapping":       {"application/xml: {example: {a: 1}}", ": the example of application/xml: it is a mapping, and not the text of a body"},
		"XML of a schema":        {"application/xml: {schema: {properties: {a: {example: 1}}}}", ": the example of application/xml: it is a mapping, and not the text of a body"},
		"any type":               {"'*/*': {example: {a: 1}}", ": the body has the content type */*, which cannot be sent"},
		"a form":                 {"application/x-www-form-urlencoded: {example: {user: ada, pass: 'a&b', n: [1, 2], none: null, 'x y': é}}", "application/x-www-form-urlencoded user=ada&pass=a%26b&n=1&n=2&x%20y=%C3%A9"},
		"a form of a schema":     {"application/x-www-form-urlencoded: {schema: {properties: {zip: {type: string, default: 01234}}}}", "application/x-www-form-urlencoded zip=01234"},
		"a form as written":      {"application/x-www-form-urlencoded: {example: a=b&c=d+e}", "application/x-www-form-urlencoded a=b&c=d+e"},
		"a mapping in a form":    {"application/x-www-form-urlencoded: {example: {a: {b: 1}}}", ": the example of application/x-www-form-urlencoded: a is a mapping, and no style sets how a form has it"},
		"styles of a form":       {"application/x-www-form-urlencoded: {example: {a: {b: 1}, c: [1, 2]}, encoding: {a: {style: deepObject}, c: {explode: false}}}", "application/x-www-form-urlencoded a%5Bb%5D=1&c=1,2"},
		"many parts":             {"multipart/form-data: {schema: {properties: {n: {type: integer}, file: {type: string, format: binary}}}, example: {n: 5, file: abc, tags: [x, y], at: {a: 01}, pic: z, none: null}, encoding: {pic: {contentType: 'image/png, image/jpeg'}}}", "multipart/form-data; boundary=tare-part-0 " + strings.ReplaceAll("--tare-part-0|Content-Disposition: form-data; name=\"n\"||5|--tare-part-0|Content-Disposition: form-data; name=\"file\"; filename=\"file\"|Content-Type: application/octet-stream||abc|--tare-part-0|Content-Disposition: form-data; name=\"tags\"||x|--tare-part-0|Content-Disposition: form-data; name=\"tags\"||y|--tare-part-0|Content-Disposition: form-data; name=\"at\"|Content-Type: application/json||{\"a\":\"01\"}|--tare-part-0|Content-Disposition: form-data; name=\"pic\"|Content-Type: image/png||z|--tare-part-0--|", "|", "\r\n")},
		"a part like a boundary": {"multipart/form-data: {example: {a: tare-part-0}}", "multipart/form-data; boundary=tare-part-1 --tare-part-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ntare-part-0\r\n--tare-part-1--\r\n"},
	} {
		got := describe(t, "f", operation("", ", requestBody: {required: true, content: {"+c.content+"}}"))
		want := "POST /a" + c.want
		if !strings.HasPrefix(c.want, ":") {
			want = "POST /a Content-Type=" + c.want
		}
		if got != want {
			t.Errorf("%s:\n%q, want\n%q", name, got, want)
		}
	}
	if got := describe(t, "f", operation("", ", requestBody: {content: {application/json: {schema: {type: object}}}}")); got != "POST /a" {
		t.Errorf("a body that may be left out: %s", got)
	}
	if got := describe(t, "f", operation("", ", requestBody: {$ref: 'b.yaml#/x'}")); got != "POST /a: no example of the body: its $ref (b.yaml#/x) is in another document, and only this one is read" {
		t.Errorf("a body in another file: %s", got)
	}
}

// TestLeft: an operation whose path or server is none is left out with the reason, and none is guessed.
func TestLeft(t *testing.T) {
	const colon, host = " is neither a path nor a URL such as https://host/v1", " is a host or a path: write "
	for src, want := range map[string]string{
		"paths: {'/a/{id': {get: {}}}":                                                                            "1:26 GET /a/{id: its path does not close a brace",
		"paths: {'/a/id}': {get: {}}}":                                                                            "1:26 GET /a/id}: its path closes a brace that it does not open",
		"paths: {'/a/}{': {get: {}}}":                                                                             "1:26 GET /a/}{: its path closes a brace that it does not open",
		"paths: {'/a/:id': {get: {}}}":                                                                            `1:26 GET /a/:id: ":id" is plain text in OpenAPI and a parameter of routers; write {name}`,
		"paths: {'/a/*': {get: {}}}":                                                                              `1:26 GET /a/*: "*" is plain text in OpenAPI and a parameter of routers; write {name}`,
		"paths: {'/a/{id}:b/c*': {get: {}}}":                                                                      "GET /a/{id}:b/c*",
		"servers: {url: https://x/v1}, paths: {/a: {get: {}}}":                                                    "1:18 GET /a: servers is a mapping, not a list",
		"servers: https://x/v1, paths: {/a: {get: {}}}":                                                           "1:18 GET /a: servers is text, not a list",
		"servers: [https://x/v1], paths: {/a: {get: {}}}":                                                         "1:18 GET /a: its server is text, not a mapping with a url",
		"servers: [{description: x}], paths: {/a: {get: {}}}":                                                     "1:18 GET /a: its server has no url",
		"servers: [{url: ''}], paths: {/a: {get: {}}}":                                                            "GET /a",
		"servers: , paths: {/a: {get: {}}}":                                                                       "GET /a",
		"servers: [{url: 'localhost:3000'}], paths: {/a: {get: {}}}":                                              `1:18 GET /a: its server "localhost:3000"` + colon,
		"servers: [{url: 'http:/v1'}], paths: {/a: {get: {}}}":                                                    `1:18 GET /a: its server "http:/v1"` + colon,
		"servers: [{url: 'h.example:80/v1//x'}], paths: {/a: {get: {}}}":                                          `1:18 GET /a: its server "h.example:80/v1//x"` + colon,
		"servers: [{url: 'localhost/v1'}], paths: {/a: {get: {}}}":                                                `1:18 GET /a: its server "localhost/v1"` + host + "https://localhost or /localhost",
		"servers: [{url: 'www.abc.com'}], paths: {/a: {get: {}}}":                                                 `1:18 GET /a: its server "www.abc.com"` + host + "https://www.abc.com or /www.abc.com",
		"servers: [{url: 'v1.0'}], paths: {/a: {get: {}}}":                                                        "GET /v1.0/a",
		"servers: [{url: '../v1'}], paths: {/a: {get: {}}}":                                                       "GET /v1/a",
		"servers: [{url: './a/./b/../c/'}], paths: {/a: {get: {}}}":                                               "GET /a/c/a",
		"servers: [{url: 'https://h/../x/..'}], paths: {/a: {get: {}}}":                                           "GET /a",
		"servers: [{url: 'https://h:1/a:b'}], paths: {/a: {get: {}}}":                                             "GET /a:b/a",
		"servers: {}, paths: {/a: {get: {servers: [{url: /v2}]}, put: {}}, /b: {servers: [{url: /v3}], get: {}}}": "1:18 PUT /a: servers is a mapping, not a list|GET /v2/a|GET /v3/b",
		"servers: [{url: /v1}], paths: {/a: {get: {servers: {url: /v2}}, put: {}}}":                               "1:60 GET /a: servers is a mapping, not a list|PUT /v1/a",
	} {
		d, err := Read("f", []byte("{openapi: 3.0.0, "+src+"}"))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		var got []string
		for _, l := range d.Skipped {
			got = append(got, fmt.Sprintf("%d:%d %s: %s", l.Line, l.Col, l.Path, l.Why))
		}
		for _, op := range d.Operations {
			got = append(got, op.Method+" "+op.Path)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s: %s, want %s", src, text, want)
		}
	}
	for base, want := range map[string]string{"../v1": "GET /v1/a", "{a: 1}": "basePath is a mapping, not text", "https://x/v1": `its server "https://x/v1"` + colon} {
		d, err := Read("f", []byte("{swagger: '2.0', basePath: "+base+", paths: {/a: {get: {}}}}"))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(d.Skipped)
		if len(d.Operations) > 0 {
			got = "GET " + d.Operations[0].Path
		}
		if !strings.Contains(got, want) {
			t.Errorf("basePath %s: %s, want %s", base, got, want)
		}
	}
}

// TestWrongTypes: a field of a wrong type is named. It is not taken for a missing one.
func TestWrongTypes(t *testing.T) {
	for rest, want := range map[string]string{
		"parameters: {name: q, in: query, required: true, example: z}": "parameters is a mapping, not a list",
		"parameters: q": "parameters is text, not a list",
		"parameters: ":  "/a",
		"parameters: [{name: q, in: query, required: 'true'}]":                                                        "parameter q: required is text, not true or false",
		"parameters: [{name: q, in: query, required: 1}]":                                                             "parameter q: required is a single value, not true or false",
		"parameters: [{name: q, in: query, required: null, explode: null, example: [1, 2]}]":                          "/a?q=1&q=2",
		"parameters: [{name: q, in: query, required: TRUE}]":                                                          "no example of q",
		"parameters: [{name: q, in: query, explode: 'false', example: [1, 2]}]":                                       "parameter q: explode is text, not true or false",
		"parameters: [{name: q, in: query, allowReserved: 'true', example: /}]":                                       "parameter q: allowReserved is text, not true or false",
		"parameters: [{name: q, in: query, schema: {enum: {a: 1}}}]":                                                  "the schema of q: enum is a mapping, not a list",
		"parameters: [{name: q, in: query, schema: {example: 1, enum: x}}]":                                           "/a?q=1",
		"parameters: [{name: q, in: query, schema: {allOf: {example: 1}}}]":                                           "the schema of q: allOf is a mapping, not a list",
		"requestBody: {content: {text/plain: {schema: {oneOf: {example: 1}}}}}":                                       "the schema of the body: oneOf is a mapping, not a list",
		"requestBody: {content: {a/json: {schema: {properties: {a: &s {enum: x}, b: *s }}}}}":                         "the schema of the body: enum is text, not a list",
		"requestBody: {required: 'true', content: {}}":                                                                "the body: required is text, not true or false",
		"requestBody: {content: [{text/plain: {example: 1}}]}":                                                        "the body: content is a list, not a mapping",
		"requestBody: {content: }":                                                                                    "/a",
		"requestBody: {content: {application/x-www-form-urlencoded: {example: {a: 1}, encoding: {a: {explode: x}}}}}": "the example of application/x-www-form-urlencoded: a: explode is text, not true or false",
	} {
		got := describe(t, "f", "openapi: 3.0.0\npaths: {/a: {post: {"+rest+"}}}")
		if want = "POST " + want; got != want && got != strings.Replace(want, "POST ", "POST /a: ", 1) {
			t.Errorf("%s: %s, want %s", rest, got, want)
		}
	}
}

// OpenAPI 2: bodies and forms are parameters, which are their own schemas.
func TestSwagger(t *testing.T) {
	src := `swagger: "2.0"
host: h
basePath: /v1
consumes: [application/json]
parameters: {id: {name: id, in: path, required: true, type: string, x-example: 007}}
definitions: {Pet: {type: object, required: [name], properties: {name: {type: string, example: Rex}, zip: {type: string, default: 01}}}}
paths:
  /pets/{id}:
    parameters: [{$ref: '#/parameters/id'}]
    post: {parameters: [{name: content-type, in: header, default: x/y}, {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}]}
    put: {consumes: [application/xml, text/json], parameters: [{name: pet, in: body, schema: {$ref: '#/definitions/Pet'}}]}
    get: {parameters: [{name: Accept, in: header, type: string, default: a}, {name: c, in: query, type: array, items: {type: integer}, default: [1, 2]}, {name: m, in: query, collectionFormat: multi, type: array, default: [1, 2]}, {name: s, in: query, collectionFormat: ssv, default: [1, 2]}, {name: t, in: query, collectionFormat: tsv, default: [1, 2]}, {name: p, in: query, collectionFormat: pipes, default: [1, 2]}]}
    patch: {consumes: [multipart/form-data, application/x-www-form-urlencoded], parameters: [{name: f, in: formData, type: file}, {name: a, in: formData, default: 'x y'}]}
    delete: {consumes: [application/x-www-form-urlencoded], parameters: [{name: a, in: formData, required: true, default: 'x y'}, {name: b, in: formData, collectionFormat: multi, default: [1, 2]}, {name: c, in: formData}]}
    options: {consumes: [application/x-www-form-urlencoded], parameters: [{name: a, in: formData, required: true}]}
    head: {consumes: [], parameters: [{name: a, in: formData, required: true, default: 1}]}
  /b:
    post: {consumes: [], parameters: [{name: b, in: body, schema: {example: {x: 1}}}]}
    put: {parameters: [{name: a, in: formData}, {name: b, in: formData, default: 1}]}
    patch: {consumes: , parameters: [{name: a, in: formData}]}
    delete: {consumes: [], parameters: [{name: b, in: body, schema: {type: object}}]}
    get: {consumes: application/json, parameters: [{name: b, in: body, schema: {example: 1}}]}
`
	want := strings.ReplaceAll(`POST /v1/pets/007 Content-Type=application/json {"name":"Rex","zip":"01"}
PUT /v1/pets/007 Content-Type=text/json {"name":"Rex","zip":"01"}
GET /v1/pets/007?c=1,2&m=1&m=2&s=1%202&t=1%092&p=1%7C2 Accept=a
PATCH /v1/pets/007 Content-Type=multipart/form-data; boundary=tare-part-0 --tare-part-0|Content-Disposition: form-data; name="a"||x y|--tare-part-0--|
DELETE /v1/pets/007 Content-Type=application/x-www-form-urlencoded a=x%20y&b=1&b=2
OPTIONS /v1/pets/{id}: no example of a
HEAD /v1/pets/{id}: consumes names no content type of the body
POST /v1/b: consumes names no content type of the body
PUT /v1/b: consumes names no content type of the body
PATCH /v1/b
DELETE /v1/b
GET /v1/b: consumes is text, not a list`, "|", "\r\n")
	if got := describe(t, "f", src); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestIsDocument(t *testing.T) {
	long := strings.Repeat(" ", 5000)
	for src, want := range map[string]bool{
		"openapi: 3.0.0": true, "\ufeff# mine\n---\n\"swagger\": '2.0'\r\n": true, "openapi:\n": true, " openapi: 3": true, "x: {openapi: 3}": false, "openapi:3": false,
		"---\n  info:\n    a: 1\n  swagger: \"2.0\"\n": true, "\n# mine\n--- # yours\n\n  info: {}\r\n  openapi: 3.0.0\r\n": true, "  info:\n    openapi: 3\n": false,
		"---\n{\"openapi\": \"3.0.0\"}": true, "# mine\n\n{swagger: '2.0'}": true, "--- {\"info\": {}, \"openapi\": 3}": true, "---\n[openapi: 3]": false, "---{openapi: 3}": false,
		`{"openapi": "3.0.0"`: true, "\n{\n\t\"info\": {\"x\": [1]},\n\t\"swagger\": \"2.0\"}": true, "{openapi: 3.0.0, paths: {}}": true, "{'swagger': 2.0}": true,
		`{"method": "GET", "path": "/"}` + "\n{\"openapi\": 3}": false, `{"a": {"openapi": 1}}`: false, `{"a": "openapi"}`: false, `["openapi"]`: false, "": false, "{": false,
		`{"components": {"a": "` + long: true, `{"components": {}, "a": [` + long: false, `{"paths": {}}`: false, "components:\n  schemas:\n": true, "paths: 1": false,
		`1.2.3.4 - - [x] "GET /openapi: HTTP/1.1" 200 1`: false, `{"log": {"entries": [`: false,
	} {
		if IsDocument([]byte(src), true) != want {
			t.Errorf("%.60q: %v", src, !want)
		}
	}
	for _, src := range []string{"definitions:\n  caches: {}\n", `{"paths": {"a": [`} {
		if IsDocument([]byte(src), false) {
			t.Errorf("%q, complete, is a document", src)
		}
	}
}

// A few schemas may stand for any number: what is made of them is bounded.
func TestHostileSchemas(t *testing.T) {
	lines := func(n int, line func(i int) string) (out string) {
		for i := range n {
			out += line(i)
		}
		return out
	}
	properties := func(n int) string {
		return lines(n, func(i int) string { return fmt.Sprintf("p%d: {$ref: '#/x/s%d'}, ", i, i) })
	}
	const body = ", requestBody: {required: true, content: {application/json: {schema: {$ref: '#/x/s0'}}}}"
	for name, c := range map[string]struct{ schemas, want string }{
		"each twice in the next": {lines(60, func(i int) string {
			return fmt.Sprintf("  s%d: {required: [a], properties: {a: {$ref: '#/x/s%d'}, b: {$ref: '#/x/s%d'}}}\n", i, i+1, i+1)
		}) + "  s60: {example: 1}\n", "an example of more than 16777216 bytes of the body"},
		"each in all":       {lines(40, func(i int) string { return fmt.Sprintf("  s%d: {properties: {%s}}\n", i, properties(40)) }), "no example of the body"},
		"allOf of itself":   {"  s0: &s {allOf: [*s , *s ], properties: {a: {example: 1}}}\n", `{"a":1}`},
		"deeply":            {lines(300, func(i int) string { return fmt.Sprintf("  s%d: {items: {$ref: '#/x/s%d'}}\n", i, i+1) }) + "  s300: {example: 1}\n", "no example of the body: the schema is too large"},
		"a value of itself": {"  s0: {example: &e [1, *e ]}\n", "an example of more than 16777216 bytes of the body"},
		"types of many parts": {lines(19, func(i int) string {
			return fmt.Sprintf("  s%d: {allOf: [{$ref: '#/x/s%d'}, {$ref: '#/x/s%d'}], example: {a: 1}}\n", i, i+1, i+1)
		}) + "  s19: {type: object}\n", `{"a":1}`},
	} {
		got := describe(t, "f", "x:\n"+c.schemas+operation("", body))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s, want %s", name, got, c.want)
		}
	}
}
