// Command nethttp-prefix is ServeMux as a published benchmark used it: a route
// with a parameter is registered as the subtree before its first parameter, any
// method, and the handler never reads what the parameter is.
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	mux, known := http.NewServeMux(), map[string]bool{}
	for _, route := range spec.Routes {
		prefix, _, _ := strings.Cut(route.BracePath(), "{")
		if known[prefix] { // nothing distinguishes a second route below the same prefix
			continue
		}
		known[prefix] = true
		mux.HandleFunc(prefix, func(w http.ResponseWriter, _ *http.Request) {
			route.Reply(w, func(string) string { return "" })
		})
	}
	return spec.Wrap(mux), nil
}
