package router_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/router"
)

func input(t *testing.T, k *router.Kind, w tare.Workload) (wire.Workload, []wire.HTTPRequest) {
	t.Helper()
	in, err := k.Input(w, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return in, requests(t, in)
}

func requests(t *testing.T, in wire.Workload) (list []wire.HTTPRequest) {
	t.Helper()
	src, err := os.ReadFile(in.Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range fixture.Lines(src) {
		var q wire.HTTPRequest
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	if len(list) != in.Bodies {
		t.Fatalf("%d requests in the file, %d announced", len(list), in.Bodies)
	}
	return list
}

// output is an answer as a contender puts it out.
func output(t *testing.T, a sdk.Answer) wire.Answer {
	t.Helper()
	out, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Answer{Output: out, Size: int64(len(a.Body))}
}

// TestTheReferenceNeedsNoRouter: what Input holds right by how it made the
// requests is what follows from the table segment by segment.
func TestTheReferenceNeedsNoRouter(t *testing.T) {
	k := router.New()
	for _, w := range []tare.Workload{
		{N: 1}, {N: 1, Set: map[string]string{"params": "1", "middleware": "5"}},
		{N: 5, Set: map[string]string{"depth": "3", "params": "1"}}, {N: 50, Set: map[string]string{"depth": "6", "middleware": "1"}},
		{N: 50, Set: map[string]string{"depth": "1", "params": "2"}}, {N: 500, Set: map[string]string{"depth": "3", "params": "2", "siblings": "some"}},
		{N: 500, Set: map[string]string{"depth": "3", "params": "2", "siblings": "none"}, Pool: 700},
	} {
		w.ID, w.Fixture, w.Op = "w", "routes", "serve"
		in, list := input(t, k, w)
		spec, err := sdk.ParseSpec(in.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if len(spec.Routes) != w.N || in.N != w.N || in.Fixture != "routes" || in.Op != "serve" {
			t.Errorf("%+v", in)
		}
		var answers []wire.Answer
		for i, q := range list {
			a, ok := spec.Answer(q)
			if !ok {
				t.Fatalf("%+v: no route for %s", w, q.Path)
			}
			if _, there := a.Header["X-Request-Id"]; there {
				a.Header["X-Request-Id"] = "0123456789abcdef"
			}
			answer := output(t, a)
			answer.Case = i
			answers = append(answers, answer)
		}
		if wrong, err := k.Compare(in, answers); err != nil || len(wrong) > 0 {
			t.Errorf("%+v: %d wrong, %v; first %s", w, len(wrong), err, wrong[0])
		}
	}
}

func TestCompareSaysWhatIsWrong(t *testing.T) {
	k := router.New()
	in, list := input(t, k, tare.Workload{ID: "w", Fixture: "routes", N: 5, Op: "socket", Set: map[string]string{"params": "1", "middleware": "1"}})
	spec, _ := sdk.ParseSpec(in.Spec)
	right, _ := spec.Answer(list[3])
	right.Header["X-Request-Id"] = "0123456789abcdef"
	silent := right
	silent.LayerCalls = 0
	for _, c := range []struct {
		answer wire.Answer
		want   string
	}{
		{output(t, right), ""},
		{output(t, silent), "0 calls of middleware, want 1"},
		{output(t, sdk.Answer{HTTPResponse: wire.HTTPResponse{Status: 404}}), "status 404, want 200"},
		{wire.Answer{Error: "panic: no"}, `returned the error "panic: no"`},
		{wire.Answer{Output: []byte("7")}, "the answer is not one"},
	} {
		c.answer.Case = 3
		wrong, err := k.Compare(in, []wire.Answer{c.answer})
		if err != nil || len(wrong) != min(1, len(c.want)) || len(wrong) == 1 && (!strings.Contains(wrong[0], c.want) || !strings.HasPrefix(wrong[0], "case 3, "+list[3].Path)) {
			t.Errorf("%q, %v; want %q", wrong, err, c.want)
		}
	}
	for _, n := range []int{-1, len(list)} {
		if _, err := k.Compare(in, []wire.Answer{{Case: n}}); err == nil {
			t.Errorf("an answer to case %d was accepted", n)
		}
	}
}

// TestOtherLayersAreOtherAnswers although the requests are the same.
func TestOtherLayersAreOtherAnswers(t *testing.T) {
	k := router.New()
	bare, list := input(t, k, tare.Workload{ID: "a", Fixture: "routes", Op: "serve"})
	behind, _ := input(t, k, tare.Workload{ID: "b", Fixture: "routes", Op: "serve", Set: map[string]string{"middleware": "3"}})
	if bare.SHA256 != behind.SHA256 {
		t.Fatal("the requests differ")
	}
	spec, _ := sdk.ParseSpec(bare.Spec)
	a, _ := spec.Answer(list[0])
	for w, want := range map[*wire.Workload]int{&bare: 0, &behind: 1} {
		if wrong, err := k.Compare(*w, []wire.Answer{output(t, a)}); err != nil || len(wrong) != want {
			t.Errorf("%s: %q, %v", w.ID, wrong, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	k := router.New()
	for _, w := range []tare.Workload{
		{ID: "w", Fixture: "routes", Op: "serve"}, {ID: "w", Fixture: "routes", Op: "serve", Pool: 1},
		{ID: "w", Fixture: "routes", N: 500, Op: "socket", Set: map[string]string{"params": "2"}},
	} {
		in, list := input(t, k, w)
		got, err := k.Describe(w, in)
		if err != nil {
			t.Fatal(err)
		}
		src, _ := os.ReadFile(in.Input)
		if got.Keys != len(list) || got.DistinctKeys != len(list) || got.Bytes != int64(len(src)-len(list)) || got.N != max(1, w.N) || got.ID != "w" {
			t.Errorf("%+v is described as %+v", w, got)
		}
	}
}

func TestWhatCannotBeAsked(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "api.json"), []byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{}}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, w := range map[string]tare.Workload{
		`unknown op "marshal"; a router can be asked to serve, socket`:           {Fixture: "routes", Op: "marshal"},
		`unknown fixture "devices"`:                                              {Fixture: "devices", Op: "serve"},
		"connections and rates are for servers":                                  {Fixture: "routes", Op: "serve", Traffic: &tare.Traffic{Connections: 1}},
		"1001 routes, want 1 to 1000":                                            {Fixture: "routes", Op: "serve", N: 1001},
		"7 literal segments":                                                     {Fixture: "routes", Op: "serve", Set: map[string]string{"depth": "7"}},
		"3 parameters":                                                           {Fixture: "routes", Op: "serve", Set: map[string]string{"params": "3"}},
		"set: middleware: a chain of 6 layers, want 0 to 5":                      {Fixture: "routes", Op: "serve", Set: map[string]string{"middleware": "6"}},
		`set: depth: "deep" is not a number`:                                     {Fixture: "routes", Op: "serve", Set: map[string]string{"depth": "deep"}},
		`"many" is neither some nor none`:                                        {Fixture: "routes", Op: "serve", Set: map[string]string{"siblings": "many"}},
		"set: colour: a table of routes has depth, params, siblings, middleware": {Fixture: "routes", Op: "serve", Set: map[string]string{"colour": "red"}},
		"set: depth: a table of routes has middleware":                           {File: "api.json", Op: "serve", Set: map[string]string{"depth": "1"}},
		"20000 visits":            {Fixture: "routes", Op: "serve", Pool: 20000},
		"none.json: no such file": {File: "none.json", Op: "serve"},
		"api.yaml: want an OpenAPI document in JSON, a file that ends in .json": {File: "api.yaml", Op: "serve"},
	} {
		w.ID = "w"
		_, err := router.New().Input(w, dir, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `workload "w": `) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestAUsersRoutes: an OpenAPI document becomes a table and requests to it.
func TestAUsersRoutes(t *testing.T) {
	dir := t.TempDir()
	doc := `{"openapi": "3.0.3", "paths": {
		"/pets/{petId}": {"get": {}, "delete": {}, "parameters": []},
		"/pets/mine": {"get": {}},
		"/pets/{id}/toys/{toy-name}": {"put": {}},
		"/": {"get": {}}
	}}`
	if err := os.WriteFile(filepath.Join(dir, "api.json"), []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := router.New().Input(tare.Workload{ID: "w", File: "api.json", Op: "serve", Set: map[string]string{"middleware": "1"}}, dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"routes":[{"method":"GET","path":"/"},{"method":"GET","path":"/pets/mine"},{"method":"DELETE","path":"/pets/{petId}"},{"method":"GET","path":"/pets/{petId}"},{"method":"PUT","path":"/pets/{petId}/toys/{toy_name}"}],"layers":["request-id"]}`
	if string(in.Spec) != want || in.N != 5 {
		t.Errorf("%s", in.Spec)
	}
	methods := map[string]int{}
	for _, q := range requests(t, in) {
		methods[q.Method]++
	}
	if methods["GET"] != 78 || methods["DELETE"] != 26 || methods["PUT"] != 26 {
		t.Errorf("requests by method: %v", methods)
	}
}
