// Command nethttp-prefix reproduces a mistake of a published benchmark (a trap). There a route with a
// parameter was registered for all methods and for all paths with its prefix. The handler did not read the
// parameter.
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	mux := http.NewServeMux()
	isRegistered := map[string]bool{} // by prefix
	for _, route := range spec.Routes {
		prefix, _, _ := strings.Cut(route.BracePath(), "{")
		if isRegistered[prefix] { // a second route with the same prefix cannot be distinguished
			continue
		}
		isRegistered[prefix] = true
		mux.HandleFunc(prefix, func(w http.ResponseWriter, _ *http.Request) {
			route.Reply(w, func(string) string { return "" })
		})
	}
	return spec.Wrap(mux), nil
}
