package router

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

func spec(t *testing.T, paths ...string) Spec {
	t.Helper()
	var routes []fixture.Route
	for _, p := range paths {
		method, path, _ := strings.Cut(p, " ")
		routes = append(routes, fixture.Route{Method: method, Path: path})
	}
	raw, err := FormatSpec(routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSpec(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPaths(t *testing.T) {
	s := spec(t, "GET /", "POST /a/", "GET /a/{b}/c/{d_2}", "GET /a.b/~c")
	for i, want := range [][2]string{{"/", "/"}, {"/a/", "/a/"}, {"/a/:b/c/:d_2", "/a/{b}/c/{d_2}"}, {"/a.b/~c", "/a.b/~c"}} {
		r := s.Routes[i]
		if r.ColonPath() != want[0] || r.BracePath() != want[1] || r.Index != i {
			t.Errorf("%d: %s %s, want %s", r.Index, r.ColonPath(), r.BracePath(), want)
		}
	}
}

// TestCatchAlls: each router spells them in its way, and some hand out the slash
// or have no name for them.
func TestCatchAlls(t *testing.T) {
	s := spec(t, "GET /a/{b}/{c...}", "GET /{all...}", "GET /a/{b}")
	r, all, plain := s.Routes[0], s.Routes[1], s.Routes[2]
	for got, want := range map[string]string{
		r.ColonPath(): "/a/:b/*c", r.BracePath(): "/a/{b}/{c...}", r.ColonPathEnding("*"): "/a/:b/*", r.BracePathEnding("{" + r.Rest + ":.*}"): "/a/{b}/{c:.*}",
		all.ColonPath(): "/*all", all.BracePath(): "/{all...}", all.BracePathEnding("*"): "/*", plain.ColonPathEnding("*"): "/a/:b", plain.Rest: "",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	reply := func(r Route, bound map[string]string) string {
		var b strings.Builder
		r.Reply(&b, func(name string) string { return bound[name] })
		return b.String()
	}
	if got := reply(r, map[string]string{"b": "/x", "c": "/y/z"}); got != "0 b=/x c=/y/z" {
		t.Errorf("%q", got)
	}
	called, slashed := r, r
	called.CallRest("*")
	slashed.SlashedRest()
	if got := reply(called, map[string]string{"b": "x", "*": "y/z"}); got != "0 b=x c=y/z" || called.BracePath() != r.BracePath() {
		t.Errorf("%q", got)
	}
	if got := reply(slashed, map[string]string{"b": "/x", "c": "//y/z"}); got != "0 b=/x c=/y/z" {
		t.Errorf("%q", got)
	}
	if got := reply(r, map[string]string{"b": "x", "c": "y"}); got != "0 b=x c=y" { // and the table itself is as it was
		t.Errorf("%q", got)
	}
	plain.CallRest("*")
	plain.SlashedRest()
	if got := reply(plain, map[string]string{"b": "/x"}); got != "2 b=/x" {
		t.Errorf("%q", got)
	}
	if n := testing.AllocsPerRun(100, func() { slashed.Reply(io.Discard, func(string) string { return "/y" }) }); n != 0 {
		t.Errorf("a reply allocates %v times", n)
	}
}

func TestAnswerOfATable(t *testing.T) {
	s := spec(t, "GET /", "GET /a/b", "GET /a/{x}", "POST /a/{x}", "GET /a/{x}/c", "GET /a/b/{y}", "GET /t/", "GET /f", "GET /f/{p...}", "PUT /f/{p...}", "POST /f/up", "GET /g/{x}/{p...}", "GET /g/{x}/h/{y}")
	for asked, want := range map[string]string{
		"GET /":              "0",
		"GET /?q=/a/b":       "0",
		"GET /a/b":           "1",
		"GET /a/%62":         "1",
		"GET /a/bb":          "2 x=bb",
		"GET /a/caf%C3%A9":   "2 x=café",
		"GET /a/b%2Fc":       "2 x=b/c",
		"POST /a/b":          "3 x=b",
		"GET /a/z/c":         "4 x=z",
		"GET /a/b/c":         "5 y=c", // a literal first, from the left
		"GET /t/":            "6",
		"GET /t":             "",
		"GET /f":             "7",
		"GET /f/":            "8 p=",
		"GET /f/up":          "8 p=up",
		"GET /f/a/b%20c/?q":  "8 p=a/b c/",
		"PUT /f/a/b":         "9 p=a/b",
		"PUT /f":             "",
		"POST /f/up":         "10",
		"POST /f/a":          "",
		"GET /g/1/2":         "11 x=1 p=2",
		"GET /g/1/h/3":       "12 x=1 y=3",
		"GET /g/1/h/3/4":     "11 x=1 p=h/3/4",
		"GET /g/1":           "",
		"GET /g//1":          "",
		"GET /a":             "",
		"GET /a/":            "",
		"GET /a/b/":          "",
		"PUT /a/b":           "",
		"GET /A/b":           "",
		"GET /a/b/c/d":       "",
		"GET /a/%zz":         "",
		"GET //":             "",
		"GET /a//c":          "",
		"GET /a/b?x=/a/b/c/": "1",
	} {
		method, path, _ := strings.Cut(asked, " ")
		a, ok := s.Answer(wire.HTTPRequest{Method: method, Path: path})
		if ok != (want != "") || string(a.Body) != want {
			t.Errorf("%s: %v %q, want %q", asked, ok, a.Body, want)
		}
	}
}

func TestBadTables(t *testing.T) {
	for raw, want := range map[string]string{
		`[]`:            "read the table of routes",
		`{"routes":[]}`: "no routes",
		`{"routes":[{"method":"get","path":"/"}]}`:                        "no word in capitals",
		`{"routes":[{"path":"/"}]}`:                                       "no word in capitals",
		`{"routes":[{"method":"GET","path":"a"}]}`:                        "route 0, GET a: the path does not begin with a slash",
		`{"routes":[{"method":"GET","path":"/a//b"}]}`:                    "an empty segment",
		`{"routes":[{"method":"GET","path":"/a{b}{c}"}]}`:                 `segment "a{b}{c}"`,
		`{"routes":[{"method":"GET","path":"/{b}c:"}]}`:                   `segment "{b}c:"`,
		`{"routes":[{"method":"GET","path":"/:b"}]}`:                      `segment ":b"`,
		`{"routes":[{"method":"GET","path":"/*"}]}`:                       `segment "*"`,
		`{"routes":[{"method":"GET","path":"/{a...}/b"}]}`:                `segment "{a...}": only the end of a path can be a catch-all`,
		`{"routes":[{"method":"GET","path":"/{...}"}]}`:                   "it has no name",
		`{"routes":[{"method":"GET","path":"/{a}/{a...}"}]}`:              "is there twice",
		`{"routes":[{"method":"GET","path":"/{}"}]}`:                      "it has no name",
		`{"routes":[{"method":"GET","path":"/{a-b}"}]}`:                   "letters, digits and underscores",
		`{"routes":[{"method":"GET","path":"/{1a}"}]}`:                    "letters, digits and underscores",
		`{"routes":[{"method":"GET","path":"/{a}/{a}"}]}`:                 "is there twice",
		`{"routes":[{"method":"GET","path":"/"}],"layers":["wallpaper"]}`: `unknown layer "wallpaper"`,
	} {
		if _, err := ParseSpec(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

func TestDiffers(t *testing.T) {
	right := Answer{wire.HTTPResponse{Status: 200, Body: []byte("0"), Header: map[string]string{headerRequestID: "", headerNoSniff: noSniff}}, 2}
	answer := func(edit func(a *Answer)) Answer {
		a := Answer{wire.HTTPResponse{Status: 200, Body: []byte("0"), Header: map[string]string{headerRequestID: "0123456789abcdef", headerNoSniff: noSniff}}, 2}
		edit(&a)
		return a
	}
	for want, edit := range map[string]func(a *Answer){
		"":                               func(*Answer) {},
		"status 404, want 200":           func(a *Answer) { a.Status = 404 },
		`body "0\n", want "0"`:           func(a *Answer) { a.Body = []byte("0\n") },
		"1 calls of middleware, want 2":  func(a *Answer) { a.LayerCalls = 1 },
		`header X-Request-Id: "", want`:  func(a *Answer) { delete(a.Header, headerRequestID) },
		`header X-Request-Id: "7", want`: func(a *Answer) { a.Header[headerRequestID] = "7" },
		`header X-Content-Type-Options`:  func(a *Answer) { a.Header[headerNoSniff] = "sniff" },
		`header Location: "/"`:           func(a *Answer) { a.Header["Location"] = "/" },
		"…":                              func(a *Answer) { a.Body = []byte(strings.Repeat("x", 1000)) },
	} {
		got := answer(edit).Differs(right)
		if got == "" != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "\n") || len(got) > 200 {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestParts: a parameter that is a part of a segment is bound to what stands
// beside the literals, the longer literals first and the whole segment last.
func TestParts(t *testing.T) {
	s := spec(t, "GET /a/list.json", "GET /a/{id}.tar.gz", "GET /a/{id}.gz", "GET /a/v-{id}/x", "GET /a/{id}")
	if got := s.Part(); got == nil || got.BracePath() != "/a/{id}.tar.gz" || got.ColonPath() != "/a/:id.tar.gz" {
		t.Fatalf("the first is %+v", got)
	}
	for path, want := range map[string]string{
		"/a/list.json": "0", "/a/7.tar.gz": "1 id=7", "/a/7.gz": "2 id=7", "/a/v-7/x": "3 id=7", "/a/7": "4 id=7", "/a/.gz": "4 id=.gz", "/a/7%2F8.gz": "2 id=7/8", "/a/7.gzip": "4 id=7.gzip", "/a/v-/x": "", "/a/w-7/x": "",
	} {
		a, ok := s.Answer(wire.HTTPRequest{Method: "GET", Path: path})
		if ok != (want != "") || string(a.Body) != want {
			t.Errorf("%s: %q, %v", path, a.Body, ok)
		}
	}
	visits, err := fixture.Visits([]fixture.Route{{Method: "GET", Path: "/a/v-{id}.json"}}, 500)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range visits {
		if !strings.HasPrefix(v.Path, "/a/v-") || !strings.HasSuffix(v.Path, ".json") || strings.ContainsAny(v.Values[0], "v-.json") {
			t.Errorf("%+v", v)
		}
	}
	if spec(t, "GET /a/{id}/b.json").Part() != nil {
		t.Error("there is none, and it names one")
	}
}

// TestPartsRefused: a router that says nothing about it refuses such a table as
// what it cannot have, and one that can is asked.
func TestPartsRefused(t *testing.T) {
	parts := spec(t, "GET /a/{id}.json")
	asked := false
	build := builder(func(context.Context, Spec) (stack, error) { asked = true; return nil, nil })
	if _, err := rejectParts(build)(context.Background(), parts); !errors.Is(err, contender.ErrUnsupported) || !strings.Contains(err.Error(), "GET /a/{id}.json") || asked {
		t.Errorf("%v, asked %v", err, asked)
	}
	if _, err := rejectParts(build)(context.Background(), spec(t, "GET /a/{id}")); err != nil || !asked {
		t.Errorf("%v, asked %v", err, asked)
	}
}
