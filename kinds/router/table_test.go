package router_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/router"
)

// file writes a list of routes.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "routes.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatCannotBeAsked(t *testing.T) {
	large := file(t, "GET /a\n"+strings.Repeat("\n", router.MostList))
	path, every := file(t, "GET /a\n"), file(t, "GET /a\nPUT /a\nPOST /a\nPATCH /a\nDELETE /a\n")
	for want, w := range map[string]tare.Workload{
		`unknown op "marshal"; a router can serve, socket`:                            {Fixture: "routes", Op: "marshal"},
		`unknown fixture "devices"`:                                                   {Fixture: "devices", Op: "serve"},
		"connections and rates are for servers":                                       {Fixture: "routes", Op: "serve", Traffic: &tare.Traffic{Connections: 1}},
		"1001 routes, want 1 to 1000":                                                 {Fixture: "routes", Op: "serve", N: 1001},
		"7 literal segments":                                                          {Fixture: "routes", Op: "serve", Set: map[string]string{"depth": "7"}},
		"3 parameters":                                                                {Fixture: "routes", Op: "serve", Set: map[string]string{"params": "3"}},
		"set: middleware: a chain of 6 layers, want 0 to 5":                           {Fixture: "routes", Op: "serve", Set: map[string]string{"middleware": "6"}},
		`set: depth: "deep" is not a number`:                                          {Fixture: "routes", Op: "serve", Set: map[string]string{"depth": "deep"}},
		`"many" is neither some nor none`:                                             {Fixture: "routes", Op: "serve", Set: map[string]string{"siblings": "many"}},
		"set: colour: a table of routes has depth, params, siblings, middleware, ask": {Fixture: "routes", Op: "serve", Set: map[string]string{"colour": "red"}},
		"set: depth: a table of routes has middleware, ask":                           {File: path, Op: "serve", Set: map[string]string{"depth": "1"}},
		`set: ask: "most" is none of all, static`:                                     {File: path, Op: "serve", Set: map[string]string{"ask": "most"}},
		"set: ask: the table has no routes of that kind (parameters)":                 {File: path, Op: "serve", Set: map[string]string{"ask": "parameters"}},
		"set: ask: unknown can be requested with op serve":                            {File: path, Op: "socket", Set: map[string]string{"ask": "unknown"}},
		"set: ask: every path of the table has all of the methods GET":                {File: every, Op: "serve", Set: map[string]string{"ask": "method"}},
		"20000 visits":           {Fixture: "routes", Op: "serve", Pool: 20000},
		"none.txt: no such file": {File: "none.txt", Op: "serve"},
		"api.yaml: want a list of routes, a file that ends in .txt": {File: "api.yaml", Op: "serve"},
		"routes.txt: not a file of at most 33554432 bytes":          {File: large, Op: "serve"},
		`routes.txt:2:1: "/b" is not a method and a path`:           {File: file(t, "GET /a\n/b\n"), Op: "serve"},
		`routes.txt:2:3: HEAD /b: only GET, POST`:                   {File: file(t, "GET /a\n  HEAD /b\n"), Op: "serve"},
	} {
		w.ID = "w"
		_, err := router.New().Input(w, "/nowhere", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `workload "w": `) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

const pets = `# what a shop has
GET /
get /pets/mine
GET /pets/{petId}
DELETE /pets/:id
PUT /pets/{id}/toys/{toy-name}
`

// photos is a line more: a catch-all.
const photos = "GET /pets/{id}/photos/*path\n"

// TestAUsersRoutes: a list becomes a table and requests to it.
func TestAUsersRoutes(t *testing.T) {
	path := file(t, pets)
	ask := func(word string) (wire.Workload, []wire.HTTPRequest) {
		t.Helper()
		in, err := router.New().Input(tare.Workload{ID: "w", File: path, Op: "serve", Set: map[string]string{"middleware": "1", "ask": word}}, "", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return in, requests(t, in)
	}
	in, list := ask("all")
	const want = `{"routes":[{"method":"GET","path":"/"},{"method":"GET","path":"/pets/mine"},{"method":"DELETE","path":"/pets/{id}"},{"method":"GET","path":"/pets/{id}"},{"method":"PUT","path":"/pets/{id}/toys/{toy_name}"}],"layers":["request-id"]}`
	if string(in.Spec) != want || in.N != 5 || in.Fixture != sdk.UserFixture {
		t.Errorf("%+v\n%s", in, in.Spec)
	}
	methods := map[string]int{}
	for _, q := range list {
		methods[q.Method]++
	}
	if methods["GET"] != 78 || methods["DELETE"] != 26 || methods["PUT"] != 26 {
		t.Errorf("requests by method: %v", methods)
	}
	for word, is := range map[string]func(sdk.Route) bool{
		"static": func(r sdk.Route) bool { return len(r.Params) == 0 }, "parameter": func(r sdk.Route) bool { return len(r.Params) == 1 },
		"parameters": func(r sdk.Route) bool { return len(r.Params) > 1 }, "unknown": nil, "method": nil,
	} {
		in, list := ask(word)
		spec, err := sdk.ParseSpec(in.Spec)
		if err != nil || len(list) < 100 {
			t.Fatalf("%s: %d requests, %v", word, len(list), err)
		}
		seen := map[string]bool{}
		for _, q := range list {
			a, ok := spec.Answer(q)
			if ok != (is != nil) {
				t.Fatalf("%s: %s %s: %v", word, q.Method, q.Path, ok)
			}
			if seen[q.Method+q.Path] {
				t.Errorf("%s: %s %s twice", word, q.Method, q.Path)
			}
			seen[q.Method+q.Path] = true
			var index int
			if _, err := fmt.Sscan(string(a.Body), &index); is != nil && (err != nil || !is(spec.Routes[index])) {
				t.Errorf("%s: %s %s is for route %q", word, q.Method, q.Path, a.Body)
			}
		}
		if word != "unknown" {
			continue
		}
		for _, q := range list { // by no other method either
			for _, method := range router.Methods() {
				if a, ok := spec.Answer(wire.HTTPRequest{Method: method, Path: q.Path}); ok {
					t.Errorf("%s %s is route %s", method, q.Path, a.Body)
				}
			}
		}
	}
}

// TestACatchAll: what it takes is asked for with slashes in it, and is no path
// that nobody has.
func TestACatchAll(t *testing.T) {
	path := file(t, "GET /pets/mine\nGET /files/{p:.*}\nPUT /files/*rest\nGET /pets/{id}/photos/*path\n")
	k := router.New()
	for _, word := range []string{"all", "parameter", "parameters", "unknown", "method"} {
		in, err := k.Input(tare.Workload{ID: "w", File: path, Op: "serve", Set: map[string]string{"ask": word}}, "", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if wrong, err := k.Compare(in, answers(t, in, mux)); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %q, %v", word, wrong, err)
		}
		deep := 0
		for _, q := range requests(t, in) {
			if rest, below := strings.CutPrefix(q.Path, "/files/"); below && strings.Contains(rest, "/") {
				deep++
			}
		}
		if (deep > 10) != (word == "all" || word == "parameter" || word == "method") {
			t.Errorf("%s: %d requests with a slash in the value", word, deep)
		}
		segment := func(spec sdk.Spec) http.Handler { // takes one segment for all that is left
			m := http.NewServeMux()
			for _, r := range spec.Routes {
				m.HandleFunc(r.Method+" "+r.BracePathEnding("{"+r.Rest+"}"), func(w http.ResponseWriter, q *http.Request) { r.Reply(w, q.PathValue) })
			}
			return m
		}
		wrong, err := k.Compare(in, answers(t, in, segment))
		if err != nil || (len(wrong) > 10) != (word == "all" || word == "parameter" || word == "parameters") {
			t.Errorf("%s: %d wrong of a router without catch-alls, %v", word, len(wrong), err)
		}
	}
	for want, lines := range map[string]string{
		"routes.txt:1:1: GET /f/*p: a catch-all, and GET /f/{id} in line 2 can be for the same paths": "GET /f/*p\nGET /f/{id}\n",
		"set: ask: there is no path that the table has no route for":                                  "GET /*p\n",
	} {
		_, err := k.Input(tare.Workload{ID: "w", File: file(t, lines), Op: "serve", Set: map[string]string{"ask": "unknown"}}, "", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOwnExams: on somebody's own table the reference is asked what it does
// with what no route is for, and tables do not stay for the next study.
func TestOwnExams(t *testing.T) {
	k := router.New()
	in, err := k.Input(tare.Workload{ID: "w", File: file(t, pets+photos), Op: "serve"}, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exams := func(works ...wire.Workload) []wire.Workload {
		t.Helper()
		if _, err := k.Probes(t.TempDir(), works); err != nil {
			t.Fatal(err)
		}
		list, err := k.Exams(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := exams(in)
	if len(list) != 2 || len(exams()) != 1 {
		t.Fatalf("%+v", list)
	}
	own := list[0]
	for _, a := range answers(t, own, mux) {
		if d, differs := k.Differ(own, a); differs {
			t.Errorf("the reference differs: %+v", d)
		}
	}
	kind := map[string]int{}
	notFound := func(sdk.Spec) http.Handler { return http.HandlerFunc(http.NotFound) }
	for _, a := range answers(t, own, notFound) {
		if d, differs := k.Differ(own, a); differs {
			kind[fmt.Sprintf("%s (%s): %s", d.Property, d.Class, d.Says)]++
		}
	}
	for _, want := range []string{
		"your routes: method (form): refuses a method that a route of yours has not with 404 instead of 405",
		"your routes: literal (acceptance): refuses the path of a literal by a method that only the parameter in its place has with 404",
		"your routes: catch-all (acceptance): refuses a catch-all of yours with nothing after its slash with 404",
		"your routes: catch-all (acceptance): refuses a catch-all of yours without its slash with 404",
		"your routes: catch-all (acceptance): refuses a catch-all of yours with an escaped slash in it with 404",
	} {
		if kind[want] == 0 {
			t.Errorf("%v, want %s", kind, want)
		}
	}
}

// TestShadowedRoutes: on a table in which a literal stands where another route has a parameter, a
// router that does not come back from the literal is told with the path, and so is what else
// it makes of odd values. What was said of one router is not said of the next.
func TestShadowedRoutes(t *testing.T) {
	src, err := os.ReadFile("testdata/shadowed-routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	k, exam := ownExam(t, string(src))
	asked := map[string]bool{}
	for _, q := range requests(t, exam) {
		asked[q.Path] = true
	}
	for _, path := range []string{
		"/users/4711", "/about/4711", "/user/4711", "/sers/4711", "/userss/4711", "/USERS/4711", "/ABOUT", "/about/",
		"//4711", "/4711/", "/users//settings", "/a%2Fb/4711", "/users/a%2Fb/settings", "/../4711", "/4711/.", "/users/%2e%2e/settings",
	} {
		if !asked[path] {
			t.Errorf("%s is not asked for", path)
		}
	}
	if says := differences(t, k, exam, mux); len(says) > 0 {
		t.Errorf("the reference differs: %q", says)
	}
	greedy := func(spec sdk.Spec) http.Handler { // goes on behind a literal, and never comes back
		strict := strict(spec)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			if first == "users" && !strings.HasSuffix(rest, "/settings") || first == "about" && rest != "" {
				http.NotFound(w, r)
				return
			}
			strict.ServeHTTP(w, r)
		})
	}
	raw := func(spec sdk.Spec) http.Handler { // does not unescape
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, ok := spec.Answer(wire.HTTPRequest{Method: r.Method, Path: strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25")})
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(a.Body)
		})
	}
	for _, c := range []struct {
		build     func(sdk.Spec) http.Handler
		says, not string
	}{
		{greedy, "your routes: shadowed: refuses /users/4711 (a value is the literal of another route) with 404", "your routes: slash as %2F"},
		{raw, "your routes: slash as %2F: answers /users/a%2Fb/settings (a value with an escaped slash) with 200, id=a%2Fb", "your routes: shadowed"},
	} {
		all := strings.Join(differences(t, k, exam, c.build), "\n")
		if !strings.Contains(all, c.says) || strings.Contains(all, c.not) {
			t.Errorf("%s\nwant %s\nand no %s", all, c.says, c.not)
		}
	}
}

// TestExamsWithoutNetHTTP: a table that net/http cannot have is in an exam too, against the most
// specific route.
func TestExamsWithoutNetHTTP(t *testing.T) {
	for src, path := range map[string]string{
		"GET /a/{x}/c\nGET /a/b/{y}\nGET /{n}/list": "/a/b/c",
		"GET /f/{id}.json\nGET /{n}/v\nGET /f/w/x":  "/f/v",
	} {
		k, exam := ownExam(t, src)
		if !strings.Contains(k.Reference(), "which it cannot have") {
			t.Errorf("the reference is %s", k.Reference())
		}
		if says := differences(t, k, exam, strict); len(says) > 0 {
			t.Errorf("%q: the reference differs: %q", src, says)
		}
		nowhere := func(sdk.Spec) http.Handler { return http.HandlerFunc(http.NotFound) }
		if all := strings.Join(differences(t, k, exam, nowhere), "\n"); !strings.Contains(all, "refuses "+path+" (a value is the literal of another route) with 404") {
			t.Errorf("%q: %s is not told of in\n%s", src, path, all)
		}
	}
	if k, _ := ownExam(t, pets); strings.Contains(k.Reference(), "cannot have") {
		t.Errorf("the reference is %s", k.Reference())
	}
}

// TestExamsOfLargeTablesAreBounded: the paths of each sort are few, and spread over the table.
func TestExamsOfLargeTablesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "GET /r%d/{id}/{item}\nGET /r%d/latest/x/y\n", i, i)
	}
	_, exam := ownExam(t, b.String())
	if exam.Bodies < 500 || exam.Bodies > 1000 {
		t.Errorf("%d requests", exam.Bodies)
	}
	last := 0
	for _, q := range requests(t, exam) {
		var n int
		if _, err := fmt.Sscanf(q.Path, "/r%d/latest/4711", &n); err == nil {
			last = max(last, n)
		}
	}
	if last < 2900 {
		t.Errorf("the last route asked for is %d", last)
	}
}

// ownExam returns the exam on a list of routes.
func ownExam(t *testing.T, list string) (*router.Kind, wire.Workload) {
	t.Helper()
	k := router.New()
	in, err := k.Input(tare.Workload{ID: "w", File: file(t, list), Op: "serve"}, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Probes(t.TempDir(), []wire.Workload{in}); err != nil {
		t.Fatal(err)
	}
	exams, err := k.Exams(t.TempDir())
	if err != nil || len(exams) != 2 {
		t.Fatalf("%d exams, %v", len(exams), err)
	}
	return k, exams[0]
}

// differences says how a router differs in an exam.
func differences(t *testing.T, k *router.Kind, exam wire.Workload, build func(sdk.Spec) http.Handler) []string {
	t.Helper()
	var says []string
	for _, a := range answers(t, exam, build) {
		if d, differs := k.Differ(exam, a); differs {
			says = append(says, d.Property+": "+d.Says)
		}
	}
	return says
}
