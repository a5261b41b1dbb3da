// Command echo is labstack/echo, whose contexts are pooled and whose handlers
// return errors. A parameter at the end of a route takes all that is left of the
// path, slashes and all: who means one segment has to look, and so it does here.
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.Main(buildRouter) }

func buildRouter(_ context.Context, spec router.Spec) (http.Handler, error) {
	e := echo.New()
	for _, layer := range spec.Layers {
		e.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		route.CallRest("*")
		e.Add(route.Method, route.ColonPathEnding("*"), newHandler(route))
	}
	return e, nil
}

func newHandler(route router.Route) echo.HandlerFunc {
	last := "" // parameter that the route ends in
	if n := len(route.Segments); n > 0 && route.Segments[n-1].Param && route.Rest == "" {
		last = route.Segments[n-1].Text
	}
	return func(c *echo.Context) error {
		if last != "" && strings.Contains(c.Param(last), "/") {
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

func statusCode(c *echo.Context) int {
	if r, err := echo.UnwrapResponse(c.Response()); err == nil {
		return r.Status
	}
	return 0
}
