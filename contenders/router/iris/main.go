// Command iris is kataras/iris, without its logger.
package main

import (
	"context"
	"net/http"

	"github.com/kataras/iris/v12"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	app := iris.New()
	app.Logger().SetLevel("disable")
	for _, layer := range spec.Layers {
		app.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		app.Handle(route.Method, route.BracePathEnding("{"+route.Rest+":path}"), func(c iris.Context) { route.Reply(c, c.Params().Get) })
	}
	return app, app.Build()
}

func newMiddleware(layer router.Layer) iris.Handler {
	return func(c iris.Context) {
		layer.Around(router.Exchange{
			Method: c.Method(), Path: c.Path(),
			Get: c.GetHeader, Set: func(name, value string) { c.Header(name, value) },
			Next: c.Next, Status: c.GetStatusCode, Stop: c.StopWithStatus,
		})
	}
}
