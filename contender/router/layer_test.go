package router

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare/contender/wire"
)

// layered is a handler behind one layer, and the spec that counts.
func layered(t *testing.T, name string, h http.HandlerFunc) (http.Handler, Spec) {
	t.Helper()
	s := Spec{calls: new(int64)}
	l, err := newLayer(name, s.calls)
	if err != nil {
		t.Fatal(err)
	}
	s.Layers = []Layer{l}
	return s.Wrap(h), s
}

// ask sends a request with headers given as name, value, name, value.
func ask(t *testing.T, h http.Handler, s Spec, method string, headers ...string) (Prepared, int) {
	t.Helper()
	q := wire.HTTPRequest{Method: method, Path: "/health", Header: map[string]string{}}
	for i := 0; i < len(headers); i += 2 {
		q.Header[headers[i]] = headers[i+1]
	}
	p, err := newHandler(h).loadRequest(q)
	if err != nil {
		t.Fatal(err)
	}
	before := s.LayerCalls()
	status, _ := p.Serve()
	if s.LayerCalls() != before+1 {
		t.Errorf("%d calls counted for one", s.LayerCalls()-before)
	}
	return p, status
}

func fine(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine")) }

func TestRequestIDs(t *testing.T) {
	h, s := layered(t, LayerRequestID, fine)
	if p, _ := ask(t, h, s, "GET", headerRequestID, "mine"); p.Header(headerRequestID) != "mine" {
		t.Errorf("id %q, want the request's own", p.Header(headerRequestID))
	}
	seen := map[string]bool{}
	for range 1000 {
		p, _ := ask(t, h, s, "GET")
		id := p.Header(headerRequestID)
		if seen[id] || len(id) != requestIDLength || strings.Trim(id, "0123456789abcdef") != "" {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestAccessLog(t *testing.T) {
	h, s := layered(t, LayerAccess, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "DELETE" {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			w.WriteHeader(http.StatusOK) // too late
		}
	})
	var log bytes.Buffer
	s.Layers[0].log = &log
	for method, status := range map[string]int{"GET": 200, "DELETE": 405} {
		log.Reset()
		_, got := ask(t, h, s, method)
		fields := strings.Fields(log.String())
		if len(fields) != 5 || fields[0] != method || fields[1] != "/health" || fields[2] != strconv.Itoa(status) || got != status || !strings.HasSuffix(log.String(), " ns\n") {
			t.Errorf("%s: status %d, log %q", method, got, log.String())
		}
	}
}

func TestRecovery(t *testing.T) {
	h, s := layered(t, LayerRecovery, func(http.ResponseWriter, *http.Request) { panic("ouch") })
	if _, status := ask(t, h, s, "GET"); status != 500 {
		t.Errorf("status %d after a panic", status)
	}
	h, s = layered(t, LayerSecurity, func(http.ResponseWriter, *http.Request) { panic("ouch") })
	defer func() {
		if recover() == nil {
			t.Error("another layer recovers")
		}
	}()
	ask(t, h, s, "GET")
}

func TestCORS(t *testing.T) {
	reached := false
	h, s := layered(t, LayerCORS, func(http.ResponseWriter, *http.Request) { reached = true })
	p, status := ask(t, h, s, "GET", "Origin", "https://example.com")
	if p.Header(headerAllowOrigin) != "https://example.com" || p.Header("Vary") != "Origin" || status != 200 || !reached {
		t.Errorf("status %d, reached %v, origin %q", status, reached, p.Header(headerAllowOrigin))
	}
	if p, _ := ask(t, h, s, "GET"); p.Header(headerAllowOrigin) != "" {
		t.Errorf("without an origin %q is allowed", p.Header(headerAllowOrigin))
	}
	reached = false
	p, status = ask(t, h, s, "OPTIONS", "Origin", "https://example.com", "Access-Control-Request-Method", "PUT")
	if status != 204 || reached || p.Header("Access-Control-Allow-Methods") == "" {
		t.Errorf("preflight: status %d, reached %v", status, reached)
	}
	if _, status := ask(t, h, s, "OPTIONS", "Origin", "https://example.com"); status != 200 || !reached {
		t.Errorf("OPTIONS without a preflight: status %d, reached %v", status, reached)
	}
}

func TestSecurityHeaders(t *testing.T) {
	h, s := layered(t, LayerSecurity, fine)
	p, _ := ask(t, h, s, "GET")
	for name, want := range map[string]string{headerNoSniff: "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
		if got := p.Header(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestLayerNames(t *testing.T) {
	for n, want := range [][]string{{}, {LayerRequestID}, {LayerRequestID, LayerAccess}, {LayerRequestID, LayerAccess, LayerRecovery}, {LayerRequestID, LayerAccess, LayerRecovery, LayerCORS}} {
		if got, err := LayerNames(n); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
	}
	for _, n := range []int{-1, 6} {
		if _, err := LayerNames(n); err == nil {
			t.Errorf("%d layers", n)
		}
	}
}

// TestWrapPutsTheFirstOutermost: the log's line comes when the rest is done,
// with the status that recovery made of a panic.
func TestWrapPutsTheFirstOutermost(t *testing.T) {
	s := Spec{calls: new(int64)}
	for _, name := range []string{LayerAccess, LayerRecovery} {
		l, err := newLayer(name, s.calls)
		if err != nil {
			t.Fatal(err)
		}
		s.Layers = append(s.Layers, l)
	}
	var log bytes.Buffer
	s.Layers[0].log = &log
	p, err := newHandler(s.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("ouch") }))).loadRequest(wire.HTTPRequest{Method: "GET", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := p.Serve(); status != 500 || !strings.HasPrefix(log.String(), "GET / 500 ") || s.LayerCalls() != 2 {
		t.Errorf("status %d, log %q, %d calls", status, log.String(), s.LayerCalls())
	}
}

// TestLayersAllocateNothingOfTheirOwn but what they hand out: an id, and the values that net/http's
// headers keep in slices. The writer that learns the status is net/http's way to log.
func TestLayersAllocateNothingOfTheirOwn(t *testing.T) {
	text := []byte("fine")
	fine := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }
	for name, want := range map[string]float64{LayerRequestID: 2, LayerAccess: 1, LayerRecovery: 0, LayerCORS: 2, LayerSecurity: 3} {
		h, _ := layered(t, name, fine)
		p, err := newHandler(h).loadRequest(wire.HTTPRequest{Method: "GET", Path: "/", Header: map[string]string{"Origin": "https://example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		p.Serve()
		if n := testing.AllocsPerRun(100, func() { p.Serve() }); n != want {
			t.Errorf("%s: %v allocations, want %v", name, n, want)
		}
	}
}
