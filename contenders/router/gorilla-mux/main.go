// Command gorilla-mux is gorilla/mux, which tries a list of regular expressions and
// uses the first that matches.
package main

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.MainParts(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	r := mux.NewRouter()
	for _, layer := range spec.Layers {
		r.Use(layer.Handler)
	}
	for _, route := range spec.Routes {
		r.HandleFunc(route.BracePathEnding("{"+route.Rest+":.*}"), func(w http.ResponseWriter, q *http.Request) {
			vars := mux.Vars(q)
			route.Reply(w, func(name string) string { return vars[name] })
		}).Methods(route.Method)
	}
	return r, nil
}
