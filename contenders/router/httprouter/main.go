// Command httprouter is julienschmidt/httprouter, with one radix tree per method and no middleware. It
// rejects tables with a literal and a parameter at the same position, e.g. /users/new and /users/{id}.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (h http.Handler, err error) {
	defer func() { // Handle panics if it does not support the table
		if v := recover(); v != nil {
			err = fmt.Errorf("%v: %w", v, contender.ErrUnsupported)
		}
	}()
	r := httprouter.New()
	for _, route := range spec.Routes {
		route.SlashedRest() // the value of a catch-all begins with a slash
		r.Handle(route.Method, route.ColonPath(), func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
			route.Reply(w, p.ByName)
		})
	}
	return spec.Wrap(r), nil
}
