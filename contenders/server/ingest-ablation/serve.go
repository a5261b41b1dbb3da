package main

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contender/server"
)

// Content types of answers.
const (
	jsonType    = "application/json"
	textType    = "text/plain; charset=utf-8"
	metricsType = "text/plain; version=0.0.4"
)

// service is the app at one level.
type service struct {
	*ingest.Service
	receipts *server.Receipts
	level    level
}

func ingested(o server.Options, taken *ingest.Service) (server.Server, error) {
	l, err := levelOf(o.Variant)
	if err != nil {
		return nil, err
	}
	s := &service{Service: taken, receipts: o.Receipts, level: l}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", s.batch)
	mux.HandleFunc("/{$}", s.wrongMethod("POST"))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.refuse(w, ingest.NotFound()) })
	s.page(mux, "/health", textType, func() []byte { return []byte("ok\n") })
	s.page(mux, "/metrics", metricsType, s.Metrics)
	s.page(mux, "/openapi.json", jsonType, ingest.OpenAPI)
	return server.HTTPBodies(server.AccessLog(mux, o)), nil
}

func (s *service) page(mux *http.ServeMux, path, contentType string, text func() []byte) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		s.receipts.Request()
		respond(w, http.StatusOK, contentType, text())
	})
	mux.HandleFunc(path, s.wrongMethod("GET, HEAD"))
}

func (s *service) wrongMethod(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		s.refuse(w, ingest.NotAllowed())
	}
}

// batch answers a batch, at every level in the same way.
func (s *service) batch(w http.ResponseWriter, r *http.Request) {
	s.receipts.Request()
	receipt, err := s.take(r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	text, err := json.Marshal(receipt)
	if err != nil {
		s.refuse(w, err)
		return
	}
	respond(w, http.StatusOK, jsonType, text)
}

func (s *service) refuse(w http.ResponseWriter, err error) {
	refusal := s.RefusalOf(err)
	switch refusal.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	text, _ := json.Marshal(refusal) // two strings always can be
	respond(w, refusal.Status, jsonType, text)
}

func respond(w http.ResponseWriter, status int, contentType string, text []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client has gone
}
