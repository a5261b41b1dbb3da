// Command chi is go-chi/chi, which uses the handlers and middleware of net/http.
package main

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.MainParts(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	r := chi.NewRouter()
	for _, layer := range spec.Layers {
		r.Use(layer.Handler)
	}
	for _, route := range spec.Routes {
		route.CallRest("*") // the name of every catch-all
		r.MethodFunc(route.Method, route.BracePathEnding("*"), func(w http.ResponseWriter, q *http.Request) {
			route.Reply(w, func(name string) string { return chi.URLParam(q, name) })
		})
	}
	return r, nil
}
