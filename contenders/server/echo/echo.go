package main

import (
	"log/slog"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/tarebench/tare/contender/server"
)

// newEcho is an echo with the access log that is asked for.
func newEcho(o server.Options) *echo.Echo {
	e := echo.NewWithConfig(echo.Config{Router: echo.NewRouter(echo.RouterConfig{
		OptionsMethodHandler: func(*echo.Context) error { return echo.ErrMethodNotAllowed }, // 405 where it would be 204
	})})
	if o.Log != nil {
		e.Logger = slog.New(slog.NewJSONHandler(o.Log, nil))
		e.Use(counted(o.Receipts, middleware.RequestLogger()))
	}
	return e
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
