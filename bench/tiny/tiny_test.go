// Package tiny_test repeats a published comparison of two tiny services, with only
// the testing package:
//
//	cd bench/tiny && GOWORK=off go test -bench . -benchtime 3s
//
// The write-up requested /v1/id/7 from a service in plain Go and from one in Gin, with
// ab, 100 concurrent requests and keep-alive. It found 7,673 against 3,818 requests per
// second. Its Gin was gin.Default(), which writes a log line for every request. Its
// plain Go wrote no log, and accepted any method and any path below /v1/id/. The
// benchmarks measure both as published, and further services that separate the causes.
//
// Client and server share this process and its processors, over real loopback
// connections. ns/op is the elapsed time per request, client included, while 100
// requests run concurrently: good for comparisons, but not a latency. The client does
// very little.
//
// Differences between two lines of one run are not findings yet: servers run one after
// another, and the variation between runs of the same code is unknown. tare run tiny
// measures it.
package tiny_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// connections is the number of concurrent requests, as published.
const connections = 100

// services returns the services by the names of their benchmarks.
func services(tb testing.TB) map[string]http.Handler {
	gin.SetMode(gin.ReleaseMode)
	return map[string]http.Handler{
		"PlainGo":           plainHandler(),
		"PlainGoPattern":    patternHandler(),
		"PlainGoLogFile":    withLog(plainHandler(), logFile(tb)),
		"PlainGoLogDiscard": withLog(plainHandler(), io.Discard),
		"Gin":               ginDefault(logFile(tb)),
		"GinDiscard":        ginDefault(io.Discard),
		"GinNew":            ginRoutes(gin.New()),
	}
}

// plainHandler returns the service in plain Go as published: it accepts any method and any path below
// /v1/id/, and responds with the last segment of the path.
func plainHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"id": path.Base(r.URL.Path)})
	})
	return mux
}

// patternHandler returns the service in plain Go with a pattern, which rejects other methods and paths.
func patternHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"id": r.PathValue("id")})
	})
	return mux
}

// withLog returns a handler that writes a log line to w for each request, as Gin does.
func withLog(next http.Handler, w io.Writer) http.Handler {
	log := slog.New(slog.NewTextHandler(w, nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		log.Info("request", "method", r.Method, "path", r.URL.Path, "took", time.Since(start))
	})
}

// ginDefault returns the service in Gin as published, except that it logs to w: the published service
// logged to a terminal.
func ginDefault(w io.Writer) http.Handler {
	former := gin.DefaultWriter
	gin.DefaultWriter = w
	defer func() { gin.DefaultWriter = former }()
	return ginRoutes(gin.Default())
}

// ginRoutes adds the route of the service to r, and returns r.
func ginRoutes(r *gin.Engine) http.Handler {
	r.GET("/v1/id/:id", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"id": c.Param("id")})
	})
	return r
}

// logFile returns a log file that is closed and removed when the test ends.
func logFile(tb testing.TB) io.Writer {
	f, err := os.Create(filepath.Join(tb.TempDir(), "access.log"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func BenchmarkPlainGo(b *testing.B)           { benchmark(b, "PlainGo") }           // as published
func BenchmarkPlainGoPattern(b *testing.B)    { benchmark(b, "PlainGoPattern") }    // with a route that checks method and path
func BenchmarkPlainGoLogFile(b *testing.B)    { benchmark(b, "PlainGoLogFile") }    // with a log line per request
func BenchmarkPlainGoLogDiscard(b *testing.B) { benchmark(b, "PlainGoLogDiscard") } // with a log line that is formatted and discarded
func BenchmarkGin(b *testing.B)               { benchmark(b, "Gin") }               // as published, but the log goes to a file
func BenchmarkGinDiscard(b *testing.B)        { benchmark(b, "GinDiscard") }        // with a log that is discarded
func BenchmarkGinNew(b *testing.B)            { benchmark(b, "GinNew") }            // without middleware

func benchmark(b *testing.B, name string) {
	addr := serve(b, services(b)[name])
	b.ReportAllocs()
	b.SetParallelism((connections + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)) // rounded up
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c, err := dial(addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.conn.Close()
		for pb.Next() {
			if err := c.repeat(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// serve serves h on a loopback address until the test ends, and returns the address.
func serve(tb testing.TB, h http.Handler) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	tb.Cleanup(func() {
		s.Close()
		<-ended
	})
	return l.Addr().String()
}

const request = "GET /v1/id/7 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

// client sends the same request repeatedly over one connection.
type client struct {
	conn   net.Conn
	answer []byte // the last response; all responses have the same length
}

// dial connects, and sends a first request to find out the length of responses.
func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	var response strings.Builder
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	r, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &response)), nil)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &client{conn, make([]byte, response.Len())}, nil
}

// repeat sends the request, and reads the response into c.answer.
func (c *client) repeat() error {
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	_, err := io.ReadFull(c.conn, c.answer)
	return err
}

// TestAnswers checks that the bodies are as published, 11 bytes in plain Go and 10 in Gin, and that a
// POST to a longer path is rejected by all services except those as published in plain Go.
func TestAnswers(t *testing.T) {
	for name, h := range services(t) {
		addr := serve(t, h)
		c, err := dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.repeat(); err != nil {
			t.Fatal(err)
		}
		c.conn.Close()
		answer, body := string(c.answer), "{\"id\":\"7\"}\n"
		if strings.HasPrefix(name, "Gin") {
			body = strings.TrimSuffix(body, "\n")
		}
		if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(answer, "\r\n\r\n"+body) {
			t.Errorf("%s: %q, want body %q", name, answer, body)
		}
		r, err := http.Post("http://"+addr+"/v1/id/a/b", "text/plain", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		acceptsAll := strings.HasPrefix(name, "PlainGo") && name != "PlainGoPattern"
		if (r.StatusCode == http.StatusOK) != acceptsAll {
			t.Errorf("%s: POST /v1/id/a/b: %d", name, r.StatusCode)
		}
	}
}

// TestLogs checks that the services with a log write a line per request.
func TestLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, h := range []http.Handler{ginDefault(f), withLog(plainHandler(), f)} {
		c, err := dial(serve(t, h))
		if err != nil {
			t.Fatal(err)
		}
		for range 9 { // and the request of dial: 10 per service
			if err := c.repeat(); err != nil {
				t.Fatal(err)
			}
		}
		c.conn.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // a line may be written after its response
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\n") == 20 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d lines for 20 requests", strings.Count(string(text), "\n"))
		}
	}
}
