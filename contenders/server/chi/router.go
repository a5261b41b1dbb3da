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
		lines := middleware.RequestLogger(&middleware.DefaultLogFormatter{Logger: log.New(o.Log, "", log.LstdFlags)})
		r.Use(countCalls(o.Receipts, lines))
	}
	return r
}

// countCalls returns layer with a count of its calls.
func countCalls(r *server.Receipts, layer func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		inner := layer(next)
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r.Layer()
			inner.ServeHTTP(w, q)
		})
	}
}
