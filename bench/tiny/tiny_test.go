// Package tiny_test re-asks a published comparison of two tiny services with
// nothing but the testing package:
//
//	cd bench/tiny && GOWORK=off go test -bench . -benchtime 3s
//
// The write-up asked a service in plain Go and one in Gin for /v1/id/7 with ab,
// 100 requests at a time over kept connections, and found 7,673 against 3,818
// requests a second. Its Gin was gin.Default(), which writes a line of log for
// every request; its plain Go wrote nothing, and answered whatever came below
// /v1/id/ by whatever method. Here both are served as published, and beside them
// what tells the causes apart.
//
// Client and server share this process and its processors, over real loopback
// connections, so a line's ns/op is what both together take, divided by what runs
// at once: it compares, and is nobody's latency. The client does next to
// nothing. The differences between two lines of one run are not yet findings:
// servers run one after another, and nothing says how far apart two runs of the
// same code are. That is what tare run tiny is for.
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

// connections is how many requests are under way at a time, as published.
const connections = 100

// services are what the benchmarks run, by name.
func services(tb testing.TB) map[string]http.Handler {
	gin.SetMode(gin.ReleaseMode)
	return map[string]http.Handler{
		"PlainGo":           plain(),
		"PlainGoPattern":    pattern(),
		"PlainGoLogFile":    logged(plain(), logFile(tb)),
		"PlainGoLogDiscard": logged(plain(), io.Discard),
		"Gin":               ginDefault(logFile(tb)),
		"GinDiscard":        ginDefault(io.Discard),
		"GinNew":            ginRoutes(gin.New()),
	}
}

// plain is plain Go as published: any method, the last segment of the path.
func plain() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"id": path.Base(r.URL.Path)})
	})
	return mux
}

// pattern is plain Go that refuses what it should.
func pattern() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"id": r.PathValue("id")})
	})
	return mux
}

// logged writes a line for each request, as Gin does.
func logged(next http.Handler, to io.Writer) http.Handler {
	log := slog.New(slog.NewTextHandler(to, nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		log.Info("request", "method", r.Method, "path", r.URL.Path, "took", time.Since(start))
	})
}

// ginDefault is Gin as published, with its log to a writer. As published is a
// terminal; a file is the nearest that a benchmark has.
func ginDefault(to io.Writer) http.Handler {
	former := gin.DefaultWriter
	gin.DefaultWriter = to
	defer func() { gin.DefaultWriter = former }()
	return ginRoutes(gin.Default())
}

func ginRoutes(r *gin.Engine) http.Handler {
	r.GET("/v1/id/:id", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"id": c.Param("id")})
	})
	return r
}

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
func BenchmarkPlainGoLogFile(b *testing.B)    { benchmark(b, "PlainGoLogFile") }    // with a line of log per request
func BenchmarkPlainGoLogDiscard(b *testing.B) { benchmark(b, "PlainGoLogDiscard") } // with a line that is made and thrown away
func BenchmarkGin(b *testing.B)               { benchmark(b, "Gin") }               // as published, its log in a file
func BenchmarkGinDiscard(b *testing.B)        { benchmark(b, "GinDiscard") }        // with its log thrown away
func BenchmarkGinNew(b *testing.B)            { benchmark(b, "GinNew") }            // without middleware

func benchmark(b *testing.B, name string) {
	addr := serve(b, services(b)[name])
	b.ReportAllocs()
	b.SetParallelism((connections + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c, err := dial(addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.conn.Close()
		for pb.Next() {
			if err := c.again(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// serve serves h on a loopback address until the benchmark ends.
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

// client asks for the same over one connection.
type client struct {
	conn   net.Conn
	answer []byte // as long as every answer is
}

// dial connects and learns from a first answer how long answers are.
func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	var seen strings.Builder
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	r, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &seen)), nil)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &client{conn, make([]byte, seen.Len())}, nil
}

// again asks once more.
func (c *client) again() error {
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	_, err := io.ReadFull(c.conn, c.answer)
	return err
}

// TestAnswers: both answer as published, 11 and 10 bytes, and of the plain ones
// only the one with a pattern refuses.
func TestAnswers(t *testing.T) {
	for name, h := range services(t) {
		addr := serve(t, h)
		c, err := dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.again(); err != nil {
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
		if lax := strings.HasPrefix(name, "PlainGo") && name != "PlainGoPattern"; (r.StatusCode == http.StatusOK) != lax {
			t.Errorf("%s: POST /v1/id/a/b: %d", name, r.StatusCode)
		}
	}
}

// TestLogs: what is to write a line per request does.
func TestLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, h := range []http.Handler{ginDefault(f), logged(plain(), f)} {
		c, err := dial(serve(t, h))
		if err != nil {
			t.Fatal(err)
		}
		for range 9 {
			if err := c.again(); err != nil {
				t.Fatal(err)
			}
		}
		c.conn.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // the last line follows its answer
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
