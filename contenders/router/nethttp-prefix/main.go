// Command nethttp-prefix is ServeMux as a published benchmark used it: a route with a
// parameter is registered for all paths with the prefix before its first parameter and
// for all methods, and the handler does not read the parameter.
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers and the routes of spec.
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
