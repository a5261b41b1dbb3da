package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// mux is a contender: net/http's own.
func mux(_ context.Context, spec Spec) (http.Handler, error) {
	m := http.NewServeMux()
	for _, route := range spec.Routes {
		m.HandleFunc(route.Method+" "+route.BracePath(), func(w http.ResponseWriter, r *http.Request) { route.Reply(w, r.PathValue) })
	}
	return spec.Wrap(m), nil
}

// native is a contender that serves requests of its own: raw ones.
func native(_ context.Context, spec Spec) (Native, error) {
	answer := func(raw []byte) Answer {
		method, rest, _ := bytes.Cut(raw, []byte(" "))
		path, _, _ := bytes.Cut(rest, []byte(" "))
		for _, l := range spec.Layers {
			set := func(string, string) {}
			l.Around(Exchange{Get: func(string) string { return "" }, Set: set, Next: func() {}, Status: func() int { return 200 }})
		}
		a, ok := spec.Answer(wire.HTTPRequest{Method: string(method), Path: string(path)})
		if !ok {
			a.Status = http.StatusNotFound
		}
		return a
	}
	return Native{
		Prepare: func(raw []byte) (Prepared, error) {
			return Prepared{
				Serve:  func() (int, []byte) { a := answer(raw); return a.Status, a.Body },
				Header: func(string) string { return "" },
			}, nil
		},
		Listen: func(l net.Listener) (func(), error) {
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := answer([]byte(r.Method + " " + r.URL.EscapedPath() + " "))
				w.WriteHeader(a.Status)
				_, _ = w.Write(a.Body)
			})}
			return serveUntil(server.Serve, l, func() { _ = server.Close() }), nil
		},
	}, nil
}

// table is a workload of two routes behind n layers, and requests to them.
func table(t testing.TB, op string, layers int) (wire.Workload, []wire.HTTPRequest) {
	t.Helper()
	names, err := LayerNames(layers)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := FormatSpec([]fixture.Route{{Method: "GET", Path: "/users/latest"}, {Method: "GET", Path: "/users/{id}"}, {Method: "GET", Path: "/users/{id}/orders/{item}"}}, names)
	if err != nil {
		t.Fatal(err)
	}
	var list []wire.HTTPRequest
	for _, path := range []string{"/users/latest?page=7", "/users/blue%20lamp", "/users/caf%C3%A9/orders/100%25", "/users/latest-1"} {
		list = append(list, wire.HTTPRequest{Method: "GET", Path: path, Header: map[string]string{"Origin": "https://example.com"}})
	}
	return wire.Workload{ID: "w", Fixture: "routes", Op: op, Spec: raw}, list
}

// talk serves requests after a hello and a prepare, and returns all replies.
func talk(t *testing.T, h *host, variant string, w wire.Workload, list []wire.HTTPRequest, requests ...wire.Request) []wire.Reply {
	t.Helper()
	defer h.close()
	var bodies [][]byte
	for _, q := range list {
		body, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	file := fixture.File(bodies)
	sum := sha256.Sum256(file)
	w.Input, w.Bodies, w.SHA256 = filepath.Join(t.TempDir(), "pool"), len(bodies), hex.EncodeToString(sum[:])
	if err := os.WriteFile(w.Input, file, 0o600); err != nil {
		t.Fatal(err)
	}
	all := append([]wire.Request{{Op: wire.OpHello, Protocol: wire.Protocol, Variant: variant}, {Op: wire.OpPrepare, Workload: &w}}, requests...)
	var in, out bytes.Buffer
	ask := wire.NewWriter(&in)
	for i, q := range all {
		q.ID, q.On = int64(i), w.ID
		if err := ask.Request(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := contender.Serve(h.newProgram(), &in, &out); err != nil {
		t.Fatal(err)
	}
	replies := make([]wire.Reply, len(all))
	hear := wire.NewReader(&out)
	for i := range replies {
		var err error
		if replies[i], err = hear.Reply(); err != nil {
			t.Fatal(err)
		}
	}
	return replies
}

func one(b builder) *host { return newHost(map[string]builder{"": b}) }

func TestOperations(t *testing.T) {
	for name, b := range map[string]builder{"mux": Build(mux).newStack, "null": Build(Null).newStack, "native": BuildNative(native).newStack} {
		for _, op := range []string{OpServe, OpSocket} {
			for _, layers := range []int{0, 5} {
				w, list := table(t, op, layers)
				got := talk(t, one(b), "", w, list,
					wire.Request{Op: wire.OpAnswer, Cases: []int{3, 0, 1, 2, 3}}, wire.Request{Op: wire.OpSlice, Until: "ops", Ops: 8}, wire.Request{Op: wire.OpStats, Ops: 4})
				at := fmt.Sprintf("%s, %s, %d layers", name, op, layers)
				if got[0].Kind != "router" || got[0].Variants != nil || got[1].Error != nil || got[1].Fresh {
					t.Fatalf("%s: %+v", at, got[:2])
				}
				size := checkAnswers(t, at, w, list, got[2].Answers, name == "native")
				if s := got[3]; s.Ops != 8 || s.Errors != 0 || s.BytesOut != 2*size {
					t.Errorf("%s: slice %+v, want %d bytes", at, s, 2*size)
				}
				if s := got[4]; s.Ops != 4 || s.Errors != 0 || s.BytesOut != size {
					t.Errorf("%s: stats %+v, want %d bytes", at, s, size)
				}
			}
		}
	}
}

// checkAnswers holds answers to cases 3 0 1 2 3 against the right ones, and
// returns how many bytes the four different ones have.
func checkAnswers(t *testing.T, at string, w wire.Workload, list []wire.HTTPRequest, answers []wire.Answer, bare bool) (size int64) {
	t.Helper()
	spec, err := ParseSpec(w.Spec)
	if err != nil || len(answers) != 5 {
		t.Fatalf("%s: %d answers, %v", at, len(answers), err)
	}
	for i, a := range answers {
		var got Answer
		if err := json.Unmarshal(a.Output, &got); err != nil || a.Error != "" {
			t.Fatalf("%s: %+v, %v", at, a, err)
		}
		right, ok := spec.Answer(list[a.Case])
		if bare {
			right.Header = nil
		}
		if diff := got.Differs(right); !ok || diff != "" {
			t.Errorf("%s: case %d: %s", at, a.Case, diff)
		}
		if a.Size != int64(len(got.Body)) {
			t.Errorf("%s: case %d: size %d, body %q", at, a.Case, a.Size, got.Body)
		}
		if i > 0 {
			size += a.Size
		}
	}
	return size
}

// TestWrongRouters: what a router does not do shows in its answers or in
// errors of the timed loop.
func TestWrongRouters(t *testing.T) {
	wrong := map[string]struct {
		build Build
		want  string
	}{
		"never reads": {func(_ context.Context, spec Spec) (http.Handler, error) {
			m := http.NewServeMux()
			m.HandleFunc("/users/", func(w http.ResponseWriter, _ *http.Request) {
				spec.Routes[1].Reply(w, func(string) string { return "" })
			})
			return spec.Wrap(m), nil
		}, `body "1 id=", want "1 id=blue lamp"`},
		"no layers": {func(ctx context.Context, spec Spec) (http.Handler, error) {
			spec.Layers = nil
			return mux(ctx, spec)
		}, "0 calls of middleware, want 3"},
		"one layer twice": {func(ctx context.Context, spec Spec) (http.Handler, error) {
			spec.Layers = append(spec.Layers, spec.Layers[2])
			return mux(ctx, spec)
		}, "4 calls of middleware, want 3"},
		"finds nothing": {func(context.Context, Spec) (http.Handler, error) { return http.NotFoundHandler(), nil }, "status 404, want 200"},
	}
	for name, c := range wrong {
		for _, op := range []string{OpServe, OpSocket} {
			w, list := table(t, op, 3)
			got := talk(t, one(c.build.newStack), "", w, list, wire.Request{Op: wire.OpAnswer, Cases: []int{1}}, wire.Request{Op: wire.OpSlice, Until: "ops", Ops: 4})
			spec, _ := ParseSpec(w.Spec)
			right, _ := spec.Answer(list[1])
			var a Answer
			if err := json.Unmarshal(got[2].Answers[0].Output, &a); err != nil {
				t.Fatalf("%s: %+v", name, got[2])
			}
			if diff := a.Differs(right); !strings.Contains(diff, c.want) {
				t.Errorf("%s, %s: %q, want %q", name, op, diff, c.want)
			}
			if failed := got[3].Errors > 0; failed != (name == "finds nothing") {
				t.Errorf("%s, %s: slice %+v", name, op, got[3])
			}
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	w, list := table(t, OpServe, 0)
	for name, c := range map[string]struct {
		b    Build
		edit func(w *wire.Workload)
		want string
	}{
		"unsupported op": {mux, func(w *wire.Workload) { w.Op = "marshal" }, ""},
		"unsupported table": {func(context.Context, Spec) (http.Handler, error) {
			return nil, fmt.Errorf("no: %w", contender.ErrUnsupported)
		}, nil, ""},
		"build fails":  {func(context.Context, Spec) (http.Handler, error) { return nil, errors.New("no tree") }, nil, "no tree"},
		"build panics": {func(context.Context, Spec) (http.Handler, error) { panic("conflict") }, nil, "panic: conflict"},
		"no handler":   {func(context.Context, Spec) (http.Handler, error) { return nil, nil }, nil, "built no handler"},
		"no table":     {mux, func(w *wire.Workload) { w.Spec = nil }, "read the table of routes"},
	} {
		asked := w
		if c.edit != nil {
			c.edit(&asked)
		}
		got := talk(t, one(c.b.newStack), "", asked, list)[1]
		switch {
		case c.want == "" && !got.Unsupported:
			t.Errorf("%s: %+v, want unsupported", name, got)
		case c.want != "" && (got.Error == nil || !strings.Contains(got.Error.Message, c.want)):
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	half := BuildNative(func(context.Context, Spec) (Native, error) { return Native{}, nil })
	if got := talk(t, one(half.newStack), "", w, list)[1]; got.Error == nil || !strings.Contains(got.Error.Message, "without Prepare or Listen") {
		t.Errorf("half a native: %+v", got)
	}
	broken := []wire.HTTPRequest{{Method: "GET", Path: "no path"}}
	if got := talk(t, one(Build(mux).newStack), "", w, broken)[1]; got.Error == nil || !strings.Contains(got.Error.Message, "request 0: read the request") {
		t.Errorf("a request that is none: %+v", got)
	}
}

func TestVariants(t *testing.T) {
	h := newHost(map[string]builder{"b": Build(Null).newStack, "a": Build(mux).newStack})
	w, list := table(t, OpServe, 0)
	got := talk(t, h, "a", w, list, wire.Request{Op: wire.OpAnswer, Cases: []int{0}})
	if fmt.Sprint(got[0].Variants) != "[a b]" || got[1].Error != nil || got[2].Answers[0].Error != "" {
		t.Errorf("%+v", got)
	}
}

// TestRequestsAreRenewed: what a router writes into a request is gone before
// the next one.
func TestRequestsAreRenewed(t *testing.T) {
	vandal := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Method, r.URL.Path, r.URL.RawQuery, r.PathValue("id"), r.Pattern, r.Form)
		r.Method, r.URL.Path, r.URL.RawQuery, r.Pattern = "POST", "/elsewhere", "", "x"
		r.SetPathValue("id", "7")
		r.Form = map[string][]string{"a": nil}
		w.Header().Set("X-Request-Id", "left")
		w.WriteHeader(http.StatusTeapot) // too late
	})
	p, err := newHandler(vandal).loadRequest(wire.HTTPRequest{Method: "GET", Path: "/users/1?page=2"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if status, body := p.Serve(); status != 200 || string(body) != "GET/users/1page=2map[]" {
			t.Fatalf("%d %s", status, body)
		}
	}
	silent, err := newHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).loadRequest(wire.HTTPRequest{Method: "GET", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := silent.Serve(); status != 200 || len(body) != 0 || silent.Header("X-Request-Id") != "" {
		t.Errorf("%d %q", status, body)
	}
}

// TestTheHarnessAllocatesNothing: what is allocated is the router's own.
func TestTheHarnessAllocatesNothing(t *testing.T) {
	w, list := table(t, OpServe, 0)
	spec, err := ParseSpec(w.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]Build{
		"null": Null,
		"a reply": func(_ context.Context, spec Spec) (http.Handler, error) {
			value := func(string) string { return "blue lamp" }
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { spec.Routes[2].Reply(w, value) }), nil
		},
	} {
		s, err := b.newStack(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.loadRequest(list[2])
		if err != nil {
			t.Fatal(err)
		}
		do := newWork(spec, []Prepared{p}, false).Do
		if n := testing.AllocsPerRun(100, func() {
			if _, err := do(0); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per request", name, n)
		}
	}
}

// TestWhatHasToBeRefused: an answer to it is the error, and a refusal none.
func TestWhatHasToBeRefused(t *testing.T) {
	for _, c := range []struct {
		status  int
		refused bool
		wrong   bool
	}{
		{200, false, false}, {204, false, true}, {301, false, true}, {404, false, true},
		{200, true, true}, {301, true, false}, {404, true, false}, {405, true, false},
	} {
		p := Prepared{Serve: func() (int, []byte) { return c.status, nil }}
		if _, err := newWork(Spec{}, []Prepared{p}, c.refused).Do(0); (err != nil) != c.wrong {
			t.Errorf("status %d, to be refused: %v; %v", c.status, c.refused, err)
		}
	}
	for ask, want := range map[string]bool{"": false, AskAll: false, AskStatic: false, AskUnknown: true, AskMethod: true} {
		if got := mustReject(wire.Workload{Set: map[string]string{SetAsk: ask}}); got != want {
			t.Errorf("%q: %v", ask, got)
		}
	}
}

// TestATableThatCannotBeHad: of somebody's own the reason is told.
func TestATableThatCannotBeHad(t *testing.T) {
	w, _ := table(t, OpServe, 0)
	h := newHost(map[string]builder{"": Build(func(context.Context, Spec) (http.Handler, error) {
		return nil, fmt.Errorf("latest conflicts with :id: %w", contender.ErrUnsupported)
	}).newStack})
	if _, err := h.prepareOp("", w, nil); !errors.Is(err, contender.ErrUnsupported) {
		t.Errorf("%v, want it left out", err)
	}
	w.Fixture = UserFixture
	const want = "it cannot have this table: latest conflicts with :id"
	if _, err := h.prepareOp("", w, nil); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAsk(t *testing.T) {
	w, list := table(t, OpServe, 2)
	spec, _ := ParseSpec(w.Spec)
	h, _ := mux(context.Background(), spec)
	a, err := Ask(h, spec, list[1])
	if err != nil || a.LayerCalls != 2 || string(a.Body) != "1 id=blue lamp" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Ask(h, spec, wire.HTTPRequest{Method: "GET", Path: "x y"}); err == nil {
		t.Error("a request that is none was answered")
	}
}

func ExampleRoute() {
	raw, _ := FormatSpec([]fixture.Route{{Method: "GET", Path: "/users/{id}/orders/{item}"}}, nil)
	spec, _ := ParseSpec(raw)
	route := spec.Routes[0]
	fmt.Println(route.Method, route.ColonPath(), route.BracePath(), route.Params)
	route.Reply(os.Stdout, func(name string) string { return "the " + name })
	// Output:
	// GET /users/:id/orders/:item /users/{id}/orders/{item} [id item]
	// 0 id=the id item=the item
}

var _ io.Writer = (*recorder)(nil)
