// Command nethttp is the standard library's ServeMux with its patterns, the
// baseline of every study of routers.
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
	for _, route := range spec.Routes {
		path := route.BracePath()
		if strings.HasSuffix(path, "/") {
			path += "{$}" // otherwise the pattern would also match all longer paths
		}
		mux.HandleFunc(route.Method+" "+path, func(w http.ResponseWriter, r *http.Request) {
			route.Reply(w, r.PathValue)
		})
	}
	return spec.Wrap(mux), nil
}
