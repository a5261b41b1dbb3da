// Package routing_test repeats a published benchmark of Gin against net/http, with
// only the testing package:
//
//	cd bench/routing && GOWORK=off go test -bench . -benchtime 3s
//
// It is built like the published one, and repeats its mistakes:
//
//   - Each request has a new response recorder. The recorder accounts for nearly
//     all of the about 1 kB that were published as the memory of either side, and
//     for most of the time, so that every ratio is closer to 1 than it should be.
//   - The net/http route with a parameter is the subtree /devices/: it accepts any
//     method and any longer path, and the handler does not read the parameter.
//     Subtrees make ServeMux allocate three times, which explains the 14 allocations
//     against 11, and a part of the "29 %". ParameterRouteRead has a pattern instead,
//     and both sides read the parameter.
//   - The middleware only calls the next handler.
//   - The published handlers encoded a small JSON document with the time. These write a
//     constant one, so that a ratio is less close to 1 than there.
//   - All requests have the same URL.
//   - The router has five routes at most, which shows nothing about growth.
//   - Contenders run one after another in one process, once, and the variation
//     between runs of the same code is unknown.
//
// tare run routing avoids these mistakes.
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

func plainHandler(w http.ResponseWriter, _ *http.Request) { write(w, body) }

func ginHandler(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(body)) }

// passThrough is the published middleware for net/http. It does nothing.
func passThrough(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

// netHTTP returns a mux with one handler for all patterns.
func netHTTP(h http.HandlerFunc, patterns ...string) http.Handler {
	mux := http.NewServeMux()
	for _, p := range patterns {
		mux.HandleFunc(p, h)
	}
	return mux
}

// ginRouter returns Gin in release mode, without a logger, with one handler for all paths.
func ginRouter(h gin.HandlerFunc, paths ...string) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return ginRoutes(gin.New(), h, paths...)
}

// ginRoutes adds a route to r for each path, and returns r.
func ginRoutes(r *gin.Engine, h gin.HandlerFunc, paths ...string) *gin.Engine {
	for _, p := range paths {
		r.GET(p, h)
	}
	return r
}

// scenario is one comparison of net/http and Gin.
type scenario struct {
	path    string // path of the request
	netHTTP http.Handler
	gin     http.Handler
	answer  string     // body of the correct response
	allocs  [2]float64 // published numbers of allocations of net/http and Gin; 0 if not published
	subtree bool       // the route of net/http also accepts longer paths, which is a published mistake
}

// scenarios returns the scenarios by the names of their benchmarks.
func scenarios() map[string]scenario {
	five := []string{"/health", "/services", "/devices", "/cluster/services", "/metrics"}
	withMiddleware := ginRouter(nil)
	withMiddleware.Use(func(c *gin.Context) { c.Next() })
	ginRoutes(withMiddleware, ginHandler, "/health")
	read := func(w http.ResponseWriter, r *http.Request) { write(w, r.PathValue("id")) }
	ginRead := func(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(c.Param("id"))) }
	return map[string]scenario{
		"SimpleRoute": {
			path: "/health", netHTTP: netHTTP(plainHandler, "/health"), gin: ginRouter(ginHandler, "/health"),
			answer: body, allocs: [2]float64{11, 12},
		},
		"Middleware": {
			path: "/health", netHTTP: passThrough(netHTTP(plainHandler, "/health")), gin: withMiddleware,
			answer: body, allocs: [2]float64{11, 12},
		},
		"FiveRoutes": {
			path: "/metrics", netHTTP: netHTTP(plainHandler, five...), gin: ginRouter(ginHandler, five...),
			answer: body, allocs: [2]float64{11, 12},
		},
		"ParameterRoute": {
			path: "/devices/7", netHTTP: netHTTP(plainHandler, "/devices/"), gin: ginRouter(ginHandler, "/devices/:id"),
			answer: body, allocs: [2]float64{14, 12}, subtree: true,
		},
		"ParameterRouteRead": {
			path: "/devices/7", netHTTP: netHTTP(read, "GET /devices/{id}"), gin: ginRouter(ginRead, "/devices/:id"),
			answer: "7",
		},
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

// BenchmarkRecorderAlone measures the cost of the recorder and the handler, without a router.
func BenchmarkRecorderAlone(b *testing.B) {
	serve(b, http.HandlerFunc(plainHandler), "/health")
}

func benchmark(b *testing.B, name string, withGin bool) {
	s := scenarios()[name]
	if withGin {
		serve(b, s.gin, s.path)
	} else {
		serve(b, s.netHTTP, s.path)
	}
}

// serve sends the same request to h in each iteration.
func serve(b *testing.B, h http.Handler, path string) {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), request)
	}
}

// sendGet sends a GET request to h, and returns the status and the body of the response.
func sendGet(t *testing.T, h http.Handler, path string) (status int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	got, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(got)
}

// TestAnswers checks that both sides give the correct response, and reject a longer path, except
// for the published mistake.
func TestAnswers(t *testing.T) {
	for name, s := range scenarios() {
		for side, h := range map[string]http.Handler{"net/http": s.netHTTP, "gin": s.gin} {
			if status, text := sendGet(t, h, s.path); status != 200 || text != s.answer {
				t.Errorf("%s, %s: %d %q", name, side, status, text)
			}
			acceptsLonger := s.subtree && side == "net/http"
			if status, _ := sendGet(t, h, s.path+"/and/more"); (status == 200) != acceptsLonger {
				t.Errorf("%s, %s: %s/and/more is answered with %d", name, side, s.path, status)
			}
		}
	}
}

// TestAllocations checks that the numbers of allocations are within 15 % of the published numbers,
// which shows that the benchmarks are built like the published ones.
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
