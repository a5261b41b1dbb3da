package main

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// Content types of responses.
const (
	jsonType    = "application/json"
	textType    = "text/plain; charset=utf-8"
	metricsType = "text/plain; version=0.0.4"
)

// service serves app ingest, which receives batches of events, up to a level.
type service struct {
	*ingest.Service                  // the logic of the app
	receipts        *server.Receipts // counts requests and bytes; tare compares them with what it sent
	level           level            // last step with a batch
}

func serveIngest(o server.Options, app *ingest.Service) (server.Server, error) {
	l, err := parseLevel(o.Variant)
	if err != nil {
		return nil, err
	}
	s := &service{Service: app, receipts: o.Receipts, level: l}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", s.serveBatch)
	mux.HandleFunc("/{$}", s.notAllowed("POST"))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.writeError(w, ingest.NotFound()) })
	s.addPage(mux, "/health", textType, func() []byte { return []byte("ok\n") })
	s.addPage(mux, "/metrics", metricsType, s.Metrics)
	s.addPage(mux, "/openapi.json", jsonType, ingest.OpenAPI)
	return server.HTTPBodies(server.AccessLog(mux, o)), nil
}

func (s *service) addPage(mux *http.ServeMux, path, contentType string, text func() []byte) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		s.receipts.Request()
		writeResponse(w, http.StatusOK, contentType, text())
	})
	mux.HandleFunc(path, s.notAllowed("GET, HEAD"))
}

// notAllowed returns a handler for methods that a path does not support. allow is the header Allow.
func (s *service) notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		s.writeError(w, ingest.NotAllowed())
	}
}

// serveBatch answers a batch with the receipt. Below the last level the receipt is zero.
func (s *service) serveBatch(w http.ResponseWriter, r *http.Request) {
	s.receipts.Request()
	receipt, err := s.processBatch(r)
	if err != nil {
		s.writeError(w, err)
		return
	}
	text, err := json.Marshal(receipt)
	if err != nil {
		s.writeError(w, err)
		return
	}
	writeResponse(w, http.StatusOK, jsonType, text)
}

func (s *service) writeError(w http.ResponseWriter, err error) {
	refusal := s.RefusalOf(err)
	switch refusal.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	text, _ := json.Marshal(refusal) // marshaling strings cannot fail
	writeResponse(w, refusal.Status, jsonType, text)
}

func writeResponse(w http.ResponseWriter, status int, contentType string, text []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has disconnected
}
