// Package routing_test re-asks a published benchmark of Gin against net/http
// with nothing but the testing package:
//
//	cd bench/routing && GOWORK=off go test -bench . -benchtime 3s
//
// It is built like the published one, with what is wrong with that:
//
//   - A new response recorder is made for each request. It is nearly all of the
//     about 1 kB that were published as the memory of either side, and most of
//     the time, so that every ratio is pulled towards 1.
//   - The net/http route with a parameter is the subtree /devices/: any method,
//     anything below, and the handler never reads the parameter. Subtrees make
//     ServeMux allocate three times; that is the 14 allocations against 11, and
//     a part of the "29 %". ParameterRouteRead is the same with a pattern, and
//     with both sides reading.
//   - The middleware does nothing but call the next handler.
//   - One URL is asked for over and over.
//   - "Five routes" are five, which says nothing about growth.
//   - Contenders run one after another in one process, once, and nothing says
//     how far apart two runs of the same code are.
//
// That is what tare run routing is for.
package routing_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

const body = `{"status":"ok"}`

func write(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(text))
}

func plain(w http.ResponseWriter, _ *http.Request) { write(w, body) }

func ginned(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(body)) }

// nothing is the published middleware.
func nothing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

// netHTTP is a mux with one handler for all patterns.
func netHTTP(h http.HandlerFunc, patterns ...string) http.Handler {
	mux := http.NewServeMux()
	for _, p := range patterns {
		mux.HandleFunc(p, h)
	}
	return mux
}

// ginRouter is Gin in release mode, without a logger.
func ginRouter(h gin.HandlerFunc, paths ...string) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return ginRoutes(gin.New(), h, paths...)
}

func ginRoutes(r *gin.Engine, h gin.HandlerFunc, paths ...string) *gin.Engine {
	for _, p := range paths {
		r.GET(p, h)
	}
	return r
}

// scenario is one published comparison.
type scenario struct {
	path     string
	netHTTP  http.Handler
	gin      http.Handler
	answer   string
	allocs   [2]float64 // published, of net/http and Gin; zero: not published
	mistaken string     // a path that net/http's side should refuse and does not
}

func scenarios() map[string]scenario {
	five := []string{"/health", "/services", "/devices", "/cluster/services", "/metrics"}
	layered := ginRouter(nil)
	layered.Use(func(c *gin.Context) { c.Next() })
	ginRoutes(layered, ginned, "/health")
	read := func(w http.ResponseWriter, r *http.Request) { write(w, r.PathValue("id")) }
	ginRead := func(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(c.Param("id"))) }
	return map[string]scenario{
		"SimpleRoute":        {"/health", netHTTP(plain, "/health"), ginRouter(ginned, "/health"), body, [2]float64{11, 12}, ""},
		"Middleware":         {"/health", nothing(netHTTP(plain, "/health")), layered, body, [2]float64{11, 12}, ""},
		"FiveRoutes":         {"/metrics", netHTTP(plain, five...), ginRouter(ginned, five...), body, [2]float64{11, 12}, ""},
		"ParameterRoute":     {"/devices/7", netHTTP(plain, "/devices/"), ginRouter(ginned, "/devices/:id"), body, [2]float64{14, 12}, "/devices/7/and/more"},
		"ParameterRouteRead": {"/devices/7", netHTTP(read, "GET /devices/{id}"), ginRouter(ginRead, "/devices/:id"), "7", [2]float64{}, ""},
	}
}

func BenchmarkSimpleRouteNetHTTP(b *testing.B)        { benchmark(b, "SimpleRoute", false) }
func BenchmarkSimpleRouteGin(b *testing.B)            { benchmark(b, "SimpleRoute", true) }
func BenchmarkMiddlewareNetHTTP(b *testing.B)         { benchmark(b, "Middleware", false) }
func BenchmarkMiddlewareGin(b *testing.B)             { benchmark(b, "Middleware", true) }
func BenchmarkFiveRoutesNetHTTP(b *testing.B)         { benchmark(b, "FiveRoutes", false) }
func BenchmarkFiveRoutesGin(b *testing.B)             { benchmark(b, "FiveRoutes", true) }
func BenchmarkParameterRouteNetHTTP(b *testing.B)     { benchmark(b, "ParameterRoute", false) }
func BenchmarkParameterRouteGin(b *testing.B)         { benchmark(b, "ParameterRoute", true) }
func BenchmarkParameterRouteReadNetHTTP(b *testing.B) { benchmark(b, "ParameterRouteRead", false) }
func BenchmarkParameterRouteReadGin(b *testing.B)     { benchmark(b, "ParameterRouteRead", true) }

// BenchmarkRecorderAlone is what all of them pay for being asked.
func BenchmarkRecorderAlone(b *testing.B) {
	serve(b, http.HandlerFunc(plain), "/health")
}

func benchmark(b *testing.B, name string, withGin bool) {
	s := scenarios()[name]
	if withGin {
		serve(b, s.gin, s.path)
	} else {
		serve(b, s.netHTTP, s.path)
	}
}

func serve(b *testing.B, h http.Handler, path string) {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), request)
	}
}

func ask(t *testing.T, h http.Handler, path string) (status int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	got, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(got)
}

// TestAnswers: both sides answer the same, and refuse what they should but for
// the published mistake.
func TestAnswers(t *testing.T) {
	for name, s := range scenarios() {
		for side, h := range map[string]http.Handler{"net/http": s.netHTTP, "gin": s.gin} {
			if status, text := ask(t, h, s.path); status != 200 || text != s.answer {
				t.Errorf("%s, %s: %d %q", name, side, status, text)
			}
			if status, _ := ask(t, h, s.path+"/and/more"); (status == 200) != (s.mistaken != "" && side == "net/http") {
				t.Errorf("%s, %s: %s/and/more is answered with %d", name, side, s.path, status)
			}
		}
	}
}

// TestAllocations holds allocation counts near the published ones: where they
// are, what is asked has the published one's shape.
func TestAllocations(t *testing.T) {
	for name, s := range scenarios() {
		for i, h := range []http.Handler{s.netHTTP, s.gin} {
			request, published := httptest.NewRequest(http.MethodGet, s.path, nil), s.allocs[i]
			got := testing.AllocsPerRun(100, func() { h.ServeHTTP(httptest.NewRecorder(), request) })
			t.Logf("%-20s %s %4.0f allocs/op, published %.0f", name, [...]string{"net/http", "gin     "}[i], got, published)
			if published > 0 && (got < 0.85*published || got > 1.15*published) {
				t.Errorf("%s: %v allocs/op, published %v", name, got, published)
			}
		}
	}
}
