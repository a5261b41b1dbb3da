// Command bunrouter is uptrace/bunrouter, whose handlers return errors.
package main

import (
	"context"
	"net/http"

	"github.com/uptrace/bunrouter"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	r := bunrouter.New()
	group := &r.Group
	for _, layer := range spec.Layers {
		group = group.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		group.Handle(route.Method, route.ColonPath(), func(w http.ResponseWriter, q bunrouter.Request) error {
			route.Reply(w, q.Param)
			return nil
		})
	}
	return r, nil
}

func newMiddleware(layer router.Layer) bunrouter.MiddlewareFunc {
	return func(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
		return func(w http.ResponseWriter, q bunrouter.Request) (err error) {
			layer.HTTP(w, q.Request, func(w http.ResponseWriter) { err = next(w, q) })
			return err
		}
	}
}
