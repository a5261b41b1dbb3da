package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const described = `{"paths":{"/":{"post":{}},"/v1/users":{"get":{},"post":{}},"/v1/users/{id}":{"get":{},"delete":{}},"/openapi.json":{"get":{}},"/health":{"get":{}}}}`

// tested is what is asked before an app whose answers are all teapots.
func tested(s Service, change func(*Ops)) http.Handler {
	r := &running{receipts: &Receipts{}, service: s}
	ops := r.newOps("things", Options{})
	if change != nil {
		change(ops)
	}
	return ops.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
}

func asked(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	return w
}

func TestOps(t *testing.T) {
	unready := errors.New("the store fails")
	h := tested(Service{
		Token:   "secret",
		Ready:   func(context.Context) error { return unready },
		Metrics: func() []byte { return []byte("# HELP x_total X.\n# TYPE x_total counter\nx_total 7\n") },
		OpenAPI: func(string) []byte { return []byte(described) },
		Refuse:  func(_ int, message string) []byte { return []byte(`{"m":"` + message + `"}`) },
	}, nil)
	bearer := []string{"Authorization", "bearer  secret"}
	typed := func(kind string) []string { return append(slices.Clone(bearer), "Content-Type", kind) }
	for _, tt := range []struct {
		method, path string
		header       []string
		status       int
		body         string
	}{
		{"GET", "/", nil, 200, `"GET /v1/users/{id}"`},
		{"GET", "/", nil, 200, `"openapi": "/openapi.json"`},
		{"HEAD", "/", nil, 200, ""},
		{"GET", "/health/live", nil, 200, "alive\n"},
		{"GET", "/health/ready", nil, 503, "not ready: the store fails\n"},
		{"GET", "/health", nil, 418, ""},
		{"GET", "/metrics", nil, 200, "# TYPE x_total counter\nx_total 7\n"},
		{"GET", "/metrics", []string{"Accept", "application/openmetrics-text; version=1.0.0, */*;q=0.1"}, 200, "# TYPE x counter\nx_total 7\n"},
		{"GET", "/openapi.json", nil, 401, "a bearer token is required"}, // the app has an answer, which is the app's matter
		{"POST", "/", nil, 401, "a bearer token is required"},
		{"POST", "/", []string{"Authorization", "Bearer wrong"}, 401, `{"m":"a bearer token is required"}`},
		{"POST", "/", []string{"Authorization", "Basic secret"}, 401, ""},
		{"POST", "/", typed("application/json"), 418, ""},
		{"POST", "/", typed("Application/XML; charset=utf-8"), 418, ""},
		{"POST", "/", bearer, 415, "Content-Type"},
		{"POST", "/", typed("text/plain"), 415, ""},
		{"POST", "/", typed("Text/Plain ;application/json"), 415, ""},
		{"PUT", "/v1/users", typed("application/x-www-form-urlencoded"), 415, ""},
		{"PATCH", "/v1/users", typed("multipart/form-data; boundary=x"), 415, ""},
		{"POST", "/", typed("application/json, text/plain"), 415, ""},
		{"DELETE", "/v1/users/7", bearer, 418, ""},
		{"OPTIONS", "/v1/users", nil, 418, ""},
		{"GET", "/grpc.health.v1.Health/Check", nil, 418, ""},
		{"GET", "/v1/user", bearer, 404, "the nearest is GET, POST /v1/users, and GET / lists all"},
		{"GET", "/v1/user/7", bearer, 404, "the nearest is GET, DELETE /v1/users/{id},"},
		{"POST", "/pkg.Service/Method", typed("application/grpc"), 418, ""},
		{"POST", "/pkg.Service/Method", typed("text/plain"), 415, ""},
		{"GET", "/grpc.health.v1./../v1/users", nil, 401, ""},
		{"GET", "/healthz", bearer, 404, "the nearest is GET /health,"},
		{"GET", "/metric", bearer, 404, "the nearest is GET /metrics,"},
		{"GET", "/v1/users/", bearer, 404, "/v1/users"},
		{"GET", "/v1/users/7", bearer, 418, ""},
		{"PUT", "/v1/users", typed("application/json"), 418, ""},
		{"GET", "/" + strings.Repeat("x/", 10_000), bearer, 404, "the nearest is"},
		{"POST", "/health/live", typed("application/json"), 405, "this path takes GET, HEAD"},
		{"DELETE", "/metrics", bearer, 405, "this path takes GET, HEAD"},
		{"PUT", "/", typed("application/json"), 405, "this path takes GET, HEAD, POST"},
		{"DELETE", "/openapi.json", bearer, 418, ""}, // which is the app's
	} {
		if w := asked(h, tt.method, tt.path, tt.header...); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) || tt.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("%s %.40s %q: %d %s, want %d %s", tt.method, tt.path, tt.header, w.Code, w.Body, tt.status, tt.body)
		}
	}
	unready = nil
	if w := asked(h, "GET", "/health/ready"); w.Code != 200 || w.Body.String() != "ready\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := asked(h, "GET", "/metrics", "Accept", "application/openmetrics-text")
	if text := w.Body.String(); w.Header().Get("Content-Type") != typeOpenMetrics || !strings.HasSuffix(text, "\n# EOF\n") || !strings.Contains(text, "# TYPE server_requests counter\nserver_requests_total 0\n") {
		t.Errorf("%v %s", w.Header(), text)
	}
}

// TestAllow: who is refused for the method is told all that are taken.
func TestAllow(t *testing.T) {
	h := tested(Service{OpenAPI: func(string) []byte { return []byte(described) }}, nil)
	for q, want := range map[[2]string]string{
		{"PUT", "/"}: "GET, HEAD, POST", {"POST", "/health/ready"}: "GET, HEAD", {"PATCH", "/metrics"}: "GET, HEAD", {"OPTIONS", "*"}: "DELETE, GET, HEAD, POST",
	} {
		r := httptest.NewRequest(q[0], "/", nil)
		r.URL.Path = q[1]
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Header().Get("Allow") != want {
			t.Errorf("%v: Allow is %q, want %q: %d %s", q, w.Header().Get("Allow"), want, w.Code, w.Body)
		}
	}
}

// TestOpsWithoutRoutes: of an app that does not say which paths it has, none is a
// wrong one, and one that is ending is not ready.
func TestOpsWithoutRoutes(t *testing.T) {
	ending := &atomic.Bool{}
	ending.Store(true)
	lines := 0
	h := tested(Service{}, func(o *Ops) {
		o.ending = ending
		o.line = func(string, string, int, time.Duration) { lines++ }
	})
	if w := asked(h, "GET", "/nowhere"); w.Code != 418 || lines != 0 {
		t.Error(w.Code, lines)
	}
	if w := asked(h, "GET", "/health/ready"); w.Code != 503 || lines != 1 {
		t.Error(w.Code, lines)
	}
	if w := asked(h, "GET", "/openapi.json"); w.Code != 418 {
		t.Error(w.Code)
	}
	next := http.NewServeMux()
	if none := (*Ops)(nil).Handler(next); none != http.Handler(next) {
		t.Error("there is something before an app under a lab")
	}
	if _, ok := (*Ops)(nil).Answer(Question{Method: "GET", Path: "/"}); ok {
		t.Error("there is an answer under a lab")
	}
}

// TestTokenIsAskedFor: what cannot ask for a token is not started with one, and
// under a lab there is none.
func TestTokenIsAskedFor(t *testing.T) {
	secret := &Ops{}
	secret.token = new([32]byte)
	if err := guardServer(Null{}.made(t), secret); err == nil {
		t.Error("a stack that asks nobody has a token")
	}
	if err := guardServer(HTTP(http.NewServeMux()), secret); err != nil {
		t.Error(err)
	}
	secret.Claim()
	if err := guardServer(Null{}.made(t), secret); err != nil {
		t.Error(err)
	}
}

func (n Null) made(t *testing.T) Server {
	t.Helper()
	s, err := n.Serve(Options{Receipts: &Receipts{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMatches(t *testing.T) {
	for pattern, paths := range map[string][]string{
		"/":           {"/"},
		"/a":          {"/a"},
		"/a/{id}":     {"/a/b", "/a/%20"},
		"/a/{id}/c":   {"/a/b/c"},
		"/a/":         {"/a/"},
		"/{x}/{y}":    {"/a/b", "/a/%20"},
		"/.well/{id}": {"/.well/a"},
	} {
		for _, path := range []string{"/", "/a", "/a/", "/a/b", "/a/b/c", "/a//c", "/a/%20", "", "a", "/.well/a"} {
			want := slices.Contains(paths, path) || pattern == "/{x}/{y}" && path == "/.well/a"
			if got := matchesPattern(pattern, path); got != want {
				t.Errorf("%s, %q: %v", pattern, path, got)
			}
		}
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"Health", "health", 0}, {"flaw", "lawn", 2}} {
		if got := letterDistance(tt.a, tt.b); got != tt.want || letterDistance(tt.b, tt.a) != got {
			t.Errorf("%s, %s: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestTypes: of an app that says which types its bodies have, others are refused.
func TestTypes(t *testing.T) {
	h := tested(Service{Types: []string{"application/json"}}, nil)
	for kind, want := range map[string]int{"application/json": 418, "application/JSON;charset=utf-8": 418, "application/xml": 415, "text/json": 415, "": 415} {
		if w := asked(h, "POST", "/", "Content-Type", kind); w.Code != want {
			t.Errorf("%q: %d, want %d", kind, w.Code, want)
		}
	}
	if w := asked(h, "POST", "/", "Content-Type", "application/xml"); !strings.Contains(w.Body.String(), "taken here: application/json\n") || w.Header().Get("Accept") != "application/json" {
		t.Errorf("%s %v does not say what is taken", w.Body, w.Header())
	}
	if w := asked(h, "POST", "/pkg.Service/Method", "Content-Type", "text/plain"); w.Code != 415 || !strings.Contains(w.Body.String(), "application/grpc") {
		t.Errorf("a call: %d %s", w.Code, w.Body)
	}
	if w := asked(tested(Service{}, nil), "POST", "/", "Content-Type", "text/plain"); !strings.Contains(w.Body.String(), "application/json") {
		t.Errorf("of any type: %s", w.Body)
	}
	if w := asked(h, "POST", "/pkg.Service/Method", "Content-Type", "application/proto"); w.Code != 418 {
		t.Errorf("a call: %d", w.Code)
	}
}

// TestHosts: at a loopback address requests are for that, for the name that was given
// for it, or for names that are configured. A page of another site sends its own.
func TestHosts(t *testing.T) {
	h := tested(Service{}, func(o *Ops) { o.hosts = newHosts("House.lan:8080", []string{"home.example"}) })
	for host, want := range map[string]int{
		"localhost": 418, "LOCALHOST:8080": 418, "localhost.": 418, "a.localhost": 418, "127.0.0.1:1": 418, "127.9.9.9": 418, "[::1]:8080": 418, "[::1]": 418, "[::ffff:127.0.0.1]": 418,
		"house.lan:8080": 418, "home.example": 418,
		"evil.example": 421, "evil.example:8080": 421, "192.168.1.2": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "evil-localhost": 421, "0.0.0.0": 421, "[::2]": 421,
	} {
		for _, path := range []string{"/v1/things", "/metrics", "/health"} {
			q := httptest.NewRequest("GET", path, nil)
			q.Host = host
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, q); (w.Code == 421) != (want == 421) {
				t.Errorf("%s for %q: %d, want %d", path, host, w.Code, want)
			}
		}
	}
}
