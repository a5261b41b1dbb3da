package conformance

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/conformance"
)

const rpcLimit = 30 * time.Second

// TestMain makes the test binary the server of users with the defect that its first argument names.
func TestMain(m *testing.M) {
	for _, d := range rpcDefects() {
		if len(os.Args) > 1 && os.Args[1] == "rpc "+d.name {
			os.Args = append(os.Args[:1:1], os.Args[2:]...)
			d.main()
			os.Exit(0)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each of its processes sleeps a second under -race
	os.Exit(m.Run())
}

// suites has that of users under another name too.
func suites() map[string]conformance.Kind {
	return map[string]conformance.Kind{rpc.Kind: Suite(), server.Kind: Suite()}
}

// deaf is a server that does not shut down.
type deaf struct{ server.Server }

func (deaf) Shutdown(context.Context) error { return nil }

// rpcDefect is a server of users that does one thing wrong, where that is found,
// and what the suite says.
type rpcDefect struct {
	name, protocol, check string
	main                  func()
	want                  string
}

// liar is a client that changes what it is told.
type liar struct {
	rpc.Client
	get    func(u users.User, err error) (users.User, error)
	create func(c rpc.Client, d users.Draft) (users.User, error)
}

func (l liar) Get(ctx context.Context, id int64) (users.User, error) {
	if l.get == nil {
		return l.Client.Get(ctx, id)
	}
	return l.get(l.Client.Get(ctx, id))
}

func (l liar) Create(ctx context.Context, d users.Draft) (users.User, error) {
	if l.create == nil {
		return l.Client.Create(ctx, d)
	}
	return l.create(l.Client, d)
}

func rpcDefects() []rpcDefect {
	lies := func(get func(u users.User, err error) (users.User, error)) func() {
		return slips{client: func(c rpc.Client) rpc.Client { return liar{Client: c, get: get} }}.main
	}
	around := func(f func(next http.Handler, w http.ResponseWriter, r *http.Request)) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(next, w, r) })
		}
	}
	return []rpcDefect{
		{"none", "", "", slips{}.main, ""},

		{"rounds", rpc.HTTP, "calls", slips{user: func(u users.User) users.User {
			u.CreatedAt = u.CreatedAt.Truncate(time.Hour)
			return u
		}}.main, "created"},
		{"upper case", rpc.GRPC, "calls", slips{user: func(u users.User) users.User { u.Name = strings.ToUpper(u.Name); return u }}.main, `"ADA LOVELACE"`},
		{"own words", rpc.ConnectJSON, "calls", slips{refuse: func(e *users.Error) *users.Error { return &users.Error{Code: e.Code, Message: "no"} }}.main, `refused with "invalid_argument: no", want "invalid_argument: name: 3 to 100`},
		{"other code", rpc.Connect, "calls", slips{refuse: func(e *users.Error) *users.Error {
			if e.Code == users.NotFound {
				e = &users.Error{Code: users.Internal, Message: e.Message}
			}
			return e
		}}.main, `refused with "internal`},
		{"takes all", rpc.HTTP, "calls", slips{refuse: func(*users.Error) *users.Error { return nil }}.main, "answered, want a refusal"},
		{"asks twice", rpc.GRPC, "calls", slips{call: func(s *users.Service, c rpc.Call) {
			if c.Op == rpc.OpGet {
				_, _ = s.Get(context.Background(), c.ID)
			}
		}}.main, "stats: calls"},
		{"created is 200", rpc.HTTP, "calls", slips{created: 200}.main, "status 200, want 201"},
		{"unknown status", rpc.GRPC, "calls", slips{status: func(code int) string {
			if code == 5 {
				return "2"
			}
			return "0"
		}}.main, `no gRPC message`},
		{"no trailers", rpc.GRPC, "calls", slips{status: func(int) string { return "" }}.main, `grpc-status ""`},
		{"shy", rpc.Connect, "calls", slips{options: func(o *server.Options) { o.Receipts = &server.Receipts{} }}.main, "0 received"},
		{"bare", rpc.HTTP, "calls", slips{layers: func(next http.Handler, _ server.Options) http.Handler { return next }}.main, "0 layer_calls"},
		{"counts heads", rpc.HTTP, "calls", slips{layers: func(next http.Handler, o server.Options) http.Handler {
			return around(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				o.Receipts.Layer()
				o.Receipts.Layer()
				o.Receipts.Body(1)
				next.ServeHTTP(w, r)
			})(next)
		}}.main, "received_bytes"},

		{"several win", rpc.GRPC, "at once", slips{refuse: func(e *users.Error) *users.Error {
			if e.Code == users.AlreadyExists {
				return nil
			}
			return e
		}}.main, "of 200 creators of one e-mail at once 200 won"},
		{"hides failures", rpc.HTTP, "failures", slips{refuse: func(e *users.Error) *users.Error {
			if e.Code == users.Unavailable {
				return nil
			}
			return e
		}}.main, "0 of 30 did"},
		{"no limit", rpc.HTTP, "limit", slips{layers: func(next http.Handler, _ server.Options) http.Handler { return next }}.main, "0 of 20 were rejected"},
		{"no id", rpc.GRPC, "request id", slips{layers: func(next http.Handler, _ server.Options) http.Handler { return next }}.main, `x-request-id is ""`},
		{"any id", rpc.HTTP, "request id", slips{layers: func(next http.Handler, _ server.Options) http.Handler {
			return around(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Request-Id", r.Header.Get("X-Request-Id")+"x")
				next.ServeHTTP(w, r)
			})(next)
		}}.main, "x-request-id is"},
		{"ill", rpc.Connect, "health", slips{handler: around(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, r)
		})}.main, "health: status 204"},
		{"holds all", rpc.HTTP, "paths", slips{body: 1 << 30}.main, "status 400, want 413"},
		{"own 404", rpc.HTTP, "paths", slips{handler: around(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/nothing" {
				http.NotFound(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})}.main, "not an error response"},
		{"half a log", rpc.HTTP, "log", slips{logs: func(next http.Handler) http.Handler { return next }}.main, "log to a file: 0 lines"},
		{"abrupt", rpc.HTTP, "end", slips{server: func(s server.Server) server.Server { return abrupt{s} }}.main, "a request in flight"},
		{"abrupt streams", rpc.GRPC, "end", slips{server: func(s server.Server) server.Server { return abrupt{s} }}.main, "a request in flight"},
		{"goes on", rpc.HTTP, "again", slips{server: func(s server.Server) server.Server { return deaf{s} }}.main, "a server still answers"},

		{"no client", rpc.HTTP, "client", func() {
			f := slips{}.face()
			f.Dial = nil
			rpc.Main(f)
		}, "calls are unsupported"},
		{"client lies", rpc.Connect, "client", lies(func(u users.User, err error) (users.User, error) { u.ID++; return u, err }), "its client: call 1"},
		{"client comforts", rpc.GRPC, "client", lies(func(u users.User, err error) (users.User, error) { return u, nil }), "answered, want a refusal"},
		{"client despairs", rpc.GRPC, "client", lies(func(u users.User, err error) (users.User, error) {
			if err != nil {
				err = errors.New("something went wrong")
			}
			return u, err
		}), "something went wrong"},
		{"client insists", rpc.HTTP, "client", slips{client: func(c rpc.Client) rpc.Client {
			return liar{Client: c, create: func(c rpc.Client, d users.Draft) (users.User, error) {
				u, err := c.Create(context.Background(), d)
				if err != nil {
					_, err = c.Create(context.Background(), d)
				}
				return u, err
			}}
		}}.main, "its client: stats: "},
		{"client forgets", rpc.HTTP, "client at work", lies(func(u users.User, err error) (users.User, error) { return u, nil }), "want an error response with status 404"},
		{"client wears out", rpc.ConnectJSON, "client at work", func() {
			var n atomic.Int64
			lies(func(u users.User, err error) (users.User, error) {
				if n.Add(1) > 10 {
					err = errors.New("worn out")
				}
				return u, err
			})()
		}, "worn out"},
	}
}

// TestSuiteFindsRPCDefects: every defect of a server of users is found by the check
// that looks for it, and for its own reason; a sound one passes all of them.
func TestSuiteFindsRPCDefects(t *testing.T) {
	for _, d := range rpcDefects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := conformance.Subject{Command: []string{os.Args[0], "rpc " + d.name}, Manifest: conformance.Manifest{ID: "x", Kind: "rpc", Protocols: []string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}}, Limit: rpcLimit}
			if d.check == "" {
				for _, err := range s.Test(suites(), t.TempDir()) {
					t.Errorf("a sound server: %v", err)
				}
				return
			}
			s.Enough = func(wrong error) bool { return strings.Contains(wrong.Error(), d.want) }
			err := checkOne(s, d, t.TempDir())
			switch {
			case err == nil:
				t.Error("the defect is not found")
			case !s.Enough(err):
				t.Errorf("found %.3000v; want %q", err, d.want)
			}
		})
	}
}

// checkOne is the one check of a protocol that a defect is found by.
func checkOne(s conformance.Subject, d rpcDefect, dir string) error {
	for _, c := range listChecks(true) {
		if c.name == d.check {
			a := conformance.App{Name: users.Name, Layers: 2}
			return s.RunSession(conformance.Session{}, func(p *conformance.Process, _ wire.Reply) error {
				return c.ask(protocolTest{conformance.Env{Subject: s, App: a, Process: p, Dir: dir}, d.protocol})
			})
		}
	}
	return nil
}

// TestRPCManifests: what contender.json must say.
func TestRPCManifests(t *testing.T) {
	for want, m := range map[string]conformance.Manifest{
		"names no protocols":                          {},
		`unknown protocol "soap"`:                     {Protocols: []string{"soap"}},
		"kind \"rpc\", contender.json has \"server\"": {Kind: "server"},
	} {
		m.ID = "x"
		if m.Kind == "" {
			m.Kind = "rpc"
		}
		s := conformance.Subject{Command: []string{os.Args[0], "rpc none"}, Manifest: m, Limit: rpcLimit}
		if err := errors.Join(s.Test(suites(), t.TempDir())...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
