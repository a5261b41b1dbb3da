// Command echo is labstack/echo, which pools contexts and whose handlers return errors. A parameter at the
// end of a route matches the rest of the path with its slashes. A study expects one segment, so the handler
// checks the value.
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec.
func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	e := echo.New()
	for _, layer := range spec.Layers {
		e.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		route.CallRest("*") // the name of every catch-all
		e.Add(route.Method, route.ColonPathEnding("*"), newHandler(route))
	}
	return e, nil
}

func newHandler(route router.Route) echo.HandlerFunc {
	last := "" // parameter at the end of the route, or ""
	if n := len(route.Segments); n > 0 && route.Segments[n-1].Param && route.Rest == "" {
		last = route.Segments[n-1].Text
	}
	return func(c *echo.Context) error {
		if last != "" && strings.Contains(c.Param(last), "/") { // more than one segment
			return echo.ErrNotFound
		}
		route.Reply(c.Response(), c.Param)
		return nil
	}
}

func newMiddleware(layer router.Layer) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) (err error) {
			layer.Around(router.Exchange{
				Method: c.Request().Method, Path: c.Request().URL.Path,
				Get: c.Request().Header.Get, Set: c.Response().Header().Set,
				Next:   func() { err = next(c) },
				Status: func() int { return statusCode(c) },
				Stop:   func(code int) { err = c.NoContent(code) },
			})
			return err
		}
	}
}

// statusCode returns the status of the response, or 0 if unknown.
func statusCode(c *echo.Context) int {
	if r, err := echo.UnwrapResponse(c.Response()); err == nil {
		return r.Status
	}
	return 0
}
