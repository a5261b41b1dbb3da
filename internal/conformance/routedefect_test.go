package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/conformance"
)

// beRouter makes the test binary the router with the defect that its first argument names.
func beRouter() {
	for _, d := range routerDefects() {
		if len(os.Args) == 2 && os.Args[1] == "router "+d.name {
			router.Main(func(_ context.Context, spec router.Spec) (http.Handler, error) { return d.build(spec) })
		}
	}
}

// routerDefect is a router that does one thing wrong, and what the suite says.
type routerDefect struct {
	name  string
	build func(spec router.Spec) (http.Handler, error)
	want  string // empty: nothing is wrong
}

func routerDefects() []routerDefect {
	return []routerDefect{
		{"none", func(spec router.Spec) (http.Handler, error) { return spec.Wrap(routed(spec)), nil }, ""},
		{"no literal beside a parameter", func(spec router.Spec) (http.Handler, error) {
			for _, r := range spec.Routes {
				if len(r.Params) == 1 && strings.HasSuffix(r.BracePath(), "/export") {
					return nil, contender.ErrUnsupported
				}
			}
			return spec.Wrap(routed(spec)), nil
		}, ""},
		{"no table at all", func(router.Spec) (http.Handler, error) { return nil, contender.ErrUnsupported }, "supports none"},
		{"never reads", func(spec router.Spec) (http.Handler, error) {
			m := http.NewServeMux()
			for _, r := range spec.Routes {
				m.HandleFunc(pattern(r), func(w http.ResponseWriter, _ *http.Request) { r.Reply(w, func(string) string { return "" }) })
			}
			return spec.Wrap(m), nil
		}, `id=", want`},
		{"no layers", func(spec router.Spec) (http.Handler, error) { return routed(spec), nil }, "0 calls of middleware, want 5"},
		{"layers of its own", func(spec router.Spec) (http.Handler, error) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				routed(spec).ServeHTTP(w, r)
				for _, l := range spec.Layers {
					nothing := func(string, string) {}
					l.Around(router.Exchange{Get: r.Header.Get, Set: nothing, Next: func() {}, Status: func() int { return 200 }})
				}
			}), nil
		}, "header X-Request-Id"},
		{"first match", func(spec router.Spec) (http.Handler, error) {
			for i, j := 0, len(spec.Routes)-1; i < j; i, j = i+1, j-1 {
				spec.Routes[i], spec.Routes[j] = spec.Routes[j], spec.Routes[i]
			}
			return spec.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { first(spec, w, r) })), nil
		}, "routes/serve-beside: case"},
		{"catch-all of one segment", func(spec router.Spec) (http.Handler, error) {
			m := http.NewServeMux()
			for _, r := range spec.Routes {
				p := pattern(r)
				if r.Rest != "" {
					p = r.Method + " " + r.BracePathEnding("{"+r.Rest+"}")
				}
				m.HandleFunc(p, func(w http.ResponseWriter, q *http.Request) { r.Reply(w, q.PathValue) })
			}
			return spec.Wrap(m), nil
		}, "routes/serve-catch-all: case"},
		{"catch-all with its slash", func(spec router.Spec) (http.Handler, error) {
			m := http.NewServeMux()
			for _, r := range spec.Routes {
				m.HandleFunc(pattern(r), func(w http.ResponseWriter, q *http.Request) {
					r.Reply(w, func(name string) string {
						if name == r.Rest {
							return "/" + q.PathValue(name)
						}
						return q.PathValue(name)
					})
				})
			}
			return spec.Wrap(m), nil
		}, `path=/`},
		{"catch-all of any method", func(spec router.Spec) (http.Handler, error) {
			m := http.NewServeMux()
			for _, r := range spec.Routes {
				m.HandleFunc(pattern(r), func(w http.ResponseWriter, q *http.Request) { r.Reply(w, q.PathValue) })
				if r.Rest != "" && r.Method == "GET" {
					m.HandleFunc(strings.TrimPrefix(pattern(r), "GET "), func(w http.ResponseWriter, q *http.Request) { r.Reply(w, q.PathValue) })
				}
			}
			return spec.Wrap(m), nil
		}, `is answered with status 200`},
		{"any path", func(spec router.Spec) (http.Handler, error) { return spec.Wrap(lenient(routed(spec))), nil }, "not refused"},
		{"any method", func(spec router.Spec) (http.Handler, error) {
			m := routed(spec)
			return spec.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, found := m.(*http.ServeMux).Handler(r); found == "" && r.Method == "DELETE" {
					r.Method = "GET"
				}
				m.ServeHTTP(w, r)
			})), nil
		}, `{"method":"DELETE","path":"/health"} is answered with status 200`},
		{"hangs up", func(spec router.Spec) (http.Handler, error) {
			m := routed(spec)
			return spec.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close")
				m.ServeHTTP(w, r)
			})), nil
		}, "routes/socket"},
		{"panics", func(router.Spec) (http.Handler, error) { panic("conflict") }, "panic: conflict"},
		{"says why", func(router.Spec) (http.Handler, error) { return nil, errors.New("no more than 8 routes") }, "no more than 8 routes"},
	}
}

func pattern(r router.Route) string {
	path := r.BracePath()
	if strings.HasSuffix(path, "/") {
		path += "{$}"
	}
	return r.Method + " " + path
}

func routed(spec router.Spec) http.Handler {
	m := http.NewServeMux()
	for _, r := range spec.Routes {
		m.HandleFunc(pattern(r), func(w http.ResponseWriter, q *http.Request) { r.Reply(w, q.PathValue) })
	}
	return m
}

// lenient makes something of every path.
func lenient(h http.Handler) http.Handler {
	m := h.(*http.ServeMux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, found := m.Handler(r); found == "" {
			_, _ = w.Write([]byte("welcome"))
			return
		}
		m.ServeHTTP(w, r)
	})
}

// first takes the first route of so many segments whose literals are right.
func first(spec router.Spec, w http.ResponseWriter, r *http.Request) {
	texts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if texts[0] == "" {
		texts = nil
	}
next:
	for i := range spec.Routes {
		route := &spec.Routes[i]
		if route.Method != r.Method || len(route.Segments) != len(texts) {
			continue
		}
		bound := map[string]string{}
		for k, s := range route.Segments {
			if s.Param {
				bound[s.Text] = texts[k]
			} else if s.Text != texts[k] {
				continue next
			}
		}
		route.Reply(w, func(name string) string { return bound[name] })
		return
	}
	http.NotFound(w, r)
}

// TestSuiteFindsRouterDefects: every defect is found, for its own reason, and sound routers pass.
func TestSuiteFindsRouterDefects(t *testing.T) {
	for _, d := range routerDefects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := conformance.Subject{Command: command("router " + d.name), Manifest: conformance.Manifest{ID: "x", Kind: "router"}, Limit: 30 * time.Second}
			s.Enough = func(wrong error) bool { return d.want != "" && strings.Contains(wrong.Error(), d.want) }
			err := errors.Join(s.Test(kinds(), t.TempDir())...)
			switch {
			case d.want == "" && err != nil:
				t.Errorf("a sound router: %v", err)
			case d.want != "" && err == nil:
				t.Error("the defect is not found")
			case d.want != "" && !s.Enough(err):
				t.Errorf("found %v; want %q", err, d.want)
			}
		})
	}
}

func TestRouterTrapsMayAnswerWrong(t *testing.T) {
	s := conformance.Subject{Command: command("router never reads"), Manifest: conformance.Manifest{ID: "x", Kind: "router", WrongOnPurpose: true}, Limit: 30 * time.Second}
	for _, err := range s.Test(kinds(), t.TempDir()) {
		t.Error(err)
	}
}
