// Command fiber is gofiber/fiber, which is based on fasthttp. It unescapes parameters only with the option
// UnescapePath. A catch-all such as /files/* also matches /files, so the handler checks for the slash.
package main

import (
	"context"
	"net"
	"strings"

	"github.com/gofiber/fiber/v3"

	"github.com/tarebench/tare/contender/router"
)

func main() { router.MainNativeParts(buildRouter) }

// buildRouter returns a router with the layers (the middleware) and the routes of spec. It does not serve
// requests of net/http.
func buildRouter(_ context.Context, spec router.Spec) (router.Native, error) {
	app := fiber.New(fiber.Config{UnescapePath: true})
	for _, layer := range spec.Layers {
		app.Use(newMiddleware(layer))
	}
	for _, route := range spec.Routes {
		route.CallRest("*") // the name of every catch-all
		app.Add([]string{route.Method}, route.ColonPathEnding("*"), func(c fiber.Ctx) error {
			isWithoutSlash := route.Rest != "" && c.Params("*") == "" && !strings.HasSuffix(c.Path(), "/")
			if isWithoutSlash {
				return fiber.ErrNotFound
			}
			route.Reply(c, func(name string) string { return c.Params(name) })
			return nil
		})
	}
	handler := app.Handler()
	return router.Native{
		Prepare: func(raw []byte) (router.Prepared, error) { return prepareRequest(handler, raw) },
		Listen: func(l net.Listener) (stop func(), err error) {
			done := make(chan error, 1)
			go func() { done <- app.Listener(l, fiber.ListenConfig{DisableStartupMessage: true}) }()
			return func() { _ = app.Shutdown(); <-done }, nil
		},
	}, nil
}

func newMiddleware(layer router.Layer) fiber.Handler {
	return func(c fiber.Ctx) (err error) {
		layer.Around(router.Exchange{
			Method: c.Method(), Path: c.Path(),
			Get: func(name string) string { return c.Get(name) }, Set: c.Set,
			Next:   func() { err = c.Next() },
			Status: c.Response().StatusCode,
			Stop:   func(status int) { err = c.SendStatus(status) },
		})
		return err
	}
}
