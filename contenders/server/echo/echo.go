package main

import (
	"log/slog"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/tarebench/tare/contender/server"
)

// newEcho is an echo with the access log that is asked for.
func newEcho(o server.Options) *echo.Echo {
	e := plainEcho()
	logged(e, o)
	return e
}

func plainEcho() *echo.Echo {
	return echo.NewWithConfig(echo.Config{Router: echo.NewRouter(echo.RouterConfig{
		OptionsMethodHandler: notAllowed, // 405 where it would be 204
	})})
}

// notAllowed is what echo answers to other methods that a path has not.
func notAllowed(c *echo.Context) error {
	if allowed, ok := c.Get(echo.ContextKeyHeaderAllow).(string); ok {
		c.Response().Header().Set(echo.HeaderAllow, allowed)
	}
	return echo.ErrMethodNotAllowed
}

func logged(e *echo.Echo, o server.Options) {
	if o.Log != nil {
		e.Logger = slog.New(slog.NewJSONHandler(o.Log, nil))
		e.Use(counted(o.Receipts, middleware.RequestLogger()))
	}
}

// counted is layer, with its calls counted.
func counted(r *server.Receipts, layer echo.MiddlewareFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		inner := layer(next)
		return func(c *echo.Context) error {
			r.Layer()
			return inner(c)
		}
	}
}
