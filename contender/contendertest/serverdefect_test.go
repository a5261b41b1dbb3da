package contendertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
)

// TestMain makes the test binary the server with the defect that its first argument names.
func TestMain(m *testing.M) {
	for _, d := range append(serverDefects(), appDefects()...) {
		if len(os.Args) > 1 && os.Args[1] == "server "+d.name {
			os.Args = append(os.Args[:1:1], os.Args[2:]...)
			d.main()
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each of its processes sleeps a second under -race
	os.Exit(m.Run())
}

// defect is a server that does one thing wrong, and what the suite says.
type defect struct {
	name string
	main func()
	want string // empty: nothing is wrong
}

// isFound reports whether the suite says of the defect what it should.
func (d defect) isFound(err error) bool { return d.want != "" && strings.Contains(err.Error(), d.want) }

// faults are what is wrong with an otherwise sound server.
type faults struct {
	mux     func(mux *http.ServeMux, o server.Options)
	handler func(next http.Handler, o server.Options) http.Handler
	server  func(s server.Server) server.Server
}

func answerID(w http.ResponseWriter, id string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
}

func (f faults) tiny(o server.Options) (server.Server, error) {
	mux := http.NewServeMux()
	if f.mux != nil {
		f.mux(mux, o)
	} else {
		mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
			o.Receipts.Request()
			answerID(w, r.PathValue("id"))
		})
	}
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		_, _ = io.WriteString(w, "ok\n")
	})
	h := server.AccessLog(mux, o)
	if f.handler != nil {
		h = f.handler(mux, o)
	}
	s := server.HTTP(h)
	if f.server != nil {
		s = f.server(s)
	}
	return s, nil
}

func (f faults) main() { server.Main(server.Apps{server.Plain("tiny", f.tiny)}) }

// deaf is a server that does not shut down.
type deaf struct{ server.Server }

func (deaf) Shutdown(context.Context) error { return nil }

func serverDefects() []defect {
	endpoint := func(f func(w http.ResponseWriter, r *http.Request)) func() {
		return faults{mux: func(mux *http.ServeMux, o server.Options) {
			mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) {
				o.Receipts.Request()
				f(w, r)
			})
		}}.main
	}
	var last atomic.Value
	return []defect{
		{"none", faults{}.main, ""},
		{"null", func() { server.Main(server.Apps{serving.Null()}) }, ""},
		{"any method", faults{mux: func(mux *http.ServeMux, o server.Options) {
			mux.HandleFunc("/v1/id/", func(w http.ResponseWriter, r *http.Request) {
				o.Receipts.Request()
				answerID(w, path.Base(r.URL.Path))
			})
		}}.main, "POST /v1/id/7: status 200, want 405"},
		{"not decoded", endpoint(func(w http.ResponseWriter, r *http.Request) { answerID(w, path.Base(r.URL.EscapedPath())) }), `GET /v1/id/a%20b: 200 application/json "{\"id\":\"a%20b\"}\n"`},
		{"never reads", endpoint(func(w http.ResponseWriter, _ *http.Request) { answerID(w, "7") }), "GET /v1/id/0: 200"},
		{"no line end", endpoint(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":%q}`, r.PathValue("id"))
		}), `want 200 application/json "{\"id\":\"7\"}\n"`},
		{"no type", endpoint(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "{\"id\":%q}\n", r.PathValue("id")) }), "GET /v1/id/7: 200 text/plain"},
		{"mixes up", endpoint(func(w http.ResponseWriter, r *http.Request) {
			last.Store(r.PathValue("id"))
			time.Sleep(100 * time.Microsecond)
			answerID(w, last.Load().(string))
		}), "want 200 application/json"},
		{"closes", faults{handler: func(next http.Handler, _ server.Options) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close")
				next.ServeHTTP(w, r)
			})
		}}.main, "it closes the connection"},
		{"no receipts", faults{mux: func(mux *http.ServeMux, _ server.Options) {
			mux.HandleFunc("GET /v1/id/{id}", func(w http.ResponseWriter, r *http.Request) { answerID(w, r.PathValue("id")) })
		}}.main, "stats: 1 received, sent were 14"},
		{"half a log", faults{handler: func(next http.Handler, o server.Options) http.Handler {
			var n atomic.Int64
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				if o.Log != nil && n.Add(1)%2 == 0 {
					fmt.Fprintln(o.Log, r.URL)
				}
			})
		}}.main, "log to a file: 7 lines for 14 requests"},
		{"goes on", faults{server: func(s server.Server) server.Server { return deaf{s} }}.main, "the first server responds"},
		{"other app", func() { server.Main(server.Apps{server.Plain("other", faults{}.tiny)}) }, "does not serve the app tiny"},
		{"everywhere", func() {
			contender.Main(contender.Program{Kind: "server", Serve: func(string, wire.Workload) (contender.Served, error) {
				return contender.Served{Addr: "192.0.2.1:80"}, nil
			}})
		}, `addr "192.0.2.1:80"`},
		{"not alone", func() {
			contender.Main(contender.Program{Kind: "server", Serve: func(string, wire.Workload) (contender.Served, error) {
				return contender.Served{}, errors.New("not here either")
			}})
		}, "it does not print where it listens"},
		{"stays alone", func() {
			if os.Getenv(wire.EnvWire) != "" {
				faults{}.main()
			}
			if !slices.Contains(os.Args, "-addr") && os.Getenv(server.EnvAddr) == "" {
				fmt.Fprintln(os.Stderr, "no address")
				os.Exit(2)
			}
			signal.Ignore(syscall.SIGTERM)
			s, _ := faults{}.tiny(server.Options{Receipts: &server.Receipts{}})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				os.Exit(1)
			}
			fmt.Fprintf(os.Stderr, "listening at http://%s\n", l.Addr())
			_ = s.Serve(l)
		}, "after SIGTERM it is still there"},
	}
}

// TestSuiteFindsServerDefects: every defect of a server is found, for its own
// reason, and sound servers pass.
func TestSuiteFindsServerDefects(t *testing.T) {
	for _, d := range serverDefects() {
		if d.name == "stays alone" && runtime.GOOS == "windows" {
			continue // has no such signal
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			limit := 30 * time.Second
			if d.name == "stays alone" {
				limit = 2 * time.Second
			}
			s := conformance.Subject{Command: []string{os.Args[0], "server " + d.name}, Manifest: conformance.Manifest{ID: "x", Kind: "server"}, Limit: limit}
			s.Enough = d.isFound
			err := errors.Join(s.Test(listKinds(), t.TempDir())...)
			switch {
			case d.want == "" && err != nil:
				t.Errorf("a sound server: %v", err)
			case d.want != "" && err == nil:
				t.Error("the defect is not found")
			case d.want != "" && !d.isFound(err):
				t.Errorf("found %v; want %q", err, d.want)
			}
		})
	}
}

func TestServerTrapsMayAnswerWrong(t *testing.T) {
	for _, name := range []string{"any method", "never reads"} {
		s := conformance.Subject{Command: []string{os.Args[0], "server " + name}, Manifest: conformance.Manifest{ID: "x", Kind: "server", WrongOnPurpose: true}, Limit: 30 * time.Second}
		for _, err := range s.Test(listKinds(), t.TempDir()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
