package router

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
)

// tableOf reads lines that are METHOD PATH.
func tableOf(t *testing.T, lines ...string) Table {
	t.Helper()
	list, err := ReadList("routes.txt", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return NewTable(list)
}

func TestTables(t *testing.T) {
	for _, c := range []struct{ written, want, left string }{
		{"GET /b|POST /a/", "POST /a/|GET /b", ""},
		// a literal before a parameter, whatever they are called, and whatever follows
		{"GET /{a}/z|GET /b/{c}|GET /b/c|GET /~", "GET /b/c|GET /b/{c}|GET /~|GET /{a}/z", ""},
		// one name for one place
		{"GET /u/{id}|GET /u/{user}/p|GET /u/{user}/p/{id}", "GET /u/{id}|GET /u/{id}/p|GET /u/{id}/p/{id2}", ""},
		{"GET /:über-id/{1}/:_x", "GET /{p_ber_id}/{p1}/{p_x}", ""},
		{"GET /a/{$}", "GET /a/", ""},
		{"GET /a|get /a|GET /a/{c}|GET /a/{b}", "GET /a|GET /a/{c}",
			"2: it is the same route as GET /a in line 1|4: it is the same route as GET /a/{c} in line 3"},
		// catch-alls, however they are written
		{"GET /a/*|GET /b/*p|GET /c/{p...}|GET /d/{p:.*}|GET /e/{p:.+}|GET /f/{p:path}|GET /g/{p:*}|GET /h/{*p}", "GET /a/{rest...}|GET /b/{p...}|GET /c/{p...}|GET /d/{p...}|GET /e/{p...}|GET /f/{p...}|GET /g/{p...}|GET /h/{p...}", ""},
		{"GET /a/{proxy+}|GET /b/{+p}|GET /c/{p*}|GET /d/:p*|GET /e/:p+|GET /f/{pa-th...}|GET /g/{...}", "GET /a/{proxy...}|GET /b/{p...}|GET /c/{p...}|GET /d/{p...}|GET /e/{p...}|GET /f/{pa_th...}|GET /g/{rest...}", ""},
		{"GET /f/*p|PUT /f/{q...}|DELETE /f/{id}|POST /f/up|GET /f|GET /{x}|POST /f/", "GET /f|POST /f/|POST /f/up|DELETE /f/{id}|GET /f/{p...}|PUT /f/{p...}|GET /{x}", ""},
		{"GET /v/{id}/*id|GET /u/{id}/*id|GET /u/{user}", "GET /u/{user}|GET /u/{user}/{id...}|GET /v/{id}/{id2...}", ""},
		{"GET /a|GET /f/*rest|GET /f/{p...}|GET /f/{p...}/more|GET /f/*.json", "GET /a|GET /f/{rest...}",
			`3: it is the same route as GET /f/*rest in line 2|4: "{p...}": a wildcard may only be the last segment|5: "*.json": some routers read`},
		// and what cannot be beside them
		{"GET /f/*p|GET /f/up|GET /g/|GET /g/*p|GET /h/{x}/y|GET /h/*p", "GET /f/up|GET /g/|GET /h/{x}/y",
			"1: a catch-all, and GET /f/up in line 2 can be for the same paths: not all routers can have both|4: a catch-all, and GET /g/ in line 3|6: a catch-all, and GET /h/{x}/y"},
		{"GET /*all|GET /|GET /static/*p|GET /{a}/{b}|POST /*p", "GET /|GET /{a}/{b}|POST /{p...}",
			"1: a catch-all, and GET / in line 2 can be|3: a catch-all, and GET /{a}/{b} in line 4 can be"},
		{"GET /{a}/*p|GET /b/*p|PUT /c/*p|PUT /{a}/d", "GET /b/{p...}|PUT /{a}/d", "1: a catch-all, and GET /b/*p in line 2 can be|3: a catch-all, and PUT /{a}/d in line 4 can be"},
		{"GET /{a}/f/*p|GET /b/g/{x}|GET /c/*p|GET /d", "GET /b/g/{x}|GET /c/{p...}|GET /d", "1: a catch-all, and GET /c/*p in line 3 can be"},
		{"GET /a|GET /u/{id:[0-9]{2}}|GET /u/{id:int}/b", "GET /a",
			`2: "{id:[0-9]{2}}": not all routers can restrict a parameter by a pattern; write {id}|3: "{id:int}": not all`},
		// a parameter that is a part of a segment
		{"GET /x/{id}|GET /x/{i-d}.json/y|GET /x/a|GET /v-{id}|GET /x/{sid}.json|GET /x/{id}.json|GET /x/v-{id}.tar.gz", "GET /x/a|GET /x/v-{id}.tar.gz|GET /x/{sid}.json|GET /x/{sid}.json/y|GET /x/{id}|GET /v-{id}",
			"6: it is the same route as GET /x/{sid}.json in line 5"},
		{"GET /a|GET /{a}{b}|GET /{id}:batch|GET /{id}_x|GET /{}|GET /{}.json|GET /{id:int}.json|GET /über{id}|GET /{p...}.json", "GET /a",
			`2: "{a}{b}": a segment may hold one parameter|3: "{id}:batch": a segment|4: "{id}_x": a segment|5: "{}": a segment|6: "{}.json": a segment|7: "{id:int}.json": a segment|8: "über{id}": a segment|9: "{p...}.json": a segment`},
		{"GET /a|GET /users:batch|GET /a//b|GET /*|GET /:id<int>|GET /a?b=c", "GET /a",
			`2: "users:batch": some routers read|3: it has an empty segment|4: a catch-all, and GET /a in line 1|5: ":id<int>": some routers|6: "a?b=c": some routers`},
		{"GET /a|OPTIONS /a|BREW /a", "GET /a", "2: only GET, POST, PUT, PATCH, DELETE are measured|3: only GET"},
	} {
		table := tableOf(t, strings.Split(c.written, "|")...)
		var got, left []string
		for _, r := range table.Routes {
			got = append(got, r.Method+" "+r.Path)
		}
		for _, l := range table.Left {
			left = append(left, fmt.Sprintf("%d: %s", l.Line, l.Why))
		}
		wantLeft := strings.Split(c.left, "|")
		if c.left == "" {
			wantLeft = nil
		}
		ok := len(left) == len(wantLeft)
		for i := range wantLeft {
			ok = ok && strings.HasPrefix(left[i], wantLeft[i])
		}
		if strings.Join(got, "|") != c.want || !ok || len(table.From) != len(got) {
			t.Errorf("%s\n got %s\nleft %s", c.written, strings.Join(got, "|"), strings.Join(left, "|"))
		}
		again, err := ReadList("again", []byte(table.List()))
		if err != nil || NewTable(again).List() != table.List() {
			t.Errorf("%s: %v, not the same when read again", table.List(), err)
		}
	}
}

func TestRenamed(t *testing.T) {
	if n, _ := tableOf(t, "GET /u/{id}", "GET /u/{user-name}/p", "GET /u/{id}/q").Renamed(); n != 1 {
		t.Errorf("%d are renamed", n)
	}
	if n, _ := tableOf(t, "GET /u/{user-name}", "GET /u/{user-name}/q").Renamed(); n != 0 {
		t.Errorf("%d are renamed", n)
	}
}

// TestAmbiguous: what is said of a table is what http.ServeMux does with it.
func TestAmbiguous(t *testing.T) {
	for lines, want := range map[string]bool{
		"GET /a/{x}/c|GET /a/b/{y}": true, "GET /a/{x}/c|POST /a/b/{y}": false, "GET /a/{x}|GET /a/b": false,
		"GET /{x}/c|GET /{y}/d": false, "GET /{x}/c/d|GET /b/{y}/e": false, "GET /{x}/|GET /b/{y}": false,
		"GET /{a}/b/{c}|GET /x/{b}/{c}": true, "GET /x|GET /y/{z}": false,
	} {
		table := tableOf(t, strings.Split(lines, "|")...)
		a, b, got := table.Ambiguous()
		refused := func() (refused bool) {
			defer func() { refused = recover() != nil }()
			spec, err := table.toSpec()
			if err != nil {
				t.Fatal(err)
			}
			serveMux(spec)
			return false
		}()
		if got != want || refused != want || got && a == b {
			t.Errorf("%s: %v, net/http refuses it: %v", lines, got, refused)
		}
	}
}

func TestAsks(t *testing.T) {
	for lines, want := range map[string]string{
		"GET /":               "all static unknown method",
		"GET /{a}":            "all parameter unknown method",
		"GET /a|GET /{a}/{b}": "all static parameters unknown method",
		"GET /a|PUT /a|POST /a|PATCH /a|DELETE /a": "all static unknown",
		"GET /a/{p...}":  "all parameter unknown method",
		"GET /{p...}":    "all parameter method",
		"GET /{a}|GET /": "all static parameter unknown method",
	} {
		if got := strings.Join(tableOf(t, strings.Split(lines, "|")...).Asks(), " "); got != want {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

func TestNoList(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "routes.txt:1:1: there are no routes in it",
		"# only this\n\n":         "routes.txt:1:1: there are no routes in it",
		"GET /a\n  GET\n":         `routes.txt:2:3: "GET" is not a method and a path`,
		"GET /a /b":               `routes.txt:1:1: "GET /a /b" is not a method`,
		"\ufeffGET a":             `routes.txt:1:1: "GET a" is not a method and a path`,
		"GET /a\n\xff\xfe /a":     "routes.txt:2:1: this is no text in UTF-8",
		"GET /\x00":               "routes.txt:1:1: this is no text",
		"GET /a\n[GIN-debug] /a":  `routes.txt:2:1: "[GIN-debug]" is not a method; want one of GET`,
		strings.Repeat("x", 9999): "routes.txt:1:1: ",
		"GET /a" + strings.Repeat("\n", MostList): "routes.txt:1:1: a list of more than 32 MiB",
	} {
		_, err := ReadList("routes.txt", []byte(src))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%.100q: %v, want %s", src, err, want)
		}
	}
}

// TestALargeTable: each of ten thousand routes is found.
func TestALargeTable(t *testing.T) {
	var b strings.Builder
	for i := range 10000 {
		end := ""
		if i%4 == 3 {
			end = "/*path"
		}
		fmt.Fprintf(&b, "GET /v1/r%d/{id}/s%d%s\n", i/2, i%2, end)
	}
	list, err := ReadList("routes.txt", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	table := NewTable(list)
	if _, _, found := table.Ambiguous(); found || len(table.Routes) != 10000 || strings.Join(table.Asks(), " ") != "all parameter parameters unknown method" {
		t.Errorf("%d routes, %v", len(table.Routes), table.Asks())
	}
}

// FuzzList: whatever is in a list, it is refused in one line, or becomes a
// table that contenders and net/http can have, the same each time.
func FuzzList(f *testing.F) {
	f.Add("GET /a/{b}\nPOST /a/b/\n")
	f.Add("GET /u/{id}/{id2}\nGET /u/{user}/{id}\n")
	f.Add("GET /:a/*rest\nPUT /{$}\n# x\nGET /über/{ü}")
	f.Add("GET /{a}/c\nGET /b/{d}\n")
	f.Add("GET /f/*\nPUT /f/{p...}\nPOST /f/{id}\nGET /{a}/{b}/{p:.*}\nDELETE /:p*")
	f.Add("POST /0{p}\nGET /a/{id}.json\nGET /a/{id}")
	f.Add("GET /{0}.")
	f.Fuzz(func(t *testing.T, src string) {
		list, err := ReadList("list", []byte(src))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		table := NewTable(list)
		if len(table.Routes)+len(table.Left) != len(list) {
			t.Errorf("%d routes of %d, %d left out", len(table.Routes), len(list), len(table.Left))
		}
		if len(table.Routes) == 0 {
			return
		}
		raw, spec, err := formatTable(table.Routes, nil)
		if err != nil {
			t.Fatalf("%v: contenders cannot read %v", err, table.Routes)
		}
		if same, _, err := formatTable(NewTable(list).Routes, nil); err != nil || string(same) != string(raw) {
			t.Errorf("%s, then %s", raw, same)
		}
		for _, r := range spec.Routes {
			if _, ok := spec.Answer(newRequest(r.Method, (&url.URL{Path: fillParams(r.BracePath())}).EscapedPath())); !ok {
				t.Errorf("no answer to %s %s", r.Method, r.BracePath())
			}
		}
		if _, _, found := table.Ambiguous(); !found && spec.Part() == nil {
			serveMux(spec) // panics where it cannot
		}
		if _, err := fixture.Visits(table.Routes, 0); err != nil {
			t.Error(err)
		}
	})
}

// TestParts: a table with a parameter that is a part of a segment is said to
// have some, and requests to it are answered by what stands beside the literals.
func TestParts(t *testing.T) {
	table := tableOf(t, "GET /a/{id}.json", "GET /a/{id}", "GET /b", "PUT /v-{id}")
	n, first := table.Parts()
	if n != 2 || table.From[first].Path != "/v-{id}" && table.From[first].Path != "/a/{id}.json" {
		t.Errorf("%d, the first is %v", n, table.From[first])
	}
	whole := table.Whole()
	if got := whole.List(); got != "GET /a/{id}\nGET /b\n" || len(whole.Left) != 2 || whole.Left[0].Path != "/a/{id}.json" || !strings.Contains(whole.Left[1].Why, "part of a segment") {
		t.Errorf("without them %q, left out %+v", got, whole.Left)
	}
	if n, _ := tableOf(t, "GET /a/{id}", "GET /b.json").Parts(); n != 0 {
		t.Errorf("%d where there are none", n)
	}
	if got := strings.Join(table.Asks(), " "); got != "all static parameter unknown method" {
		t.Errorf("asked for %s", got)
	}
	if n, _ := table.Renamed(); n != 0 {
		t.Errorf("%d are renamed", n)
	}
}

// Routes with a parameter that is a part of its segment are visited like all others.
func TestPartsOfSegmentsAreVisited(t *testing.T) {
	routes := tableOf(t, "GET /files/{name}.json", "GET /v-{id}", "GET /users/{id}", "GET /a/{from}/{to}.tar.gz").Routes
	_, spec, err := formatTable(routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := makeQuestions(tare.Workload{Op: router.OpServe, Pool: 40}, routes, spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(questions) != 40 {
		t.Errorf("%d requests, want 40", len(questions))
	}
	for _, q := range questions {
		if answer, ok := spec.Answer(q.HTTPRequest); !ok || string(answer.Body) != string(q.answer.Body) {
			t.Errorf("%s: want %q, the table answers %q", q.Path, q.answer.Body, answer.Body)
		}
	}
}
