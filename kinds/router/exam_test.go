package router_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/router"
)

// mux is net/http's own, with or without its layers, methods and parameters.
func mux(spec sdk.Spec) http.Handler {
	m := http.NewServeMux()
	for _, route := range spec.Routes {
		path := route.BracePath()
		if strings.HasSuffix(path, "/") {
			path += "{$}"
		}
		m.HandleFunc(route.Method+" "+path, func(w http.ResponseWriter, r *http.Request) { route.Reply(w, r.PathValue) })
	}
	return spec.Wrap(m)
}

// prefix is the published mistake: a subtree, and nothing is read.
func prefix(spec sdk.Spec) http.Handler {
	m, known := http.NewServeMux(), map[string]bool{}
	for _, route := range spec.Routes {
		path, _, _ := strings.Cut(route.BracePath(), "{")
		if known[path] {
			continue
		}
		known[path] = true
		m.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { route.Reply(w, func(string) string { return "" }) })
	}
	return spec.Wrap(m)
}

// answers are those of a handler to all requests of a workload.
func answers(t *testing.T, in wire.Workload, build func(sdk.Spec) http.Handler) []wire.Answer {
	t.Helper()
	spec, err := sdk.ParseSpec(in.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var list []wire.Answer
	for i, q := range requests(t, in) {
		a, err := sdk.Ask(build(spec), spec, q)
		if err != nil {
			t.Fatal(err)
		}
		answer := output(t, a)
		answer.Case = i
		list = append(list, answer)
	}
	return list
}

func TestProbes(t *testing.T) {
	k, dir := router.New(), t.TempDir()
	var works []wire.Workload
	for i, w := range []tare.Workload{
		{Op: "serve"}, {Op: "socket"}, {Op: "serve", Set: map[string]string{"middleware": "5"}}, // one table
		{Op: "serve", N: 50, Set: map[string]string{"depth": "3", "params": "2"}},
	} {
		w.ID, w.Fixture = fmt.Sprint(i), "routes"
		in, err := k.Input(w, "", dir)
		if err != nil {
			t.Fatal(err)
		}
		works = append(works, in)
	}
	probes, err := k.Probes(dir, works)
	if err != nil || len(probes) != 2 || probes[0].ID != "probe/0" || probes[1].ID != "probe/3" {
		t.Fatalf("%+v, %v", probes, err)
	}
	for _, in := range probes {
		if len(requests(t, in)) < 10 {
			t.Errorf("%s asks only %d", in.ID, in.Bodies)
		}
		if wrong, err := k.Compare(in, answers(t, in, mux)); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %q, %v", in.ID, wrong, err)
		}
		wrong, err := k.Compare(in, answers(t, in, prefix))
		all := strings.Join(wrong, "\n")
		if err != nil || !strings.Contains(all, "DELETE /") || !strings.Contains(all, "want a refusal") {
			t.Errorf("%s: the published mistake passes: %s, %v", in.ID, all, err)
		}
		anything := func(sdk.Spec) http.Handler { return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}) }
		if wrong, err := k.Compare(in, answers(t, in, anything)); err != nil || len(wrong) != in.Bodies {
			t.Errorf("%s: %d of %d wrong, %v", in.ID, len(wrong), in.Bodies, err)
		}
	}
	if wrong, err := k.Compare(probes[0], []wire.Answer{{Error: "panic"}}); err != nil || len(wrong) != 1 {
		t.Errorf("a panic is a refusal: %q, %v", wrong, err)
	}
	works[0].Spec = nil
	if _, err := k.Probes(dir, works); err == nil {
		t.Error("probes of no table")
	}
}

// TestProbesOfAnyTable: there is nothing in them that a route is for.
func TestProbesOfAnyTable(t *testing.T) {
	for _, table := range []string{
		`{"routes":[{"method":"GET","path":"/"}]}`, `{"routes":[{"method":"GET","path":"/{a}"},{"method":"DELETE","path":"/{a}"}]}`,
		`{"routes":[{"method":"POST","path":"/a/"},{"method":"GET","path":"/{a}/{b}/{c}"}]}`,
	} {
		k := router.New()
		probes, err := k.Probes(t.TempDir(), []wire.Workload{{ID: "w", Spec: []byte(table)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range requests(t, probes[0]) {
			if !strings.HasPrefix(q.Path, "/") {
				t.Errorf("%s: %s %q", table, q.Method, q.Path)
			}
		}
		strict := func(spec sdk.Spec) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, ok := spec.Answer(wire.HTTPRequest{Method: r.Method, Path: r.URL.EscapedPath()}); !ok {
					w.WriteHeader(http.StatusNotFound)
				}
			})
		}
		if wrong, err := k.Compare(probes[0], answers(t, probes[0], strict)); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %q, %v", table, wrong, err)
		}
	}
}

func exam(t *testing.T) (*router.Kind, wire.Workload) {
	t.Helper()
	k := router.New()
	exams, err := k.Exams(t.TempDir())
	if err != nil || len(exams) != 1 {
		t.Fatalf("%+v, %v", exams, err)
	}
	return k, exams[0]
}

func TestTheReferenceDoesNotDiffer(t *testing.T) {
	k, in := exam(t)
	for _, a := range answers(t, in, mux) {
		if d, differs := k.Differ(in, a); differs {
			t.Errorf("%+v", d)
		}
	}
	if got, want := k.Reference(), "net/http.ServeMux "+runtime.Version(); got != want {
		t.Errorf("reference %q, want %q", got, want)
	}
}

// TestDifferences: what is said of an answer, and how much it matters.
func TestDifferences(t *testing.T) {
	k, in := exam(t)
	at := map[string]int{}
	for i, q := range requests(t, in) {
		at[q.Method+" "+q.Path] = i
	}
	reply := func(status int, body, location string) wire.Answer {
		a := sdk.Answer{HTTPResponse: wire.HTTPResponse{Status: status, Body: []byte(body), Header: map[string]string{}}}
		if location != "" {
			a.Header["Location"] = location
		}
		return output(t, a)
	}
	for _, c := range []struct {
		asked  string
		answer wire.Answer
		class  tare.DifferenceClass
		says   string
	}{
		{"GET /users/a%2Fb", reply(200, "1 id=a%2Fb", ""), tare.DiffersInValue, "answers /users/a%2Fb with 200, id=a%2Fb"},
		{"GET /users/a%2Fb", reply(404, "", ""), tare.DiffersInAcceptance, "refuses /users/a%2Fb with 404"},
		{"GET /users/%ff", reply(200, "1 id=", ""), tare.DiffersInValue, "answers /users/%ff with 200, id="},
		{"GET /health/", reply(301, "", "/health"), tare.DiffersInAcceptance, "redirects /health/ to /health"},
		{"GET /health/", reply(200, "0", ""), tare.DiffersInAcceptance, "answers /health/ with 200, route 0"},
		{"GET /health/", reply(200, "", ""), tare.DiffersInAcceptance, "answers /health/ with 200 and nothing"},
		{"GET //health", reply(301, "", "/somewhere"), tare.DiffersInForm, "redirects //health with 301 to /somewhere"},
		{"GET //health", reply(200, "0", ""), tare.DiffersInAcceptance, "answers //health with 200, route 0"},
		{"POST /health", reply(404, "no", ""), tare.DiffersInForm, "refuses POST /health with 404 instead of 405"},
		{"HEAD /health", reply(200, "other words", ""), "", ""},
		{"POST /health", reply(405, "other words", ""), "", ""},
		{"GET /HEALTH", wire.Answer{Error: "panic:\nno"}, tare.DiffersInAcceptance, "fails on /HEALTH"},
		{"GET /HEALTH", wire.Answer{Output: []byte("\xff")}, tare.DiffersInAcceptance, "makes no answer to /HEALTH"},
	} {
		n, ok := at[c.asked]
		if !ok {
			t.Fatalf("%s is not asked", c.asked)
		}
		c.answer.Case = n
		d, differs := k.Differ(in, c.answer)
		if differs != (c.says != "") || differs && (d.Class != c.class || d.Says != c.says) {
			t.Errorf("%s: %v, %s %q; want %s %q", c.asked, differs, d.Class, d.Says, c.class, c.says)
		}
		if differs && (d.Got == "" || d.Reference == "" || d.Asked == "" || d.Property == "" || len([]rune(d.Property)) > 25 || strings.Contains(d.Got+d.Asked+d.Says, "\n") || len(d.BearsOn) != 2) {
			t.Errorf("%s: %+v", c.asked, d)
		}
	}
	for _, n := range []int{-1, 1 << 20} {
		if _, differs := k.Differ(in, wire.Answer{Case: n, Error: "x"}); differs {
			t.Errorf("case %d differs", n)
		}
	}
	in.SHA256 = "nobody's"
	if _, differs := k.Differ(in, wire.Answer{Error: "x"}); differs {
		t.Error("nobody's exam differs")
	}
}

// TestMistakesDiffer: a router that reads nothing does so in every value.
func TestMistakesDiffer(t *testing.T) {
	k, in := exam(t)
	classes := map[tare.DifferenceClass]int{}
	cases := map[string]bool{}
	for _, a := range answers(t, in, prefix) {
		if d, differs := k.Differ(in, a); differs {
			classes[d.Class]++
			cases[d.Case] = true
		}
	}
	if classes[tare.DiffersInValue] < 8 || classes[tare.DiffersInAcceptance] < 3 || !cases["method"] {
		t.Errorf("%v %v", classes, cases)
	}
}

// FuzzDiffer: whatever a contender answers, what is said of it is one line
// that can be read.
func FuzzDiffer(f *testing.F) {
	f.Add(uint8(0), []byte(`{"status":200,"body":"MSBpZD0="}`), "")
	f.Add(uint8(11), []byte(`{"status":301,"header":{"Location":"\n"}}`), "")
	f.Add(uint8(3), []byte("{"), "panic: \xff")
	k := router.New()
	exams, err := k.Exams(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, n uint8, out []byte, failure string) {
		d, differs := k.Differ(exams[0], wire.Answer{Case: int(n) % exams[0].Bodies, Output: out, Error: failure})
		for _, text := range []string{d.Says, d.Got, d.Asked, d.Reference} {
			if differs && (text == "" || strings.ContainsAny(text, "\n\r\x00") || len([]rune(text)) > 250) {
				t.Errorf("%q", text)
			}
		}
	})
}
