package rpc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// httpFace is a face on net/http.
func httpFace() Face {
	return Face{Protocols: []string{HTTP}, Dial: HTTPClient, Serve: func(o server.Options, s *users.Service) (server.Server, error) {
		mux := http.NewServeMux()
		answer := func(w http.ResponseWriter, status int, v any, err error) {
			if err != nil {
				r := users.RefusalOf(err)
				status, v = r.HTTP(), r
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v)
		}
		handle := func(pattern string, status int, f func(r *http.Request, id int64, d users.Draft) (any, error)) {
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				o.Receipts.Request()
				var d users.Draft
				body, err := io.ReadAll(r.Body)
				o.Receipts.Body(int64(len(body)))
				if err == nil && len(body) > 0 {
					err = json.Unmarshal(body, &d)
				}
				var id int64
				if text := r.PathValue("id"); err == nil && text != "" {
					id, err = users.ParseID(text)
				}
				if err != nil {
					answer(w, 0, nil, users.Malformed(err))
					return
				}
				v, err := f(r, id, d)
				answer(w, status, v, err)
			})
		}
		handle("POST /v1/users", 201, func(r *http.Request, _ int64, d users.Draft) (any, error) { return s.Create(r.Context(), d) })
		handle("GET /v1/users/{id}", 200, func(r *http.Request, id int64, _ users.Draft) (any, error) { return s.Get(r.Context(), id) })
		handle("PUT /v1/users/{id}", 200, func(r *http.Request, id int64, d users.Draft) (any, error) { return s.Update(r.Context(), id, d) })
		handle("DELETE /v1/users/{id}", 200, func(r *http.Request, id int64, _ users.Draft) (any, error) {
			return struct{}{}, s.Delete(r.Context(), id)
		})
		handle("GET /v1/users", 200, func(r *http.Request, _ int64, _ users.Draft) (any, error) {
			v := r.URL.Query()
			q, err := users.ParseQuery(v.Get("query"), v.Get("page"), v.Get("limit"))
			if err != nil {
				return nil, err
			}
			return s.List(r.Context(), q)
		})
		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
		mux.HandleFunc("GET /variant", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, o.Variant) })
		return server.HTTP2(mux), nil
	}}
}

// lab talks with a program.
type lab struct {
	t    *testing.T
	ask  *wire.Writer
	hear *wire.Reader
}

func visit(t *testing.T, p contender.Program, variant string) *lab {
	t.Helper()
	requests, ask := io.Pipe()
	hear, replies := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- contender.Serve(p, requests, replies) }()
	t.Cleanup(func() {
		ask.Close()
		if err := <-done; err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	l := &lab{t, wire.NewWriter(ask), wire.NewReader(hear)}
	if a := l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Variant: variant}); a.Error != nil || a.Kind != Kind {
		t.Fatalf("%+v", a)
	}
	return l
}

func (l *lab) do(q wire.Request) wire.Reply {
	l.t.Helper()
	if err := l.ask.Request(q); err != nil {
		l.t.Fatal(err)
	}
	a, err := l.hear.Reply()
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l *lab) ok(q wire.Request) wire.Reply {
	l.t.Helper()
	a := l.do(q)
	if a.Error != nil {
		l.t.Fatalf("%s: %v", q.Op, a.Error)
	}
	return a
}

// serves has the program serve n users and returns where.
func (l *lab) serves(set map[string]string) string {
	l.t.Helper()
	a := l.ok(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "s", Set: set, Spec: json.RawMessage(`{"app":"users"}`)}})
	return a.Addr
}

// calls is a workload of a client.
func calls(t testing.TB, set map[string]string, list ...Call) *wire.Workload {
	t.Helper()
	var lines [][]byte
	for _, c := range list {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	file := fixture.File(lines)
	sum := sha256.Sum256(file)
	path := filepath.Join(t.TempDir(), "pool.ndjson")
	if err := errors.Join(os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	return &wire.Workload{ID: "c", Op: "some", Input: path, Bodies: bytes.Count(file, []byte("\n")), SHA256: hex.EncodeToString(sum[:]), Set: set}
}
