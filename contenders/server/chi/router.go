package main

import (
	"log"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/tarebench/tare/contender/server"
)

// newRouter returns a router with the access log of the options.
func newRouter(o server.Options) *chi.Mux {
	r := chi.NewRouter()
	if o.Log != nil {
		logger := middleware.RequestLogger(&middleware.DefaultLogFormatter{Logger: log.New(o.Log, "", log.LstdFlags)})
		r.Use(countCalls(o.Receipts, logger))
	}
	return r
}

// countCalls returns a middleware that calls layer and counts the calls.
func countCalls(r *server.Receipts, layer func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		inner := layer(next)
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r.Layer()
			inner.ServeHTTP(w, q)
		})
	}
}
