package main

import (
	"log/slog"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/tarebench/tare/contender/server"
)

// newEcho returns an Echo with the access log of the options.
func newEcho(o server.Options) *echo.Echo {
	e := plainEcho()
	addLog(e, o)
	return e
}

// plainEcho returns an Echo without middleware.
func plainEcho() *echo.Echo {
	return echo.NewWithConfig(echo.Config{Router: echo.NewRouter(echo.RouterConfig{
		OptionsMethodHandler: notAllowed, // status 405 instead of 204
	})})
}

// notAllowed treats OPTIONS like other methods that a path does not support.
func notAllowed(c *echo.Context) error {
	if allowed, ok := c.Get(echo.ContextKeyHeaderAllow).(string); ok {
		c.Response().Header().Set(echo.HeaderAllow, allowed)
	}
	return echo.ErrMethodNotAllowed
}

func addLog(e *echo.Echo, o server.Options) {
	if o.Log != nil {
		e.Logger = slog.New(slog.NewJSONHandler(o.Log, nil))
		e.Use(countCalls(o.Receipts, middleware.RequestLogger()))
	}
}

// countCalls returns a middleware that calls layer and counts the calls.
func countCalls(r *server.Receipts, layer echo.MiddlewareFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		inner := layer(next)
		return func(c *echo.Context) error {
			r.Layer()
			return inner(c)
		}
	}
}
