package routestudy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/router"
)

// known is a difference of a router that was reported in public.
type known struct {
	router, issue string
	table         string // file in testdata/known
	method, path  string // empty: the router cannot have the table
	status        int
	answer        string // body, or where a redirect leads, or why the table is refused
	says          string
}

const github = "https://github.com/"

func knownDifferences() []known {
	return []known{
		{"gin-new", "gin-gonic/gin/issues/2900", "nested.txt", "GET", "/a/d", 404, "", "refuses /a/d (a value is the literal of another route) with 404"},
		{"gin-new", "gin-gonic/gin/issues/2762", "shadowed.txt", "GET", "/users/4711", 404, "", "refuses /users/4711 (a value is the literal of another route) with 404"},
		{"gin-new", "gin-gonic/gin/issues/4844", "names.txt", "GET", "/b", 301, "/b/", "redirects /b (a value is the literal of another route) to /b/"},
		{"gin-new", "gin-gonic/gin/issues/3024", "hello.txt", "GET", "/hello/a%2Fb", 200, "1 param1=a param2=b", "answers /hello/a%2Fb (a value with an escaped slash) with 200, param1=a param2=b"},
		{"gin-new", "gin-gonic/gin/issues/935", "users.txt", "GET", "/users/a%2Fb/posts", 404, "", "refuses /users/a%2Fb/posts (a value with an escaped slash) with 404"},
		{"gin-new", "gin-gonic/gin/issues/1201", "contact.txt", "HEAD", "/health", 404, "", "refuses HEAD /health with 404"},
		{"gin-new", "gin-gonic/gin/issues/3000", "contact.txt", "POST", "/health", 404, "", "refuses POST /health with 404 instead of 405"},
		{"httprouter", "julienschmidt/httprouter/issues/275", "details.txt", "", "", 0, "wildcard route ':userId' conflicts with existing children in path '/v2/user/:userId'",
			"httprouter cannot have these routes: wildcard route ':userId' conflicts with existing children in path '/v2/user/:userId'."},
		{"httprouter", "julienschmidt/httprouter/issues/145", "list.txt", "", "", 0, "wildcard route ':name' conflicts with existing children in path '/:name/list'",
			"httprouter cannot have these routes: wildcard route ':name' conflicts with existing children in path '/:name/list'."},
		{"httprouter", "julienschmidt/httprouter/pull/140", "name.txt", "GET", "/hello/a%2Fb", 404, "", "refuses /hello/a%2Fb (a value with an escaped slash) with 404"},
		{"gorilla-mux", "gorilla/mux/issues/639", "repositories.txt", "GET", "/repositories/4711/a%2Fb", 404, "", "refuses /repositories/4711/a%2Fb (a value with an escaped slash) with 404"},
		{"gorilla-mux", "gorilla/mux/issues/740", "hello.txt", "GET", "/hello/a%2Fb", 200, "1 param1=a param2=b", "answers /hello/a%2Fb (a value with an escaped slash) with 200, param1=a param2=b"},
		{"chi", "go-chi/chi/issues/570", "name.txt", "GET", "/hello/a%2Fb", 200, "0 name=a%2Fb", "answers /hello/a%2Fb (a value with an escaped slash) with 200, name=a%2Fb"},
		{"chi", "go-chi/chi/issues/832", "name.txt", "GET", "/users/caf%c3%a9", 200, "1 id=caf%c3%a9", "answers /users/caf%c3%a9 with 200, id=caf%c3%a9"},
		{"chi", "go-chi/chi/issues/238", "name.txt", "HEAD", "/health", 405, "", "refuses HEAD /health with 405"},
		{"echo", "labstack/echo/issues/1974", "users.txt", "GET", "/users/a%2Fb/posts", 200, "2 id=a%2Fb", "answers /users/a%2Fb/posts (a value with an escaped slash) with 200, id=a%2Fb"},
		{"echo", "labstack/echo/issues/1117", "name.txt", "GET", "/users/caf%c3%a9", 200, "1 id=caf%c3%a9", "answers /users/caf%c3%a9 with 200, id=caf%c3%a9"},
		{"fiber", "gofiber/fiber/issues/1521", "name.txt", "GET", "/hello/4711/", 200, "0 name=4711", "answers /hello/4711/ (a slash more or less at the end) with 200, name=4711"},
		{"fasthttp", "fasthttp/router/issues/16", "name.txt", "GET", "/hello/4711/", 301, "http://localhost/hello/4711", "redirects /hello/4711/ (a slash more or less at the end) to http://localhost/hello/4711"},
		{"iris", "kataras/iris/issues/437", "contact.txt", "GET", "/ping/", 301, "/ping", "redirects /ping/ (a slash more or less at the end) to /ping"},
		{"hertz", "cloudwego/hertz/issues/818", "contact.txt", "GET", "/ping/", 301, "/ping", "redirects /ping/ (a slash more or less at the end) to /ping"},
		{"nethttp", "golang/go/issues/61410", "crossed.txt", "", "", 0, "panic: pattern \"GET /{a}/c\"", `net/http cannot have these routes: panic: pattern "GET /{a}/c"`},
	}
}

// questions are the exams on a table, with the place of each request in them.
type questions struct {
	document *Document
	kind     *router.Kind
	exams    []wire.Workload
	at       map[string]place // by method and path
}

type place struct {
	exam wire.Workload
	n    int
}

// examined makes the exams that tare routes makes of a file.
func examined(t *testing.T, file string) questions {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata/known", file))
	if err != nil {
		t.Fatal(err)
	}
	q := questions{kind: router.New(), at: map[string]place{}}
	if q.document, err = Read(file, src); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, q.document.ListName())
	if err := os.WriteFile(list, []byte(q.document.Table.List()), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := q.kind.Input(tare.Workload{ID: allID, File: list, Op: sdk.OpServe}, "", dir)
	if err == nil {
		_, err = q.kind.Probes(dir, []wire.Workload{in})
	}
	if err == nil {
		q.exams, err = q.kind.Exams(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, exam := range q.exams {
		lines, err := os.ReadFile(exam.Input)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
			var r wire.HTTPRequest
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			q.at[r.Method+" "+r.Path] = place{exam, n}
		}
	}
	return q
}

// recorded is what the router of k answered when this was written.
func (k known) recorded(t *testing.T, n int) wire.Answer {
	t.Helper()
	a := sdk.Answer{HTTPResponse: wire.HTTPResponse{Status: k.status, Header: map[string]string{}}}
	if k.status/100 == 3 {
		a.Header["Location"] = k.answer
	} else {
		a.Body = []byte(k.answer)
	}
	out, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Answer{Case: n, Output: out}
}

// named says what tare routes says of an answer, or of a router that refuses the table.
func (k known) named(q questions, answer func(at place) (wire.Answer, error)) string {
	if k.path == "" {
		_, err := answer(place{exam: q.exams[0]})
		var failed *tare.TrialError
		if !errors.As(err, &failed) {
			return fmt.Sprintf("it has the table (%v)", err)
		}
		r := new(tare.Result)
		r.Trials = []tare.Trial{{Contender: k.router, Error: failed}}
		return strings.Join(listRejected(r), "")
	}
	at, asked := q.at[k.method+" "+k.path]
	if !asked {
		return "it is not asked"
	}
	got, err := answer(at)
	if err != nil {
		return err.Error()
	}
	got.Case = at.n
	d, differs := q.kind.Differ(at.exam, got)
	if !differs {
		return "it does not differ"
	}
	return d.Says
}

// TestKnownDifferences: tare routes names what is known of routers, on a small table for each. Without
// -short the routers themselves are asked; otherwise what they answered before.
func TestKnownDifferences(t *testing.T) {
	for _, k := range knownDifferences() {
		says := k.named(examined(t, k.table), func(at place) (wire.Answer, error) {
			if k.path == "" {
				return wire.Answer{}, &tare.TrialError{Message: "prepare: load: " + sdk.Refusal + k.answer}
			}
			return k.recorded(t, at.n), nil
		})
		if !strings.HasPrefix(says, k.says) {
			t.Errorf("%s%s, GET %s: %q, want %q", github, k.issue, k.path, says, k.says)
		}
	}
	if testing.Short() {
		t.Skip("asks recorded answers only: the routers are built without -short")
	}
	from, err := catalog.Open("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	sources := &catalog.Sources{Catalog: from, Builder: &build.Builder{Cache: testtare.Cache(t)}}
	open := map[string]*trial.Session{}
	for _, k := range knownDifferences() {
		if open[k.router] == nil {
			open[k.router] = start(t, sources, k.router)
		}
		s, q := open[k.router], examined(t, k.table)
		says := k.named(q, func(at place) (wire.Answer, error) {
			if _, err := s.Prepare(t.Context(), at.exam); err != nil {
				return wire.Answer{}, err
			}
			answers, err := s.Answer(t.Context(), at.exam.ID, []int{at.n})
			if err != nil {
				return wire.Answer{}, err
			}
			return answers[0], nil
		})
		if !strings.HasPrefix(says, k.says) {
			t.Errorf("%s%s: %s says %q, want %q", github, k.issue, k.router, says, k.says)
		}
	}
}

// start starts a router of the catalog.
func start(t *testing.T, sources *catalog.Sources, id string) *trial.Session {
	t.Helper()
	p, err := sources.Program(t.Context(), sdk.Kind, "", tare.Entry{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := router.New().Open(t.Context(), p, trial.Spec{Name: id})
	if err != nil {
		t.Fatal(err)
	}
	s := &trial.Session{Conn: conn, Trial: id}
	t.Cleanup(func() { s.Close(context.Background()) })
	if _, err := s.Hello(t.Context(), p.Variant, "1"); err != nil {
		t.Fatal(err)
	}
	return s
}
