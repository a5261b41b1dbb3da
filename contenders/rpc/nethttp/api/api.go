// Package api serves app users, an API that stores users, over HTTP with the standard
// library.
package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// New returns the transport of this contender: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.HTTP}, Dial: rpc.HTTPClient, Store: newOpener()}
}

// newServer returns the server. Unknown paths and methods get the errors of the service.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	f := &usersServer{users: u, receipts: o.Receipts}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/users/{id}", f.newHandler(http.StatusOK, f.getUser))
	mux.HandleFunc("PUT /v1/users/{id}", f.newHandler(http.StatusOK, f.updateUser))
	mux.HandleFunc("DELETE /v1/users/{id}", f.newHandler(http.StatusOK, f.removeUser))
	mux.HandleFunc("/v1/users/{id}", notAllowed("GET, HEAD, PUT, DELETE"))
	mux.HandleFunc("POST /v1/users", f.newHandler(http.StatusCreated, f.createUser))
	mux.HandleFunc("GET /v1/users", f.newHandler(http.StatusOK, f.listUsers))
	mux.HandleFunc("/v1/users", notAllowed("GET, HEAD, POST"))
	mux.HandleFunc("GET /health", f.serveHealth)
	mux.HandleFunc("/health", notAllowed("GET, HEAD"))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeError(w, users.NoPath()) })
	return server.HTTP2(f.addLayers(mux, o)), nil
}

type usersServer struct {
	users    *users.Service
	receipts *server.Receipts // counts requests, bytes of bodies and calls of middleware
}

func (f *usersServer) createUser(w http.ResponseWriter, r *http.Request) (any, error) {
	d, err := f.readDraft(w, r)
	if err != nil {
		return nil, err
	}
	return f.users.Create(r.Context(), d)
}

func (f *usersServer) getUser(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := users.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return f.users.Get(r.Context(), id)
}

func (f *usersServer) updateUser(w http.ResponseWriter, r *http.Request) (any, error) {
	d, err := f.readDraft(w, r)
	if err != nil {
		return nil, err
	}
	id, err := users.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return f.users.Update(r.Context(), id, d)
}

func (f *usersServer) removeUser(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := users.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return struct{}{}, f.users.Delete(r.Context(), id)
}

func (f *usersServer) listUsers(_ http.ResponseWriter, r *http.Request) (any, error) {
	values := r.URL.Query()
	q, err := users.ParseQuery(values.Get("query"), values.Get("page"), values.Get("limit"))
	if err != nil {
		return nil, err
	}
	return f.users.List(r.Context(), q)
}

func (f *usersServer) serveHealth(w http.ResponseWriter, _ *http.Request) {
	f.receipts.Request()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // fails if the client has disconnected
}

// readDraft decodes the name and email of a user from the body, and counts its bytes.
func (f *usersServer) readDraft(w http.ResponseWriter, r *http.Request) (d users.Draft, err error) {
	counted := &countedBody{ReadCloser: http.MaxBytesReader(w, r.Body, users.MaxBody)}
	body, err := io.ReadAll(counted)
	f.receipts.Body(counted.n)
	if err == nil {
		err = json.Unmarshal(body, &d)
	}
	if err != nil {
		return d, users.Malformed(err)
	}
	return d, nil
}

// countedBody counts the bytes of a body. readDraft could use the length of the body, but other transports
// cannot. Counting must cost the same everywhere.
type countedBody struct {
	io.ReadCloser
	n int64
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

// newHandler returns a handler that responds with the result of call as JSON.
func (f *usersServer) newHandler(status int, call func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.receipts.Request()
		v, err := call(w, r)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, status, v)
	}
}

// notAllowed returns a handler for the other methods of a path. allow is the header Allow.
func notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		writeError(w, users.NotAllowed())
	}
}

func writeError(w http.ResponseWriter, err error) {
	e := users.RefusalOf(err)
	writeJSON(w, e.HTTP(), e)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only for a time with a year of five digits
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the client has disconnected
}
