package router_test

import (
	"encoding/json"
	"os"
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
